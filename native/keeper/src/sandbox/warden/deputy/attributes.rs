//! Changes of a file's attributes and length, made for a caller where changes are recorded.

use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{FileType, fstat};

use super::Deputy;
use super::made_name::{MadeName, done, opened};
use super::opening::{open_at, own_descriptor};
use crate::sandbox::warden::caller::{Caller, PathBase};
use crate::sandbox::warden::gate::request::{Action, FileRequest, Meant, Named};
use crate::sandbox::warden::undo::recording::Recording;

/// The file that a call means.
pub struct ChangedFile {
    pub file: OwnedFd,
    /// Where it has its name, if it is a link.
    link: Option<MadeName>,
    /// Whether the caller has it open, with the rights that this gives.
    is_open: bool,
}

impl Deputy {
    pub fn change_attributes(
        &self,
        caller: &Caller,
        request: &FileRequest,
        recording: &Recording,
    ) -> Result<(), i32> {
        // Then the kernel does not look for the file.
        if request.action.changes_no_time() {
            return Ok(());
        }
        let changed = find(caller, &request.what, request.meant)?;
        match request.action {
            Action::Truncate { .. } => recording.reopen(&changed.file, libc::O_TRUNC)?,
            _ => recording.change(&changed.file)?,
        }
        caller.act(|| changed.change(&request.action))
    }
}

impl ChangedFile {
    fn change(&self, action: &Action) -> Result<(), i32> {
        let file = self.file.as_raw_fd();
        let path = self.path();
        let text = |bytes: &[u8]| CString::new(bytes).map_err(|_| libc::EINVAL);
        // SAFETY, for all: texts that end with NUL, numbers, and arrays that outlive the call.
        match action {
            Action::Truncate { length } => {
                // SAFETY: as above.
                done(unsafe { libc::truncate(path.as_ptr(), *length) }.into())
            }
            Action::ChangeMode { .. } if self.link.is_some() => Err(libc::EOPNOTSUPP),
            Action::ChangeMode { mode } => done(if self.is_open {
                // SAFETY: as above.
                unsafe { libc::fchmod(file, *mode) }.into()
            } else {
                // SAFETY: as above.
                unsafe { libc::chmod(path.as_ptr(), *mode) }.into()
            }),
            Action::ChangeOwner { user, group } => done(if self.is_open {
                // SAFETY: as above.
                unsafe { libc::fchown(file, *user, *group) }.into()
            } else {
                let flags = libc::AT_EMPTY_PATH;
                // SAFETY: as above.
                unsafe { libc::fchownat(file, c"".as_ptr(), *user, *group, flags) }.into()
            }),
            Action::SetTimes { times } => {
                let times = times.as_ref().map_or(std::ptr::null(), |times| times.as_ptr());
                done(match &self.link {
                    // SAFETY: as above.
                    _ if self.is_open => unsafe { libc::futimens(file, times) }.into(),
                    Some(link) => {
                        let ((at, name), flags) = (link.raw(), libc::AT_SYMLINK_NOFOLLOW);
                        // SAFETY: as above.
                        unsafe { libc::utimensat(at, name.as_ptr(), times, flags) }.into()
                    }
                    None => {
                        let (at, path) = (libc::AT_FDCWD, path.as_ptr());
                        // SAFETY: as above.
                        unsafe { libc::utimensat(at, path, times, 0) }.into()
                    }
                })
            }
            Action::SetAttribute { name, value, flags } => {
                let name = text(name)?;
                let (name, value, size) = (name.as_ptr(), value.as_ptr().cast(), value.len());
                done(if self.is_open {
                    // SAFETY: as above.
                    unsafe { libc::fsetxattr(file, name, value, size, *flags) }.into()
                } else if self.link.is_some() {
                    // SAFETY: as above.
                    unsafe { libc::lsetxattr(path.as_ptr(), name, value, size, *flags) }.into()
                } else {
                    // SAFETY: as above.
                    unsafe { libc::setxattr(path.as_ptr(), name, value, size, *flags) }.into()
                })
            }
            Action::RemoveAttribute { name } => {
                let name = text(name)?;
                done(if self.is_open {
                    // SAFETY: as above.
                    unsafe { libc::fremovexattr(file, name.as_ptr()) }.into()
                } else if self.link.is_some() {
                    // SAFETY: as above.
                    unsafe { libc::lremovexattr(path.as_ptr(), name.as_ptr()) }.into()
                } else {
                    // SAFETY: as above.
                    unsafe { libc::removexattr(path.as_ptr(), name.as_ptr()) }.into()
                })
            }
            _ => Err(libc::ENOSYS),
        }
    }

    /// Returns a path that leads to the file: by the name of a link, which itself is meant, in its directory.
    fn path(&self) -> CString {
        let Some(link) = &self.link else { return opened(&self.file) };
        let (at, name) = link.raw();
        let begin = format!("self/fd/{at}/").into_bytes();
        CString::new([&begin, name.to_bytes()].concat()).unwrap_or_default()
    }
}

/// Finds the file that a call means. The error is the kernel's.
pub fn find(caller: &Caller, named: &Named, meant: Meant) -> Result<ChangedFile, i32> {
    let is_link = |file: &OwnedFd| {
        fstat(file).is_ok_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::Symlink)
    };
    match (meant, named.base) {
        (Meant::Open, PathBase::Descriptor(number)) => {
            let file = caller.descriptor(number)?;
            Ok(ChangedFile { file, link: None, is_open: true })
        }
        (Meant::Descriptor, PathBase::Descriptor(number)) => {
            let file = caller.descriptor(number)?;
            Ok(ChangedFile { file, link: None, is_open: false })
        }
        (Meant::Open | Meant::Descriptor, PathBase::Directory) => {
            let file = caller.place(b".")?.open()?;
            Ok(ChangedFile { file, link: None, is_open: false })
        }
        (Meant::Followed, _) if own_descriptor(&named.path).is_some() => {
            let number = own_descriptor(&named.path).ok_or(libc::ENOENT)?;
            let file = caller.descriptor(number).map_err(|_| libc::ENOENT)?;
            Ok(ChangedFile { file, link: None, is_open: false })
        }
        _ => {
            let place = MadeName::of(caller, named)?;
            let follow = if meant == Meant::Link { libc::O_NOFOLLOW } else { 0 };
            let flags = libc::O_PATH | libc::O_CLOEXEC | follow;
            let file = caller.act(|| open_at(&place.directory, &place.name, flags, 0))?;
            let link = is_link(&file).then_some(place);
            Ok(ChangedFile { file, link, is_open: false })
        }
    }
}
