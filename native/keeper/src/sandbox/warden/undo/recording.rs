//! What one call is about to change, written down before it is made. Calls that change something are made one
//! after the other, so that nothing changes between the look and the call.

use std::borrow::Cow;
use std::cell::{Cell, RefCell, RefMut};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard};

use forkline_journal::{CallRefused, Fate, Journal, NameAt};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, statat};

use super::commands::CommandKey;
use super::{Journals, Recorder};
use crate::sandbox::warden::caller::path_of;

/// The error for a call whose change can't be kept, where it is to be refused then.
const FULL: i32 = libc::ENOSPC;
/// The error for a call whose journal can't be begun.
const UNWRITTEN: i32 = libc::EIO;

/// A name in an open directory.
pub struct RecordedName<'a> {
    pub directory: &'a OwnedFd,
    /// The path at which it is seen. None: nothing can be made or removed by that name, or it is longer than
    /// paths can be.
    pub path: Option<Cow<'a, Path>>,
}

/// All journals, and whose is this call's.
type LockedJournals<'a> = (MutexGuard<'a, Journals>, CommandKey);

/// The record of one call.
pub struct Recording<'a> {
    recorder: Option<(&'a Arc<Recorder>, i32)>,
    journals: RefCell<Option<LockedJournals<'a>>>,
    /// Whether the journal was told of the call.
    is_announced: Cell<bool>,
    /// The directory that the call makes.
    made: Cell<Option<(OwnedFd, PathBuf)>>,
}

impl<'a> Recording<'a> {
    pub fn new(recorder: &'a Arc<Recorder>, pid: i32) -> Recording<'a> {
        let recorder = Some((recorder, pid));
        Recording { recorder, ..Recording::none() }
    }

    /// Where nothing is recorded.
    pub fn none() -> Recording<'a> {
        let (journals, made) = (RefCell::default(), Cell::default());
        Recording { recorder: None, journals, is_announced: Cell::new(false), made }
    }

    /// A file, which has this path, is about to get one more name.
    pub fn link(&self, file: &OwnedFd, path: &Path, to: &RecordedName) -> Result<(), i32> {
        self.with_name(to, |journal, to| journal.before_link(file.as_fd(), path, to))
    }

    /// A name is about to be made, replaced or removed.
    pub fn touch(&self, spot: &RecordedName, fate: Fate) -> Result<(), i32> {
        self.with_name(spot, |journal, at| journal.before_name(at, fate))
    }

    /// A directory is about to be made.
    pub fn make_directory(&self, spot: &RecordedName) -> Result<(), i32> {
        self.touch(spot, Fate::Made)?;
        let kept = spot.path.as_deref().zip(spot.directory.try_clone().ok());
        self.made.set(kept.map(|(path, directory)| (directory, path.to_owned())));
        Ok(())
    }

    /// A name is about to become another one.
    pub fn rename(&self, from: &RecordedName, to: &RecordedName, flags: u32) -> Result<(), i32> {
        let is_exchange = flags & libc::RENAME_EXCHANGE != 0;
        let Some(has) = self.places() else { return Ok(()) };
        match [from, to].map(|spot| spot.path.as_deref().is_some_and(&has)) {
            [true, true] => self.with_name(from, |journal, from| {
                to.path.as_deref().and_then(named).map_or(Ok(()), |(above, name)| {
                    let to = NameAt { directory: to.directory.as_fd(), name: &name, above };
                    journal.before_move(from, &to, is_exchange)
                })
            }),
            // From or to a place of the sandbox's own, which is another file system: the kernel refuses it.
            [is_from, _] => self.touch(if is_from { from } else { to }, Fate::Gone),
        }
    }

    /// A name is about to be opened with these flags.
    pub fn open(&self, spot: &RecordedName, flags: i32) -> Result<(), i32> {
        let Some(name) = self.recorded_name(spot) else { return Ok(()) };
        // From now on nobody gives the name to something else.
        drop(self.locked());
        let status = statat(spot.directory, &*name, AtFlags::SYMLINK_NOFOLLOW);
        match status.map(|it| FileType::from_raw_mode(it.st_mode)) {
            Ok(FileType::RegularFile) if is_written(flags) => {
                let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let file = openat(spot.directory, &*name, flags, Mode::empty());
                file.map_or(Ok(()), |file| self.write(&file))
            }
            Err(_) if flags & libc::O_CREAT != 0 => self.touch(spot, Fate::Made),
            // It may have to be waited for.
            _ => {
                drop(self.journals.take());
                Ok(())
            }
        }
    }

    /// A file was opened with these flags. If that was not announced as one that is written to, since something else
    /// had the name, it has come there meanwhile.
    pub fn opened(&self, file: &OwnedFd, flags: i32) -> Result<(), i32> {
        if self.journals.borrow().is_some() {
            return Ok(());
        }
        if flags & libc::O_TRUNC != 0 && is_regular(file) && self.is_recorded(file) {
            self.miss("a file came to a name while that was opened, and was emptied");
        }
        self.reopen(file, flags & !libc::O_TRUNC)
    }

    fn is_recorded(&self, file: &OwnedFd) -> bool {
        self.places().is_some_and(|has| path_of(file).is_ok_and(|path| has(&path)))
    }

    /// An open file is about to be opened once more with these flags.
    pub fn reopen(&self, file: &OwnedFd, flags: i32) -> Result<(), i32> {
        if self.recorder.is_none() || !is_written(flags) {
            return Ok(());
        }
        if is_regular(file) { self.write(file) } else { Ok(()) }
    }

