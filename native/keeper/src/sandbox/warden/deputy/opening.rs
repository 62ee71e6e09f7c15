//! Opens files for a caller, as the kernel would for it.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Stat, fstat, fstatfs, major, minor, readlinkat, statat};

use super::Deputy;
use super::made_name::{MadeName, is_kept, last_errno, make_for, opened, split_last};
use super::waiting::open_patiently;
use crate::sandbox::warden::caller::{Caller, PathBase};
use crate::sandbox::warden::gate::request::Named;
use crate::sandbox::warden::undo::recording::Recording;

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;
const SYSFS_MAGIC: i64 = 0x6265_6572;

/// The files of processes in `/proc` that are written to often. Who writes to them has to have the right, not
/// only who opens them.
const OF_PROCESSES: [&CStr; 3] = [c"oom_score_adj", c"comm", c"coredump_filter"];

/// The flags that the kernel knows. Others don't count, but are an error for openat2.
const KNOWN: i32 = libc::O_ACCMODE
    | libc::O_APPEND
    | libc::O_NONBLOCK
    | libc::O_DIRECT
    | libc::O_NOATIME
    | libc::O_ASYNC
    | libc::O_CREAT
    | libc::O_EXCL
    | libc::O_NOCTTY
    | libc::O_TRUNC
    | libc::O_SYNC
    | libc::O_DSYNC
    | libc::O_DIRECTORY
    | libc::O_NOFOLLOW
    | libc::O_CLOEXEC
    | libc::O_PATH;

/// How a caller opens a file.
pub struct AskedOpening<'a, 'r> {
    pub caller: &'a Caller,
    pub flags: i32,
    pub mode: u32,
    /// Whether the caller still waits.
    pub stands: &'a dyn Fn() -> bool,
    pub recording: &'a Recording<'r>,
}

/// Returns whether a directory is of a file system in which the kernel goes by the rights of the process.
fn is_kernels(directory: &OwnedFd) -> bool {
    let kinds = [libc::PROC_SUPER_MAGIC, SYSFS_MAGIC];
    // Its type differs between machines.
    fstatfs(directory).is_ok_and(|status| kinds.iter().any(|kind| status.f_type == *kind as _))
}

impl Deputy {
    /// Opens a file that may have to be made. None: the caller opens it itself.
    pub fn open_for(&self, named: &Named, opening: &AskedOpening) -> Result<Option<OwnedFd>, i32> {
        let AskedOpening { caller, flags, .. } = *opening;
        if let Some(number) = own_descriptor(&named.path) {
            return opening.reopen(number).map(Some);
        }
        let mut place = MadeName::of(caller, named)?;
        for _ in 0..=MOST_LINKS {
            if is_kernels(&place.directory) {
                if OF_PROCESSES.contains(&&*place.name) {
                    return opening.open(&place).map(Some);
                }
                if flags & libc::O_CREAT == 0 {
                    return Ok(None);
                }
                // It would take this process's rights for the caller's.
                return Err(libc::EACCES);
            }
            if place.has_slash() && flags & libc::O_CREAT == 0 {
                return opening.open_above(&place).map(Some);
            }
            let status = match statat(&place.directory, &*place.name, AtFlags::SYMLINK_NOFOLLOW) {
                // With a slash at its end the name of a link stands for its target.
                _ if place.has_slash() => None,
                Ok(status) => Some(status),
                Err(_) => None,
            };
            let kind = status.as_ref().map(|it| FileType::from_raw_mode(it.st_mode));
            let is_followed = !makes_new(flags) && flags & libc::O_NOFOLLOW == 0;
            match (kind, status) {
                (Some(FileType::Symlink), _) if is_followed => {
                    let path = opening.target(&place)?;
                    if let Some(number) = own_descriptor(&path) {
                        return opening.reopen(number).map(Some);
                    }
                    place = follow(caller, &place, path)?;
                }
                (Some(FileType::CharacterDevice), Some(status)) if !makes_new(flags) => {
                    return opening.open_device(&place, &status).map(Some);
                }
                (Some(kind), _) if self.refuse_setting(&place).is_err() => {
                    return opening.open_setting(&place, kind == FileType::Symlink).map(Some);
                }
                _ => {
                    self.refuse_setting(&place)?;
                    if kind.is_none() && !place.has_slash() && self.is_elsewhere(&place) {
                        return Err(libc::EACCES);
                    }
                    opening.recording.open(&place.spot(), flags)?;
                    match opening.open(&place) {
                        // What is there now is a link.
                        Err(libc::ELOOP) if is_followed => {}
                        result => {
                            let file = result?;
                            opening.recording.opened(&file, flags)?;
                            return Ok(Some(file));
                        }
                    }
                }
            }
        }
        Err(libc::ELOOP)
    }
}

