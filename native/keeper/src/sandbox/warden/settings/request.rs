//! Which calls concern settings.

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLockReadGuard};
use std::thread;

use rustix::fs::{AtFlags, statat};

use super::history::Mode;
use super::{FoundSetting, Proposed, Settings, Shared, errno, locked};
use crate::sandbox::notices::{Listener, Notice};
use crate::sandbox::warden::caller::{Caller, link_of, path_of};
use crate::sandbox::warden::deputy::MadeName;
use crate::sandbox::warden::gate::request::{Action, FileRequest, Named};
use crate::sandbox::warden::gate::{Judgement, split};
use crate::sandbox::warden::undo::Fate;
use crate::sandbox::warden::undo::recording::{RecordedName, Recording};
use crate::signals;

impl Settings {
    /// To be held until this process has closed a file that it gives to a caller: before that, the file is
    /// not seen to be closed.
    pub fn giving(&self) -> RwLockReadGuard<'_, ()> {
        self.shared.giving.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Settles what processes have begun and left. To be called before any call is answered.
    pub fn settle(&self) {
        self.shared.settle();
    }

    /// Returns the settings, whether they exist or not.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.shared.settings()
    }

    /// Settles all at the end of all processes.
    pub fn finish(&self) {
        self.shared.settle_all(true);
    }

    /// Judges a call. None: it concerns no setting, or the mounts decide.
    pub fn judge(
        &self,
        listener: &Listener,
        notice: &Notice,
        request: &FileRequest,
        recording: &Recording,
    ) -> Option<Judgement> {
        let pid = notice.pid as i32;
        if !request.names().any(|named| self.shared.may_concern(pid, named)) {
            return None;
        }
        let caller = Caller::of(pid).ok().filter(Caller::is_own)?;
        let found = self.shared.find(&caller, &request.what);
        let other = match &request.action {
            Action::Rename { to, .. } | Action::Link { to, .. } => self.shared.find(&caller, to),
            _ => None,
        };
        if found.is_none() && other.is_none() {
            return None;
        }
        if !listener.stands(notice) {
            return Some(Judgement::Return(Err(libc::EINTR)));
        }
        let done = |result| Some(Judgement::Return(result));
        let recorded = match (&found, &other, &request.action) {
            (Some(found), None, action) => recording.announce(&found.spot(), action),
            (_, Some(to), Action::Rename { .. }) => {
                // What it was is the other one's content, and gone.
                let from = MadeName::of(&caller, &request.what).ok();
                let from = from.map_or(Ok(()), |from| recording.touch(&from.spot(), Fate::Gone));
                from.and_then(|()| recording.touch(&to.spot(), Fate::Gone))
            }
            _ => Ok(()),
        };
        if let Err(errno) = recorded {
            return done(Err(errno));
        }
        match (found, &request.action) {
            (Some(found), Action::Open { flags, mode }) => {
                self.open(&caller, &found, *flags, *mode)
            }
            (Some(found), Action::Remove { flags }) if flags & libc::AT_REMOVEDIR != 0 => {
                self.shared.remove_directory(&found).map(Judgement::Return)
            }
            (Some(found), Action::Remove { .. }) => {
                let removed = self.shared.remove(&caller, &found);
                self.watch();
                removed.map(Judgement::Return)
            }
            (Some(found), Action::MakeDirectory { mode }) => {
                done(self.shared.make_directory(&caller, &found, *mode))
            }
            (Some(found), Action::Symlink { target }) => {
                done(self.shared.link(&caller, &found, target))
            }
            (None, Action::Rename { flags, .. }) => {
                let from = self.shared.name_of(&caller, &request.what);
                done(self.shared.rename(&caller, from, &other?, *flags))
            }
            (None, Action::Link { .. }) | (Some(_), Action::MakeNode { .. }) => {
                done(Err(libc::EACCES))
            }
            _ => None,
        }
    }

    /// Opens a file that is not there yet. What is there is a mount.
    fn open(
        &self,
        caller: &Caller,
        found: &FoundSetting,
        flags: i32,
        mode: u32,
    ) -> Option<Judgement> {
        let is_made = flags & libc::O_CREAT != 0;
        if !is_made || flags & (libc::O_PATH | libc::O_DIRECTORY) != 0 || found.is_there() {
            return None;
        }
        let made = || -> Result<OwnedFd, i32> {
            let mode = mode & !caller.mask()?;
            let cradle = self.shared.telling.cradle(caller.pid);
            let mut open = locked(&self.shared.open);
            if open.staging.has(&found.path) {
                return Err(libc::EEXIST);
            }
            let tracked = (found.repository, &*found.tracked);
            open.staging
                .make(&found.path, tracked, cradle, flags, mode)
                .map_err(|error| errno(&error))
        };
        let result = made();
        self.watch();
        Some(match result {
            Ok(file) => Judgement::File(file, flags),
            Err(errno) => Judgement::Return(Err(errno)),
        })
    }

    /// Settles what no call waits for, in a thread of its own.
    fn watch(&self) {
        let shared = Arc::clone(&self.shared);
        let mut open = locked(&self.shared.open);
        if open.is_watched {
            return;
        }
        let Ok(events) = open.staging.events().try_clone() else { return };
        let stack = thread::Builder::new().stack_size(256 * 1024);
        open.is_watched = stack
            .spawn(move || {
                loop {
                    let pause = shared.pause();
                    signals::wait([Some((events.as_fd(), libc::POLLIN))], pause);
                    shared.settle_all(false);
                }
            })
            .is_ok();
    }
}

