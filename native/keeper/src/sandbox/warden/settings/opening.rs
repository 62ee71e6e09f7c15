//! Opens files for a caller, as the kernel would for it.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::thread;
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, Stat, fstatfs, major, minor, readlinkat, statat};

use super::Shared;
use super::made_name::{MadeName, last_errno, opened};
use crate::sandbox::warden::caller::{Caller, PathBase};
use crate::sandbox::warden::gate::request::Named;
use crate::sandbox::warden::gate::split;

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;
/// How often a writer looks whether a pipe has got a reader.
const PAUSE: Duration = Duration::from_millis(5);
const SYSFS_MAGIC: i64 = 0x6265_6572;

/// What a process often writes of itself.
const OWN_FILES: [&[u8]; 3] =
    [b"/proc/self/oom_score_adj", b"/proc/self/comm", b"/proc/self/coredump_filter"];

/// Returns whether a directory is of a file system in which the kernel goes by the rights of the process.
fn is_kernels(directory: &OwnedFd) -> bool {
    let kinds = [libc::PROC_SUPER_MAGIC, SYSFS_MAGIC];
    // Its type differs between machines.
    fstatfs(directory).is_ok_and(|status| kinds.iter().any(|kind| status.f_type == *kind as _))
}

impl Shared {
    /// Opens a file that may have to be made.
    pub fn open_for(
        &self,
        caller: &Caller,
        named: &Named,
        flags: i32,
        mode: u32,
        stands: &dyn Fn() -> bool,
    ) -> Result<OwnedFd, i32> {
        if let Some(number) = own_descriptor(&named.path) {
            return reopen(caller, number, flags);
        }
        if flags & libc::O_TMPFILE == libc::O_TMPFILE {
            let place = caller.place_at(named.base, &named.path)?;
            let directory = caller.act(|| place.open_directory())?;
            return open_at(caller, &directory, c".", flags, mode & !caller.mask()?);
        }
        let mut place = self.place_for(caller, named, libc::EISDIR)?;
        for _ in 0..MOST_LINKS {
            if place.is_directory {
                return Err(libc::EISDIR);
            }
            if is_kernels(&place.directory) {
                if OWN_FILES.contains(&&*named.path) {
                    let flags = flags & !libc::O_CREAT | libc::O_NOFOLLOW;
                    return open_at(caller, &place.directory, &place.name, flags, 0);
                }
                // It would take this process's rights for the caller's.
                return Err(libc::EACCES);
            }
            let status = match statat(&place.directory, &*place.name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(status) => Some(status),
                Err(rustix::io::Errno::NOENT) => None,
                Err(error) => return Err(error.raw_os_error()),
            };
            let kind = status.as_ref().map(|it| FileType::from_raw_mode(it.st_mode));
            match (kind, status) {
                (Some(_), _) if flags & libc::O_EXCL != 0 => return Err(libc::EEXIST),
                (Some(FileType::Symlink), _) if flags & libc::O_NOFOLLOW != 0 => {
                    return Err(libc::ELOOP);
                }
                (Some(FileType::Symlink), _) => {
                    let target = readlinkat(&place.directory, &*place.name, Vec::new());
                    let path = target.map_err(|error| error.raw_os_error())?.into_bytes();
                    if let Some(number) = own_descriptor(&path) {
                        return reopen(caller, number, flags);
                    }
                    place = self.follow_for(caller, &place, path)?;
                }
                (Some(FileType::CharacterDevice), Some(status)) => {
                    return open_device(caller, &place, &status, flags);
                }
                (Some(FileType::Fifo), _) if flags & libc::O_NONBLOCK == 0 => {
                    return open_pipe(caller, &place, flags, stands);
                }
                _ => {
                    let mode = mode & !caller.mask()?;
                    let flags = flags | libc::O_NOFOLLOW;
                    return open_at(caller, &place.directory, &place.name, flags, mode);
                }
            }
        }
        Err(libc::ELOOP)
    }

