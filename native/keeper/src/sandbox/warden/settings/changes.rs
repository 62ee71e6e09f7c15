//! What is done to settings.

use std::ffi::CString;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

use rustix::fs::{AtFlags, Dir, OFlags, openat, readlinkat, unlinkat};

use super::history::Mode;
use super::removed::{self, Removal};
use super::staged::LONGEST_HELD;
use super::{FoundSetting, Proposed, Shared, errno, locked};
use crate::sandbox::place;
use crate::sandbox::warden::caller::{Caller, open_process};
use crate::sandbox::warden::held::{HeldChange, HeldKind, id};
use crate::sandbox::watchers::change::{Change, LONGEST};

impl Shared {
    /// Puts a file or a link there, if the user's history has it (else EACCES). What does not go in, for
    /// whatever reason, is held back.
    pub fn propose(&self, proposed: &Proposed, is_new: bool) -> Result<(), i32> {
        let put = self.put_known(proposed, is_new);
        if put.is_err() {
            self.hold_proposed(proposed);
        }
        put
    }

    fn hold_proposed(&self, proposed: &Proposed) {
        let Proposed { path, mode, rights, content, cradle, .. } = *proposed;
        let kind = HeldKind::Unknown { is_link: mode == Mode::Link };
        self.hold(path, kind, (rights, content), cradle);
    }

    fn put_known(&self, proposed: &Proposed, is_new: bool) -> Result<(), i32> {
        let Proposed { path, tracked, mode, rights, content, .. } = *proposed;
        let repository = self.repository(proposed.repository)?;
        if content.len() > LONGEST || !repository.history().has(tracked, mode, content) {
            return Err(libc::EACCES);
        }
        match mode {
            Mode::Link => self.ask(path, &Change::Link { target: content.to_vec() }, None),
            _ => {
                let copy = super::copy_of(content).map_err(|error| errno(&error))?;
                // No other user may write to it, whatever the command says.
                self.ask(path, &Change::Put { mode: rights & 0o775, is_new }, Some(copy))
            }
        }
    }

    /// Holds a change back, and tells the host.
    pub fn hold(
        &self,
        path: &Path,
        kind: HeldKind,
        (mode, content): (u32, &[u8]),
        cradle: Option<i32>,
    ) {
        let before = present(path);
        let before = before.as_ref().map(|(status, (_, _, content))| (status, &**content));
        let change = HeldChange { path, kind, keys: &[], mode, content, before };
        match self.store.hold(&change) {
            Ok(id) => self.telling.tell_of(cradle, format!("held={id}")),
            Err(_) => self.tell_lost(cradle),
        }
    }

    /// Tells the host that a change is neither there nor held back: its id stands for nothing.
    pub fn tell_lost(&self, cradle: Option<i32>) {
        if let Ok(id) = id() {
            self.telling.tell_of(cradle, format!("held={id}"));
        }
    }

    /// Removes a file or a link. What the history does not know stays, since nothing could bring it back.
    /// None: nothing is there that could be removed.
    pub fn remove(&self, caller: &Caller, found: &FoundSetting) -> Option<Result<(), i32>> {
        let repository = self.repositories.get(found.repository)?;
        let mut open = locked(&self.open);
        if !found.is_there() {
            return open.staging.drop_at(&found.path).then_some(Ok(()));
        }
        let tracked = &*found.tracked;
        let there = read(&found.directory, &found.name).ok();
        // Nothing could bring back what is longer. It is a mount.
        let (mode, rights, content) = there.filter(|(.., content)| content.len() <= LONGEST)?;
        if !repository.history().knows(tracked) {
            let cradle = self.telling.cradle(caller.pid);
            self.hold(&found.path, HeldKind::Removal, (rights, &[]), cradle);
            return Some(Err(libc::EACCES));
        }
        let result = self.ask(&found.path, &Change::Remove, None);
        if result.is_ok() {
            let removal = Removal {
                repository: found.repository,
                tracked: tracked.to_owned(),
                mode,
                rights,
                content,
                cradle: self.telling.cradle(caller.pid),
                process: open_process(caller.pid, libc::O_EXCL)
                    .or_else(|_| open_process(caller.pid, 0))
                    .ok(),
                until: Instant::now() + removed::LONGEST,
            };
            open.removals.add(&found.path, removal);
        }
        drop(open);
        Some(result)
    }

