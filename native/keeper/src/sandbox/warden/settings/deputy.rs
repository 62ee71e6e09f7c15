//! Calls that make a name, made for a caller by the warden. A call that goes on by itself reads its path
//! again, which another thread may have replaced by that of a setting. A mount stops that where a setting is;
//! so this is done only in sandboxes where a setting has been removed.

use std::ffi::{CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::made_name::{MadeName, last_errno, opened};
use super::{Settings, Shared};
use crate::sandbox::calls::Naming;
use crate::sandbox::notices::{Listener, Notice};
use crate::sandbox::warden::caller::{Caller, path_of};
use crate::sandbox::warden::gate::request::{Action, FileRequest, Named};
use crate::sandbox::warden::gate::{Judgement, split};

impl Settings {
    /// Returns whether a setting has been removed.
    pub fn is_strict(&self) -> bool {
        self.shared.is_strict.load(Ordering::Acquire)
    }

    /// Makes a call that has passed all other judgement, if it makes a name.
    pub fn act_for(&self, listener: &Listener, notice: &Notice, naming: Naming) -> Judgement {
        let pid = notice.pid as i32;
        let failed = |errno| Judgement::Return(Err(errno));
        let Some(request) = FileRequest::read(&Caller::unknown(pid), notice, naming) else {
            return failed(libc::EFAULT);
        };
        if !request.makes_name() {
            return Judgement::Continue;
        }
        let caller = match Caller::of(pid) {
            Ok(caller) => caller,
            Err(errno) => return failed(errno),
        };
        if !listener.stands(notice) {
            return failed(libc::EINTR);
        }
        if let Action::Open { flags, mode } = request.action {
            let stands = || listener.stands(notice);
            return match self.shared.open_for(&caller, &request.what, flags, mode, &stands) {
                Ok(file) => Judgement::File(file, flags),
                Err(errno) => failed(errno),
            };
        }
        Judgement::Return(self.shared.change_for(&caller, &request))
    }
}

impl Shared {
    fn change_for(&self, caller: &Caller, request: &FileRequest) -> Result<(), i32> {
        let at = |named: &Named| self.place_for(caller, named, libc::EEXIST);
        match &request.action {
            Action::MakeDirectory { mode } => {
                let place = at(&request.what)?;
                let mode = mode & !caller.mask()?;
                let (at, name) = place.raw();
                // SAFETY: a name that ends with NUL, and numbers.
                caller.act(|| done(unsafe { libc::mkdirat(at, name.as_ptr(), mode) }.into()))
            }
            Action::Symlink { target } => {
                let target = CString::new(&**target).map_err(|_| libc::EINVAL)?;
                let place = at(&request.what)?;
                self.refuse_above(&place)?;
                let (at, name) = place.raw();
                // SAFETY: texts that end with NUL, and a number.
                let make = || unsafe { libc::symlinkat(target.as_ptr(), at, name.as_ptr()) };
                caller.act(|| done(make().into()))
            }
            Action::Rename { to, flags } => {
                let (from, to) = (
                    self.place_for(caller, &request.what, libc::EBUSY)?,
                    self.place_for(caller, to, libc::EBUSY)?,
                );
                self.refuse_above(&from)?;
                self.refuse_above(&to)?;
                let ((old, from), (new, to)) = (from.raw(), to.raw());
                if flags & libc::RENAME_WHITEOUT != 0 {
                    return Err(libc::EPERM);
                }
                let (from, to) = (from.as_ptr(), to.as_ptr());
                // SAFETY: names that end with NUL, and numbers.
                let make =
                    || unsafe { libc::syscall(libc::SYS_renameat2, old, from, new, to, *flags) };
                caller.act(|| done(make()))
            }
            Action::Link { to, flags } => self.link_for(caller, &request.what, to, *flags),
            Action::MakeNode { mode, device } => {
                let place = at(&request.what)?;
                self.refuse_above(&place)?;
                let mode = mode & !(caller.mask()? & 0o777);
                let (at, name) = place.raw();
                // SAFETY: a name that ends with NUL, and numbers.
                let make = || unsafe { libc::mknodat(at, name.as_ptr(), mode, *device) };
                caller.act(|| done(make().into()))
            }
            // Asked about only because they make a name.
            _ => Err(libc::EACCES),
        }
    }

    fn link_for(&self, caller: &Caller, from: &Named, to: &Named, flags: i32) -> Result<(), i32> {
        let to = self.place_for(caller, to, libc::EEXIST)?;
        self.refuse_above(&to)?;
        let (new, name) = to.raw();
        if flags & libc::AT_SYMLINK_FOLLOW != 0 {
            let file = caller.act(|| caller.place_at(from.base, &from.path)?.open())?;
            let path = opened(&file);
            let follow = libc::AT_SYMLINK_FOLLOW;
            // SAFETY: names that end with NUL, and numbers.
            let make = || unsafe {
                libc::linkat(libc::AT_FDCWD, path.as_ptr(), new, name.as_ptr(), follow)
            };
            return caller.act(|| done(make().into()));
        }
        let from = self.place_for(caller, from, libc::EPERM)?;
        let (old, source) = from.raw();
        // SAFETY: names that end with NUL, and numbers.
        let make = || unsafe { libc::linkat(old, source.as_ptr(), new, name.as_ptr(), 0) };
        caller.act(|| done(make().into()))
    }

    /// Finds the place of a name that is no setting. `whole`: the error for a path that ends in no name.
    pub fn place_for(&self, caller: &Caller, named: &Named, whole: i32) -> Result<MadeName, i32> {
        if named.path.is_empty() {
            return Err(libc::ENOENT);
        }
        let (above, name) = split(&named.path).ok_or(whole)?;
        let place = caller.place_at(named.base, above)?;
        let directory = caller.act(|| place.open_directory())?;
        self.checked(directory, name, named.path.ends_with(b"/"))
    }

    pub fn checked(
        &self,
        directory: OwnedFd,
        name: &[u8],
        is_directory: bool,
    ) -> Result<MadeName, i32> {
        let path = path_of(&directory)?.join(OsStr::from_bytes(name));
        if self.settings().any(|setting| path.starts_with(setting)) {
            return Err(libc::EACCES);
        }
        let name = CString::new(name).map_err(|_| libc::EINVAL)?;
        Ok(MadeName { directory, name, is_directory })
    }

    /// Refuses to move a directory that settings are in, or that they would be in, and to put anything in its
    /// place: the settings would be those of another directory.
    fn refuse_above(&self, place: &MadeName) -> Result<(), i32> {
        let path = path_of(&place.directory)?.join(OsStr::from_bytes(place.name.as_bytes()));
        let is_above = self.settings().any(|setting| setting.starts_with(&path));
        if is_above { Err(libc::EBUSY) } else { Ok(()) }
    }

    pub fn settings(&self) -> impl Iterator<Item = &Path> {
        self.repositories.iter().flat_map(|one| one.settings.iter().map(|path| &**path))
    }
}

fn done(result: i64) -> Result<(), i32> {
    if result == 0 { Ok(()) } else { Err(last_errno()) }
}