impl AskedOpening<'_, '_> {
    /// Opens a name that is no link.
    fn open(&self, place: &MadeName) -> Result<OwnedFd, i32> {
        let status = || statat(&place.directory, &*place.name, AtFlags::SYMLINK_NOFOLLOW);
        open_patiently(
            self.flags,
            self.stands,
            || status().is_ok_and(|it| is_pipe(&it)),
            |flags| {
                make_for(self.caller, self.mode & 0o7777, |mode| {
                    open_at_name(place.directory.as_raw_fd(), &place.name, flags, mode)
                })
            },
        )
    }

    /// Opens a path with a slash at its end, which is that of a directory: it can't be opened to be changed.
    fn open_above(&self, place: &MadeName) -> Result<OwnedFd, i32> {
        let flags = self.flags | libc::O_CLOEXEC;
        let opened = self.caller.act(|| open_at(&place.directory, &place.name, flags, 0));
        opened.and(Err(libc::EISDIR))
    }

    /// Opens the file of the caller's descriptor once more, by the link to it in `/proc`.
    fn reopen(&self, number: i32) -> Result<OwnedFd, i32> {
        let file = self.caller.descriptor(number).map_err(|_| libc::ENOENT)?;
        match self.flags {
            flags if makes_new(flags) => Err(libc::EEXIST),
            flags if flags & libc::O_NOFOLLOW != 0 => Err(libc::ELOOP),
            flags => {
                self.recording.reopen(&file, flags)?;
                self.open_again(&file, flags)
            }
        }
    }

    /// Opens what is at the name of a setting, where nothing can be made or written.
    fn open_setting(&self, place: &MadeName, is_link: bool) -> Result<OwnedFd, i32> {
        if makes_new(self.flags) {
            return Err(libc::EEXIST);
        }
        if self.flags & libc::O_NOFOLLOW != 0 && is_link {
            return Err(libc::ELOOP);
        }
        let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let file = self.caller.act(|| open_at(&place.directory, &place.name, flags, 0))?;
        if !is_kept(&file) {
            return Err(libc::EACCES);
        }
        self.open_again(&file, self.flags & !libc::O_NOFOLLOW)
    }

    /// Opens an open file once more. The path leads to it and to nothing else, so nothing is made.
    fn open_again(&self, file: &OwnedFd, flags: i32) -> Result<OwnedFd, i32> {
        let path = opened(file);
        open_patiently(
            flags,
            self.stands,
            || fstat(file).is_ok_and(|it| is_pipe(&it)),
            |flags| {
                let flags = flags | libc::O_CLOEXEC | libc::O_NOCTTY;
                // SAFETY: a path that ends with NUL, and numbers.
                self.caller.act(|| opened_by(unsafe { libc::open(path.as_ptr(), flags, 0) }))
            },
        )
    }

    fn open_device(&self, place: &MadeName, status: &Stat) -> Result<OwnedFd, i32> {
        if (major(status.st_rdev), minor(status.st_rdev)) == (5, 0) {
            // The caller's own terminal.
            let number = self.caller.terminal().ok_or(libc::ENXIO)?;
            let path = CString::new(format!("/dev/pts/{number}")).map_err(|_| libc::EINVAL)?;
            let flags = self.flags & !libc::O_CREAT | libc::O_NOCTTY | libc::O_CLOEXEC;
            // SAFETY: a path that ends with NUL, and a number.
            return self.caller.act(|| opened_by(unsafe { libc::open(path.as_ptr(), flags) }));
        }
        let at = place.directory.as_raw_fd();
        self.caller.act(|| open_at_name(at, &place.name, self.flags & !libc::O_CREAT, 0))
    }

