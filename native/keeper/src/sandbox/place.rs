//! Opens files and directories by paths without symbolic links, so that a process that can make links
//! can't redirect them.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// Opens an absolute path (O_PATH). A link in it, or at its end, is an error (ELOOP).
pub fn open(path: &Path) -> io::Result<OwnedFd> {
    let root = step(None, c"/")?;
    beneath(root.as_fd(), path)
}

/// Opens a path below a directory, without leaving it.
pub fn beneath(directory: BorrowedFd, path: &Path) -> io::Result<OwnedFd> {
    let there = match at_once(directory, path) {
        // Older kernels, and filters of containers, refuse openat2.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
            return by_steps(directory, path);
        }
        result => result?,
    };
    // The last component is not followed, but may be a link.
    if status(&there)?.st_mode & libc::S_IFMT == libc::S_IFLNK {
        return Err(io::Error::from_raw_os_error(libc::ELOOP));
    }
    Ok(there)
}

/// Opens the path by openat2.
fn at_once(directory: BorrowedFd, path: &Path) -> io::Result<OwnedFd> {
    #[repr(C)]
    struct OpenHow {
        flags: u64,
        mode: u64,
        resolve: u64,
    }
    const RESOLVE_NO_SYMLINKS: u64 = 0x04;
    const RESOLVE_BENEATH: u64 = 0x08;
    let flags = (libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC) as u64;
    let how = OpenHow { flags, mode: 0, resolve: RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH };
    let path = path.strip_prefix("/").unwrap_or(path);
    let name = match path.as_os_str().as_bytes() {
        b"" => c".".to_owned(),
        bytes => CString::new(bytes)?,
    };
    let (at, size) = (directory.as_raw_fd(), size_of::<OpenHow>());
    // SAFETY: a path that ends with NUL, and a structure of this size.
    let there =
        unsafe { libc::syscall(libc::SYS_openat2, at, name.as_ptr(), &raw const how, size) };
    if there < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened; nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(there as i32) })
}

fn by_steps(directory: BorrowedFd, path: &Path) -> io::Result<OwnedFd> {
    let mut at = directory.try_clone_to_owned()?;
    for component in path.components() {
        let name = match component {
            Component::RootDir | Component::CurDir => continue,
            Component::Normal(name) => CString::new(name.as_bytes())?,
            _ => return Err(io::Error::from_raw_os_error(libc::EINVAL)),
        };
        at = step(Some(&at), &name)?;
        if status(&at)?.st_mode & libc::S_IFMT == libc::S_IFLNK {
            return Err(io::Error::from_raw_os_error(libc::ELOOP));
        }
    }
    Ok(at)
}

/// Returns device and inode.
pub fn identity(file: &OwnedFd) -> io::Result<(u64, u64)> {
    let status = status(file)?;
    Ok((status.st_dev, status.st_ino))
}

/// Returns the file's status.
pub fn status(file: &OwnedFd) -> io::Result<libc::stat> {
    let mut status = MaybeUninit::uninit();
    // SAFETY: fills the structure, which is read only after success.
    match unsafe { libc::fstat(file.as_raw_fd(), status.as_mut_ptr()) } {
        // SAFETY: just filled.
        0 => Ok(unsafe { status.assume_init() }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the id of the mount through which a file was opened.
pub fn mount_of(file: &OwnedFd) -> io::Result<u64> {
    let mut found = MaybeUninit::<libc::statx>::zeroed();
    let flags = libc::AT_EMPTY_PATH | libc::AT_SYMLINK_NOFOLLOW;
    let (number, name) = (file.as_raw_fd(), c"".as_ptr());
    // SAFETY: fills the structure, which is valid as zeros too.
    match unsafe { libc::statx(number, name, flags, libc::STATX_MNT_ID, found.as_mut_ptr()) } {
        // SAFETY: as above.
        0 => Ok(unsafe { found.assume_init() }.stx_mnt_id),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Opens a name in a directory, or a link of that name itself (O_PATH). `at` None: the working directory.
pub fn step(at: Option<&OwnedFd>, name: &CStr) -> io::Result<OwnedFd> {
    let directory = at.map_or(libc::AT_FDCWD, AsRawFd::as_raw_fd);
    let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: a name that ends with NUL.
    let next = unsafe { libc::openat(directory, name.as_ptr(), flags) };
    if next < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened; nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(next) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    #[test]
    fn no_link_is_followed() {
        let top = std::env::temp_dir().join(format!("forkline-place-{}", std::process::id()));
        let top = top.parent().unwrap().canonicalize().unwrap().join(top.file_name().unwrap());
        fs::create_dir_all(top.join("a/b")).unwrap();
        symlink("a", top.join("l")).unwrap();
        let there = open(&top.join("a/b")).unwrap();
        let expected = fs::metadata(top.join("a/b")).unwrap();
        assert_eq!(identity(&there).unwrap(), (expected.dev(), expected.ino()));
        for path in ["l", "l/b"] {
            assert_eq!(open(&top.join(path)).unwrap_err().raw_os_error(), Some(libc::ELOOP));
        }
        let directory = open(&top).unwrap();
        for way in [beneath, by_steps] {
            let of = |path| way(directory.as_fd(), Path::new(path));
            assert_eq!(identity(&of("a/b").unwrap()).unwrap(), (expected.dev(), expected.ino()));
            assert_eq!(identity(&of("").unwrap()).unwrap(), identity(&directory).unwrap());
            for path in ["l", "l/b", "a/../..", "missing"] {
                assert!(of(path).is_err(), "{path}");
            }
        }
        fs::remove_dir_all(top).unwrap();
    }
}
