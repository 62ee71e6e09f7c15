//! A name that is made for a caller.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::{AtFlags, FileType, StatVfsMountFlags, fstatvfs, statat};

use crate::sandbox::warden::caller::{Caller, PathBase, path_of};
use crate::sandbox::warden::gate::request::Named;
use crate::sandbox::warden::undo::recording::RecordedName;

/// A name in an open directory.
pub struct MadeName {
    pub directory: OwnedFd,
    /// As the path has it: also `.` or `..`, and with slashes at its end, so that the kernel sees what the
    /// caller has written.
    pub name: CString,
    /// The path at which it is seen. None: the path ends in no name, and none can be made by it; or it is
    /// longer than paths can be.
    pub path: Option<PathBuf>,
}

impl MadeName {
    /// Finds the directory of a path. The error is the kernel's.
    pub fn of(caller: &Caller, Named { base, path }: &Named) -> Result<MadeName, i32> {
        if path.is_empty() {
            return Err(libc::ENOENT);
        }
        let (above, last) = split_last(path);
        let is_missing = |errno| match base {
            PathBase::Descriptor(_) if errno == libc::ENOENT && !path.starts_with(b"/") => {
                libc::EBADF
            }
            _ => errno,
        };
        // Looks into the directory, as the kernel does before it looks at another path.
        let inside: &[u8] = if above.ends_with(b"/") { b"." } else { b"" };
        let above = [above, inside].concat();
        let place = caller.place_at(*base, &above).map_err(is_missing)?;
        MadeName::at(caller.act(|| place.open_directory())?, last)
    }

    /// `last`: the last part of a path, with the slashes after it.
    pub fn at(directory: OwnedFd, last: &[u8]) -> Result<MadeName, i32> {
        let path = match (without_slashes(last), path_of(&directory)) {
            (b"." | b"..", _) => None,
            // Deeper than any setting.
            (_, Err(libc::ENAMETOOLONG)) => None,
            (name, above) => Some(above?.join(OsStr::from_bytes(name))),
        };
        let name = CString::new(last).map_err(|_| libc::EINVAL)?;
        Ok(MadeName { directory, name, path })
    }

    /// Returns the place, to be recorded.
    pub fn spot(&self) -> RecordedName<'_> {
        RecordedName { directory: &self.directory, path: self.path.as_deref().map(Into::into) }
    }

    /// Returns the directory and the name, for system calls.
    pub fn raw(&self) -> (i32, &CStr) {
        (self.directory.as_raw_fd(), &self.name)
    }

    pub fn is_there(&self) -> bool {
        statat(&self.directory, &*self.name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Returns whether a device has the name, such as what stands for a removed file in an overlay.
    pub fn is_device(&self) -> bool {
        let status = statat(&self.directory, &*self.name, AtFlags::SYMLINK_NOFOLLOW);
        let kind = status.map(|it| FileType::from_raw_mode(it.st_mode));
        matches!(kind, Ok(FileType::CharacterDevice | FileType::BlockDevice))
    }

    pub fn has_slash(&self) -> bool {
        self.name.as_bytes().ends_with(b"/")
    }
}

/// Splits a path at its last part: the directory, and the rest with the slashes at its end.
pub fn split_last(path: &[u8]) -> (&[u8], &[u8]) {
    let length = without_slashes(path).len();
    let start = path.iter().take(length).rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    match path.split_at_checked(start) {
        // The root.
        _ if length == 0 => (path, b"."),
        Some((b"", last)) => (b".", last),
        Some(parts) => parts,
        None => (b".", path),
    }
}

fn without_slashes(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    path.get(..end).unwrap_or(path)
}

/// Returns whether nothing can be changed through this open file or directory: its mount is read-only.
pub fn is_kept(file: &OwnedFd) -> bool {
    fstatvfs(file).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Makes something with the caller's rights and its umask, which the kernel takes from the thread: it does
/// not apply where the directory has rights for new files.
pub fn make_for<T>(
    caller: &Caller,
    mode: u32,
    make: impl FnOnce(u32) -> Result<T, i32>,
) -> Result<T, i32> {
    thread_local! {
        // Otherwise it is that of all threads.
        // SAFETY: takes a number only.
        static HAS_OWN_MASK: bool = unsafe { libc::unshare(libc::CLONE_FS) } == 0;
    }
    let mask = caller.mask()?;
    if !HAS_OWN_MASK.with(|it| *it) {
        return caller.act(|| make(mode & !(mask & 0o777)));
    }
    // SAFETY: takes a number only.
    let before = unsafe { libc::umask(mask) };
    let result = caller.act(|| make(mode));
    // SAFETY: takes a number only.
    unsafe { libc::umask(before) };
    result
}

/// Returns the path of an open file below the working directory, which is `/proc`.
pub fn opened(file: &OwnedFd) -> CString {
    CString::new(format!("self/fd/{}", file.as_raw_fd())).unwrap_or_default()
}

/// Returns the error of a call with this result.
pub fn done(result: i64) -> Result<(), i32> {
    if result == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Returns the errno of the last call.
pub fn last_errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EACCES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_split_at_its_last_part() {
        let of = |path: &'static str| {
            let (above, last) = split_last(path.as_bytes());
            [above, last].map(String::from_utf8_lossy)
        };
        assert_eq!(of("a"), [".", "a"]);
        assert_eq!(of("a//"), [".", "a//"]);
        assert_eq!(of("/a"), ["/", "a"]);
        assert_eq!(of("//a/b/"), ["//a/", "b/"]);
        assert_eq!(of("a/.."), ["a/", ".."]);
        assert_eq!(of("./"), [".", "./"]);
        assert_eq!(of("//"), ["//", "."]);
    }
}