    pub fn remove_directory(&self, found: &FoundSetting) -> Option<Result<(), i32>> {
        let repository = self.repositories.get(found.repository)?;
        if !found.is_there() || !repository.history().has_directory(&found.tracked) {
            return None;
        }
        if has_entries(&found.directory, &found.name).ok()? {
            return Some(Err(libc::ENOTEMPTY));
        }
        let below = locked(&self.open).removals.below(&found.path);
        // What is to be put back needs the directory.
        let are_allowed = below.iter().all(|name| self.lacks_after_all(name));
        let mut open = locked(&self.open);
        let is_same = open.removals.below(&found.path).iter().all(|name| below.contains(name));
        if !are_allowed || !is_same || open.staging.has(&found.path) {
            return Some(Err(libc::ENOTEMPTY));
        }
        let result = self.ask(&found.path, &Change::RemoveDirectory, None);
        if result.is_ok() {
            below.iter().for_each(|name| open.removals.forget(&name.path));
        }
        Some(result)
    }

    pub fn make_directory(
        &self,
        caller: &Caller,
        found: &FoundSetting,
        mode: u32,
    ) -> Result<(), i32> {
        if found.is_there() {
            return Err(libc::EEXIST);
        }
        if !self.repository(found.repository)?.history().has_directory(&found.tracked) {
            return Err(libc::EACCES);
        }
        let mode = mode & 0o777 & !caller.mask()?;
        self.ask(&found.path, &Change::Directory { mode }, None)
    }

    pub fn link(&self, caller: &Caller, found: &FoundSetting, target: &[u8]) -> Result<(), i32> {
        if found.is_there() {
            return Err(libc::EEXIST);
        }
        let cradle = self.telling.cradle(caller.pid);
        self.propose(&found.proposed(cradle, Mode::Link, 0o777, target), true)?;
        locked(&self.open).removals.forget(&found.path);
        Ok(())
    }

    /// Puts a file there that has been written elsewhere.
    pub fn rename(
        &self,
        caller: &Caller,
        from: Option<(OwnedFd, CString)>,
        to: &FoundSetting,
        flags: u32,
    ) -> Result<(), i32> {
        let (directory, name) = from.ok_or(libc::EACCES)?;
        if flags & !libc::RENAME_NOREPLACE != 0 {
            return Err(libc::EACCES);
        }
        let is_new = !to.is_there();
        if !is_new && flags & libc::RENAME_NOREPLACE != 0 {
            return Err(libc::EEXIST);
        }
        let cradle = self.telling.cradle(caller.pid);
        let found = caller.act(|| read(&directory, &name));
        if found == Err(libc::EFBIG) {
            self.tell_lost(cradle);
            return Err(libc::EACCES);
        }
        let (mode, rights, content) = found?;
        let mut open = locked(&self.open);
        let proposed = to.proposed(cradle, mode, rights, &content);
        if mode == Mode::Link && !is_new {
            self.hold_proposed(&proposed);
            return Err(libc::EACCES);
        }
        self.propose(&proposed, is_new)?;
        open.removals.forget(&to.path);
        let remove = || unlinkat(&directory, &*name, AtFlags::empty());
        caller.act(|| remove().map_err(|error| error.raw_os_error()))
    }
}

fn has_entries(directory: &OwnedFd, name: &CString) -> rustix::io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut entries = Dir::new(openat(directory, &**name, flags, rustix::fs::Mode::empty())?)?;
    let is_entry = |name: &[u8]| !matches!(name, b"." | b"..");
    Ok(entries.any(|entry| entry.is_ok_and(|it| is_entry(it.file_name().to_bytes()))))
}

/// What is at a path: its kind, its rights and its content.
type FoundContent = (Mode, u32, Vec<u8>);

/// Returns what is at a path, with its status, without following links.
pub fn present(path: &Path) -> Option<(libc::stat, FoundContent)> {
    let above = place::open(path.parent()?).ok()?;
    let name = CString::new(path.file_name()?.as_bytes()).ok()?;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(&above, &*name, flags, rustix::fs::Mode::empty()).ok()?;
    let found = read(&above, &name).ok()?;
    Some((place::status(&file).ok()?, found))
}

/// Reads a file or a link: its kind, its rights and its content. A file that is too long to be held back is
/// EFBIG.
fn read(directory: &OwnedFd, name: &CString) -> Result<FoundContent, i32> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(directory, &**name, flags, rustix::fs::Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::LOOP) => {
            let target = readlinkat(directory, &**name, Vec::new());
            let target = target.map_err(|error| error.raw_os_error())?;
            return Ok((Mode::Link, 0o777, target.into_bytes()));
        }
        Err(error) => return Err(error.raw_os_error()),
    };
    let metadata = file.metadata().map_err(|error| errno(&error))?;
    if !metadata.is_file() {
        return Err(libc::EACCES);
    }
    let mut content = Vec::new();
    let most = LONGEST_HELD as u64 + 1;
    (&file).take(most).read_to_end(&mut content).map_err(|error| errno(&error))?;
    if content.len() > LONGEST_HELD {
        return Err(libc::EFBIG);
    }
    let rights = metadata.mode() & 0o777;
    let mode = if rights & 0o100 == 0 { Mode::File } else { Mode::Program };
    Ok((mode, rights, content))
}