    fn follow_for(&self, caller: &Caller, from: &MadeName, path: Vec<u8>) -> Result<MadeName, i32> {
        if path.starts_with(b"/") {
            return self.place_for(
                caller,
                &Named { base: PathBase::Directory, path },
                libc::EISDIR,
            );
        }
        let (above, name) = split(&path).ok_or(libc::EISDIR)?;
        let above = CString::new(above).map_err(|_| libc::EINVAL)?;
        let (at, flags) =
            (from.directory.as_raw_fd(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC);
        // SAFETY: a path that ends with NUL, and numbers.
        let open = || opened_by(unsafe { libc::openat(at, above.as_ptr(), flags) });
        let directory = caller.act(open)?;
        self.checked(directory, name, path.ends_with(b"/"))
    }
}

/// Returns the number of the caller's own descriptor that a path names.
fn own_descriptor(path: &[u8]) -> Option<i32> {
    let number = match path {
        b"/dev/stdin" => return Some(0),
        b"/dev/stdout" => return Some(1),
        b"/dev/stderr" => return Some(2),
        path => [&b"/dev/fd/"[..], b"/proc/self/fd/", b"/proc/thread-self/fd/"]
            .iter()
            .find_map(|begin| path.strip_prefix(*begin))?,
    };
    std::str::from_utf8(number).ok()?.parse().ok()
}

/// Opens the file of the caller's descriptor once more.
fn reopen(caller: &Caller, number: i32, flags: i32) -> Result<OwnedFd, i32> {
    let file = caller.descriptor(number).map_err(|_| libc::ENOENT)?;
    let path = opened(&file);
    let flags = flags & !(libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW);
    let flags = flags | libc::O_CLOEXEC | libc::O_NOCTTY;
    // SAFETY: a path that ends with NUL, and a number.
    caller.act(|| opened_by(unsafe { libc::open(path.as_ptr(), flags) }))
}

fn open_device(
    caller: &Caller,
    place: &MadeName,
    status: &Stat,
    flags: i32,
) -> Result<OwnedFd, i32> {
    if (major(status.st_rdev), minor(status.st_rdev)) == (5, 0) {
        // The caller's own terminal.
        let number = caller.terminal().ok_or(libc::ENXIO)?;
        let path = CString::new(format!("/dev/pts/{number}")).map_err(|_| libc::EINVAL)?;
        let flags = flags & !libc::O_CREAT | libc::O_NOCTTY | libc::O_CLOEXEC;
        // SAFETY: a path that ends with NUL, and a number.
        return caller.act(|| opened_by(unsafe { libc::open(path.as_ptr(), flags) }));
    }
    open_at(caller, &place.directory, &place.name, flags & !libc::O_CREAT | libc::O_NOFOLLOW, 0)
}

/// Opens a named pipe for writing, which waits for a reader.
fn open_pipe(
    caller: &Caller,
    place: &MadeName,
    flags: i32,
    stands: &dyn Fn() -> bool,
) -> Result<OwnedFd, i32> {
    let now = flags & !libc::O_CREAT | libc::O_NONBLOCK | libc::O_NOFOLLOW;
    loop {
        match open_at(caller, &place.directory, &place.name, now, 0) {
            Err(libc::ENXIO) if stands() => thread::sleep(PAUSE),
            Err(errno) => return Err(errno),
            Ok(file) => {
                // SAFETY: takes numbers only.
                unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags) };
                return Ok(file);
            }
        }
    }
}

fn open_at(
    caller: &Caller,
    directory: &OwnedFd,
    name: &CStr,
    flags: i32,
    mode: u32,
) -> Result<OwnedFd, i32> {
    let (at, flags) = (directory.as_fd().as_raw_fd(), flags | libc::O_NOCTTY | libc::O_CLOEXEC);
    // SAFETY: a name that ends with NUL, and numbers.
    caller.act(|| opened_by(unsafe { libc::openat(at, name.as_ptr(), flags, mode) }))
}

fn opened_by(result: i32) -> Result<OwnedFd, i32> {
    // SAFETY: the descriptor was just opened; nothing else owns it.
    if result < 0 { Err(last_errno()) } else { Ok(unsafe { OwnedFd::from_raw_fd(result) }) }
}