    /// Returns the target of a link that the kernel would follow.
    fn target(&self, link: &MadeName) -> Result<Vec<u8>, i32> {
        let flags = libc::O_PATH | libc::O_CLOEXEC;
        let led = self.caller.act(|| open_at(&link.directory, &link.name, flags, 0));
        // Links in a directory for all are not followed, nor too many. Any other error is that of a file which is
        // to be made, or is the caller's own in `/proc`.
        if let Err(errno @ (libc::EACCES | libc::ELOOP)) = led {
            return Err(errno);
        }
        let target = readlinkat(&link.directory, &*link.name, Vec::new());
        Ok(target.map_err(|error| error.raw_os_error())?.into_bytes())
    }
}

/// Returns whether a file is opened only if it is made. Without O_CREAT the other flag has no meaning.
fn makes_new(flags: i32) -> bool {
    const NEW: i32 = libc::O_CREAT | libc::O_EXCL;
    flags & NEW == NEW
}

/// Returns whether the kernel refuses these flags for every path: some kernels make no files with
/// O_DIRECTORY.
pub fn refuses(flags: i32) -> bool {
    let opened = || open_at_name(libc::AT_FDCWD, c"", flags, 0).map(drop);
    flags & libc::O_DIRECTORY != 0 && opened() == Err(libc::EINVAL)
}

fn is_pipe(status: &Stat) -> bool {
    FileType::from_raw_mode(status.st_mode) == FileType::Fifo
}

fn follow(caller: &Caller, from: &MadeName, path: Vec<u8>) -> Result<MadeName, i32> {
    if path.starts_with(b"/") {
        return MadeName::of(caller, &Named { base: PathBase::Directory, path });
    }
    let (above, last) = split_last(&path);
    let above = CString::new(above).map_err(|_| libc::EINVAL)?;
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    MadeName::at(caller.act(|| open_at(&from.directory, &above, flags, 0))?, last)
}

/// Returns the number of the caller's own descriptor that a path names.
pub fn own_descriptor(path: &[u8]) -> Option<i32> {
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

/// Opens a name that is no link, by openat2: O_NOFOLLOW would stay among the flags of the file.
fn open_at_name(at: i32, name: &CStr, flags: i32, mode: u32) -> Result<OwnedFd, i32> {
    #[repr(C)]
    struct OpenNameHow {
        flags: u64,
        mode: u64,
        resolve: u64,
    }
    const RESOLVE_NO_SYMLINKS: u64 = 0x04;
    let flags = flags & KNOWN | libc::O_NOCTTY | libc::O_CLOEXEC;
    let mode = if flags & libc::O_CREAT == 0 { 0 } else { mode };
    let how = OpenNameHow { flags: flags as u64, mode: mode.into(), resolve: RESOLVE_NO_SYMLINKS };
    let size = size_of::<OpenNameHow>();
    // SAFETY: a name that ends with NUL, and a structure of this size.
    let file = unsafe { libc::syscall(libc::SYS_openat2, at, name.as_ptr(), &raw const how, size) };
    match opened_by(file as i32) {
        // Filters of containers refuse openat2.
        Err(libc::ENOSYS | libc::EPERM) => {
            let flags = flags | libc::O_NOFOLLOW;
            // SAFETY: a name that ends with NUL, and numbers.
            opened_by(unsafe { libc::openat(at, name.as_ptr(), flags, mode) })
        }
        result => result,
    }
}

/// Opens a path from a directory.
pub fn open_at(directory: &OwnedFd, path: &CStr, flags: i32, mode: u32) -> Result<OwnedFd, i32> {
    // SAFETY: a path that ends with NUL, and numbers.
    opened_by(unsafe { libc::openat(directory.as_raw_fd(), path.as_ptr(), flags, mode) })
}

fn opened_by(result: i32) -> Result<OwnedFd, i32> {
    // SAFETY: the descriptor was just opened; nothing else owns it.
    if result < 0 { Err(last_errno()) } else { Ok(unsafe { OwnedFd::from_raw_fd(result) }) }
}