    fn write(&self, file: &OwnedFd) -> Result<(), i32> {
        self.with_file(file, true, |journal, path| journal.before_content(file.as_fd(), path))
    }

    /// The attributes of a file are about to change.
    pub fn change(&self, file: &OwnedFd) -> Result<(), i32> {
        self.with_file(file, false, |journal, path| journal.before_attributes(file.as_fd(), path))
    }

    /// The attributes of what has a name are about to change.
    pub fn change_named(&self, spot: &RecordedName) -> Result<(), i32> {
        let Some(name) = self.recorded_name(spot) else { return Ok(()) };
        drop(self.locked());
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(spot.directory, &*name, flags, Mode::empty());
        file.map_or(Ok(()), |file| self.change(&file))
    }

    /// Something changes that is not seen.
    pub fn miss(&self, why: &str) {
        let _ = self.with(|journal| {
            journal.incomplete(why);
            Ok(())
        });
    }

    /// A program of a command changes something that is not seen.
    pub fn miss_program(&self, why: &str) {
        if let Some((recorder, pid)) = self.recorder
            && !recorder.callers.is_beginning(pid)
        {
            self.miss(why);
        }
    }

    /// The call was made.
    pub fn end(self, result: Result<(), i32>) {
        let Some((mut journals, key)) = self.journals.take() else { return };
        let journal = journals.open.get_mut(&key).filter(|_| self.is_announced.get());
        let Some(journal) = journal else { return };
        if result.is_err() {
            journal.not_done();
        } else if let Some((directory, path)) = self.made.take()
            && let Some((above, name)) = named(&path)
        {
            journal.made_directory(&NameAt { directory: directory.as_fd(), name: &name, above });
        }
    }

    /// Returns what tells whether changes at a path are recorded. None: nothing is.
    fn places(&self) -> Option<impl Fn(&Path) -> bool> {
        let (recorder, _) = self.recorder?;
        Some(|path: &Path| recorder.places.has(path))
    }

    /// Returns the name of a place where changes are recorded.
    fn recorded_name(&self, spot: &RecordedName) -> Option<CString> {
        let has = self.places()?;
        spot.path.as_deref().filter(|path| has(path)).and_then(named).map(|(_, name)| name)
    }

    fn with_name(
        &self,
        spot: &RecordedName,
        record: impl FnOnce(&mut Journal, &NameAt) -> Result<(), CallRefused>,
    ) -> Result<(), i32> {
        let Some(name) = self.recorded_name(spot) else { return Ok(()) };
        let Some((above, _)) = spot.path.as_deref().and_then(named) else { return Ok(()) };
        let at = NameAt { directory: spot.directory.as_fd(), name: &name, above };
        self.with(|journal| record(journal, &at))
    }

    /// `writes`: whether its content is about to change.
    fn with_file(
        &self,
        file: &OwnedFd,
        writes: bool,
        record: impl FnOnce(&mut Journal, &Path) -> Result<(), CallRefused>,
    ) -> Result<(), i32> {
        let Some(has) = self.places() else { return Ok(()) };
        if self.has_enough_of(file, writes) {
            return Ok(());
        }
        let path = path_of(file)?;
        if has(&path) { self.with(|journal| record(journal, &path)) } else { Ok(()) }
    }

    /// Returns whether the command's journal needs nothing more of a file, wherever that is.
    fn has_enough_of(&self, file: &OwnedFd, writes: bool) -> bool {
        let Some(mut locked) = self.locked() else { return true };
        let Some((journals, key)) = &mut *locked else { return true };
        journals.open.get_mut(key).is_some_and(|journal| !journal.needs(file.as_fd(), writes))
    }

    /// Returns all journals, which this call has for itself from now on. None: nothing is recorded.
    fn locked(&self) -> Option<RefMut<'_, Option<LockedJournals<'a>>>> {
        let (recorder, pid) = self.recorder?;
        let mut locked = self.journals.borrow_mut();
        locked.get_or_insert_with(|| {
            let journals = recorder.lock();
            let key = match recorder.callers.key_of(pid) {
                CommandKey::LeftBehind => journals.of_unknown((recorder.is_left)()),
                key => key,
            };
            (journals, key)
        });
        Some(locked)
    }

    fn with(
        &self,
        record: impl FnOnce(&mut Journal) -> Result<(), CallRefused>,
    ) -> Result<(), i32> {
        let Some((recorder, _)) = self.recorder else { return Ok(()) };
        let Some(mut locked) = self.locked() else { return Ok(()) };
        let Some((journals, key)) = &mut *locked else { return Ok(()) };
        let Some(journal) = recorder.journal_of(*key, journals).map_err(|error| errno(&error))?
        else {
            return Ok(());
        };
        self.is_announced.set(true);
        record(journal).map_err(|CallRefused| FULL)
    }
}

fn is_regular(file: &OwnedFd) -> bool {
    let kind = fstat(file).map(|it| FileType::from_raw_mode(it.st_mode));
    kind == Ok(FileType::RegularFile)
}

fn is_written(flags: i32) -> bool {
    flags & libc::O_ACCMODE != libc::O_RDONLY || flags & libc::O_TRUNC != 0
}

/// Splits a path at its last name.
pub(super) fn named(path: &Path) -> Option<(&Path, CString)> {
    let name = CString::new(path.file_name()?.as_bytes()).ok()?;
    Some((path.parent()?, name))
}

fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(UNWRITTEN)
}
