//! A process in the sandbox with a system call that waits: reads what the call names, and acts with the
//! process's rights.

use std::cell::{OnceCell, RefCell};
use std::ffi::{CString, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::sandbox::privileges;
use crate::sandbox::warden::person::{Person, act_as};

/// The caller, by the thread's id outside.
pub struct Caller {
    pub pid: i32,
    /// The caller's user and groups; None: the same as this process's.
    other: Option<Person>,
    /// The caller's `/proc/PID/status`, once it has been read.
    status: OnceCell<String>,
}

/// Where a relative path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathBase {
    /// The working directory.
    Directory,
    /// The directory at this descriptor.
    Descriptor(i32),
}

impl PathBase {
    pub fn of(number: i32) -> PathBase {
        if number == libc::AT_FDCWD { PathBase::Directory } else { PathBase::Descriptor(number) }
    }

    /// Returns the link to it in `/proc`.
    pub fn link(self, pid: i32) -> String {
        match self {
            PathBase::Directory => format!("{pid}/cwd"),
            PathBase::Descriptor(number) => format!("{pid}/fd/{number}"),
        }
    }
}

/// A path of the caller, and the directory where it begins.
pub struct CallerPath {
    directory: OwnedFd,
    path: CString,
}

impl Caller {
    pub fn of(pid: i32) -> Result<Caller, i32> {
        if !privileges::is_root() {
            // A sandbox of an ordinary user contains no other user.
            return Ok(Caller::unknown(pid));
        }
        let status = read_status(pid)?;
        let person = person(&status).ok_or(libc::EACCES)?;
        let other = (person != *Person::own()).then_some(person);
        Ok(Caller { pid, other, status: OnceCell::from(status) })
    }

    /// Makes a caller of which only the memory is to be read.
    pub fn unknown(pid: i32) -> Caller {
        Caller { pid, other: None, status: OnceCell::new() }
    }

    /// Returns whether the caller has the rights of this process's user.
    pub fn is_own(&self) -> bool {
        self.other.is_none()
    }

    /// Returns the number of the pseudo-terminal that controls the caller. None: there is none.
    pub fn terminal(&self) -> Option<u32> {
        let stat = fs::read_to_string(format!("{}/stat", self.pid)).ok()?;
        // The name may have blanks and brackets.
        let (_, rest) = stat.rsplit_once(") ")?;
        let device: i32 = rest.split(' ').nth(4)?.parse().ok()?;
        let device = u64::from(device as u32);
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        (136..=143).contains(&major).then(|| (major - 136) * 256 + minor)
    }

    /// Returns the same caller, for acts after its call.
    pub fn twin(&self) -> Caller {
        Caller { pid: self.pid, other: self.other.clone(), status: OnceCell::new() }
    }

    /// Returns the caller's umask.
    pub fn mask(&self) -> Result<u32, i32> {
        let mask = field(self.status(), "Umask:");
        mask.and_then(|mask| u32::from_str_radix(mask, 8).ok()).ok_or(libc::EACCES)
    }

    /// Reads a path from the caller's memory, without the NUL at its end. The error is the kernel's: EFAULT
    /// or ENAMETOOLONG.
    pub fn text(&self, address: u64) -> Result<Vec<u8>, i32> {
        // The smallest page size, of which every other one is a multiple.
        const PAGE: u64 = 4096;
        const LONGEST: usize = libc::PATH_MAX as usize;
        let mut text = Vec::new();
        let mut is_whole = false;
        while !is_whole && text.len() < LONGEST {
            let at = address.checked_add(text.len() as u64).ok_or(libc::EFAULT)?;
            // The next page may not be mapped.
            let part = self.read(at, (PAGE - at % PAGE) as usize).map_err(|_| libc::EFAULT)?;
            is_whole = part.contains(&0);
            text.extend(part.into_iter().take_while(|byte| *byte != 0));
        }
        if text.len() < LONGEST { Ok(text) } else { Err(libc::ENAMETOOLONG) }
    }