impl Shared {
    fn settings(&self) -> impl Iterator<Item = &Path> {
        self.repositories.iter().flat_map(|one| one.settings.iter().map(|path| &**path))
    }

    /// Returns whether a call may concern a setting. A call that is passed over here meets a mount.
    fn may_concern(&self, pid: i32, Named { base, path }: &Named) -> bool {
        let settings = || self.settings();
        let has = |name: &OsStr| {
            let mut parts = path.split(|byte| *byte == b'/');
            parts.any(|part| part == name.as_bytes())
        };
        if settings().filter_map(|path| path.file_name()).any(has) || path.starts_with(b"/proc/") {
            return true;
        }
        if path.starts_with(b"/") {
            return false;
        }
        let Ok(start) = link_of(&base.link(pid)) else { return false };
        settings().any(|setting| start.starts_with(setting))
    }

    /// Finds a name that is a setting or below one.
    fn find(&self, caller: &Caller, named: &Named) -> Option<FoundSetting> {
        let (directory, name) = self.name_of(caller, named)?;
        let path = path_of(&directory).ok()?.join(OsStr::from_bytes(name.as_bytes()));
        let mut all = self.repositories.iter().enumerate();
        let (repository, top) = all.find_map(|(number, repository)| {
            let is_setting = repository.settings.iter().any(|setting| path.starts_with(setting));
            is_setting.then_some((number, &repository.top))
        })?;
        let tracked = path.strip_prefix(top).ok()?.to_owned();
        Some(FoundSetting { path, repository, tracked, directory, name })
    }

    /// Opens the directory of a name.
    fn name_of(&self, caller: &Caller, named: &Named) -> Option<(OwnedFd, CString)> {
        let (above, name) = split(&named.path)?;
        let place = caller.place_at(named.base, above).ok()?;
        let directory = caller.act(|| place.open_directory()).ok()?;
        Some((directory, CString::new(name).ok()?))
    }
}

impl FoundSetting {
    fn spot(&self) -> RecordedName<'_> {
        RecordedName { directory: &self.directory, path: Some((&*self.path).into()) }
    }

    pub fn is_there(&self) -> bool {
        statat(&self.directory, &*self.name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    pub fn proposed<'a>(
        &'a self,
        cradle: Option<i32>,
        mode: Mode,
        rights: u32,
        content: &'a [u8],
    ) -> Proposed<'a> {
        let FoundSetting { path, repository, tracked, .. } = self;
        Proposed { path, repository: *repository, tracked, cradle, mode, rights, content }
    }
}