    /// Reads this many bytes of the caller's memory.
    pub fn read(&self, address: u64, length: usize) -> Result<Vec<u8>, i32> {
        let mut bytes = vec![0; length];
        let here = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: length };
        let there = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: length };
        // SAFETY: fills at most as many bytes as the buffer has; reads another process's memory.
        match unsafe { libc::process_vm_readv(self.pid, &here, 1, &there, 1, 0) } {
            -1 => Err(last_errno()),
            read if read as usize == length => Ok(bytes),
            _ => Err(libc::EFAULT),
        }
    }

    /// Returns a copy of the caller's descriptor.
    pub fn descriptor(&self, number: i32) -> Result<OwnedFd, i32> {
        thread_local! {
            /// The last caller: the next call is often of the same one.
            static LAST: RefCell<Option<(i32, OwnedFd)>> = const { RefCell::new(None) };
        }
        LAST.with_borrow_mut(|last| {
            if let Some((_, process)) = last.as_ref().filter(|(pid, _)| *pid == self.pid) {
                match copy(process, number) {
                    // It has ended, and its number is another one's.
                    Err(libc::ESRCH) => {}
                    copied => return copied,
                }
            }
            let process = self.process()?;
            let copied = copy(&process, number);
            *last = Some((self.pid, process));
            copied
        })
    }

    fn process(&self) -> Result<OwnedFd, i32> {
        match open_process(self.pid, libc::O_EXCL) {
            // Before Linux 6.9 threads have no pidfds.
            Err(libc::EINVAL) => open_process(self.leader().ok_or(libc::EACCES)?, 0),
            opened => opened,
        }
    }

    /// Opens the directory where a path of the caller begins.
    pub fn place(&self, path: &[u8]) -> Result<CallerPath, i32> {
        self.place_at(PathBase::Directory, path)
    }

    /// Opens the directory where a path begins that may be relative to a descriptor.
    pub fn place_at(&self, base: PathBase, path: &[u8]) -> Result<CallerPath, i32> {
        // `self` would be this process, whose `/proc` entries must not be reached.
        const OWN: [(&[u8], &str); 3] =
            [(b"/proc/self/", ""), (b"/proc/thread-self/", ""), (b"/dev/fd/", "fd/")];
        let mut own = OWN.iter().filter_map(|(begin, at)| Some((at, path.strip_prefix(*begin)?)));
        let (directory, path) = match own.next() {
            Some((at, rest)) => {
                (c".".into(), [format!("{}/{at}", self.pid).as_bytes(), rest].concat())
            }
            None if path.starts_with(b"/") => (c".".into(), path.to_owned()),
            None => (CString::new(base.link(self.pid)).unwrap_or_default(), path.to_owned()),
        };
        let path = CString::new(path).map_err(|_| libc::EINVAL)?;
        Ok(CallerPath { directory: open_at(libc::AT_FDCWD, &directory, 0)?, path })
    }

    /// Acts with the caller's rights.
    pub fn act<T>(&self, act: impl FnOnce() -> Result<T, i32>) -> Result<T, i32> {
        act_as(self.other.as_ref(), act).map_err(|error| errno(&error))?
    }

    /// Returns the process that the calling thread belongs to.
    pub fn leader(&self) -> Option<i32> {
        numbers(self.status(), "Tgid:")?.first().map(|pid| *pid as i32)
    }

    fn status(&self) -> &str {
        self.status.get_or_init(|| read_status(self.pid).unwrap_or_default())
    }
}

impl CallerPath {
    /// Opens the path (O_PATH), to be looked at and connected to.
    pub fn open(&self) -> Result<OwnedFd, i32> {
        open_at(self.directory.as_raw_fd(), &self.path, 0)
    }

    /// Opens a directory (O_PATH).
    pub fn open_directory(&self) -> Result<OwnedFd, i32> {
        open_at(self.directory.as_raw_fd(), &self.path, libc::O_DIRECTORY)
    }
}

/// Returns the path of an open file, as seen in the sandbox.
pub fn path_of(file: &OwnedFd) -> Result<PathBuf, i32> {
    link_of(&format!("self/fd/{}", file.as_raw_fd()))
}

/// Returns the target of a link in `/proc`.
pub fn link_of(name: &str) -> Result<PathBuf, i32> {
    let name = CString::new(name).map_err(|_| libc::EINVAL)?;
    let mut path = vec![0; libc::PATH_MAX as usize];
    // SAFETY: a path that ends with NUL, and a buffer of the given length.
    let length = unsafe { libc::readlink(name.as_ptr(), path.as_mut_ptr().cast(), path.len()) };
    path.truncate(usize::try_from(length).map_err(|_| last_errno())?);
    Ok(PathBuf::from(OsString::from_vec(path)))
}

/// Returns a pidfd; `pid` is the id outside.
pub fn open_process(pid: i32, flags: i32) -> Result<OwnedFd, i32> {
    // SAFETY: takes numbers only.
    opened(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, flags) })
}

/// Returns a copy of a process's descriptor.
pub fn copy(process: &OwnedFd, number: i32) -> Result<OwnedFd, i32> {
    // SAFETY: takes numbers only.
    opened(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number, 0) })
}

fn open_at(directory: i32, path: &CString, flags: i32) -> Result<OwnedFd, i32> {
    let flags = flags | libc::O_PATH | libc::O_CLOEXEC;
    // SAFETY: a path that ends with NUL.
    opened(unsafe { libc::openat(directory, path.as_ptr(), flags) }.into())
}

fn opened(result: i64) -> Result<OwnedFd, i32> {
    // SAFETY: the descriptor was just opened; nothing else owns it.
    if result < 0 { Err(last_errno()) } else { Ok(unsafe { OwnedFd::from_raw_fd(result as i32) }) }
}

/// Reads `/proc/PID/status`, which is shorter than a page: the kernel gives all of it at once.
pub fn read_status(pid: i32) -> Result<String, i32> {
    let mut text = vec![0; 4096];
    let file = File::open(format!("{pid}/status"));
    let length = file.and_then(|mut file| file.read(&mut text)).map_err(|error| errno(&error))?;
    text.truncate(length);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Returns the ids that the kernel uses for access to files.
fn person(status: &str) -> Option<Person> {
    let last_of = |name: &str| numbers(status, name)?.last().copied();
    let groups = numbers(status, "Groups:")?;
    Some(Person { user: last_of("Uid:")?, group: last_of("Gid:")?, groups })
}

/// Returns the value of a line of such a file, whose name ends with a colon.
pub fn field<'status>(status: &'status str, name: &str) -> Option<&'status str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

fn numbers(status: &str, name: &str) -> Option<Vec<u32>> {
    field(status, name)?.split_ascii_whitespace().map(|number| number.parse().ok()).collect()
}

fn last_errno() -> i32 {
    errno(&io::Error::last_os_error())
}

fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EACCES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_file_tells_users_and_groups() {
        let status =
            "Name:\tUid: 1\nTgid:\t7\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t9 10 \n";
        assert_eq!(person(status), Some(Person { user: 4, group: 8, groups: vec![9, 10] }));
        assert_eq!(numbers(status, "Tgid:"), Some(vec![7]));
        assert_eq!(person("Uid:\t1\n"), None);
    }
}
