//! Somebody in the sandbox whose call waits: what he names, and doing something with his rights.

use std::cell::OnceCell;
use std::ffi::{CString, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::sandbox::privileges;
use crate::sandbox::warden::person::{Person, act_as};

/// By the number of his thread outside.
pub struct Caller {
    pub pid: i32,
    /// None: he is who we are.
    other: Option<Person>,
    /// What the kernel says of him, where that has been read.
    status: OnceCell<String>,
}

/// Where a path of his begins that is not absolute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathBase {
    /// In his directory.
    Directory,
    /// In what he has open at this number.
    Descriptor(i32),
}

impl PathBase {
    pub fn of(number: i32) -> PathBase {
        if number == libc::AT_FDCWD { PathBase::Directory } else { PathBase::Descriptor(number) }
    }

    /// The link to it in `/proc`.
    pub fn link(self, pid: i32) -> String {
        match self {
            PathBase::Directory => format!("{pid}/cwd"),
            PathBase::Descriptor(number) => format!("{pid}/fd/{number}"),
        }
    }
}

/// A path of his, and where it begins.
pub struct CallerPath {
    directory: OwnedFd,
    path: CString,
}

impl Caller {
    pub fn of(pid: i32) -> Result<Caller, i32> {
        if !privileges::is_root() {
            // Whoever is no other in here can become none.
            return Ok(Caller::unknown(pid));
        }
        let status = fs::read_to_string(format!("{pid}/status")).map_err(|error| errno(&error))?;
        let person = person(&status).ok_or(libc::EACCES)?;
        let other = (person != *Person::own()).then_some(person);
        Ok(Caller { pid, other, status: OnceCell::from(status) })
    }

    /// One of whom nothing but his memory is to be read.
    pub fn unknown(pid: i32) -> Caller {
        Caller { pid, other: None, status: OnceCell::new() }
    }

    /// The bits of modes that files he makes don't get.
    pub fn mask(&self) -> Result<u32, i32> {
        let read = || fs::read_to_string(format!("{}/status", self.pid)).unwrap_or_default();
        let status = self.status.get_or_init(read);
        let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
        mask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).ok_or(libc::EACCES)
    }

    /// A path in his memory, without the NUL at its end. None: there is none.
    pub fn text(&self, address: u64) -> Option<Vec<u8>> {
        // At most a page of any kernel, and a part of one, whole, of every other.
        const PAGE: u64 = 4096;
        let mut text = Vec::new();
        while text.len() < libc::PATH_MAX as usize {
            let at = address.checked_add(text.len() as u64)?;
            // The next page may not be his.
            let part = self.read(at, (PAGE - at % PAGE) as usize).ok()?;
            let end = part.iter().position(|byte| *byte == 0);
            text.extend(part.into_iter().take_while(|byte| *byte != 0));
            if end.is_some() {
                return Some(text);
            }
        }
        None
    }

    /// So much of his memory.
    pub fn read(&self, address: u64, length: usize) -> Result<Vec<u8>, i32> {
        let mut bytes = vec![0; length];
        let here = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: length };
        let there = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: length };
        // SAFETY: fills the buffer, of which the length is told; what is read is not ours.
        match unsafe { libc::process_vm_readv(self.pid, &here, 1, &there, 1, 0) } {
            -1 => Err(last()),
            read if read as usize == length => Ok(bytes),
            _ => Err(libc::EFAULT),
        }
    }

    /// What he has at this number.
    pub fn descriptor(&self, number: i32) -> Result<OwnedFd, i32> {
        let process = match open_process(self.pid, libc::O_EXCL) {
            // Before Linux 6.9 there are none of threads.
            Err(libc::EINVAL) => open_process(self.leader().ok_or(libc::EACCES)?, 0),
            opened => opened,
        }?;
        copy(&process, number)
    }

    /// Where a path of his begins.
    pub fn place(&self, path: &[u8]) -> Result<CallerPath, i32> {
        self.place_at(PathBase::Directory, path)
    }

    /// The same for a path that may begin elsewhere.
    pub fn place_at(&self, base: PathBase, path: &[u8]) -> Result<CallerPath, i32> {
        // `self` is whoever looks, and we are not to be seen in his `/proc`.
        let own = path.strip_prefix(b"/proc/self/");
        let (directory, path) = match own {
            Some(rest) => (c".".into(), [format!("{}/", self.pid).as_bytes(), rest].concat()),
            None if path.starts_with(b"/") => (c".".into(), path.to_owned()),
            None => (CString::new(base.link(self.pid)).unwrap_or_default(), path.to_owned()),
        };
        let path = CString::new(path).map_err(|_| libc::EINVAL)?;
        Ok(CallerPath { directory: open_at(libc::AT_FDCWD, &directory, 0)?, path })
    }

    /// Does something with his rights, and no others.
    pub fn act<T>(&self, act: impl FnOnce() -> Result<T, i32>) -> Result<T, i32> {
        act_as(self.other.as_ref(), act).map_err(|error| errno(&error))?
    }

    fn leader(&self) -> Option<i32> {
        let status = fs::read_to_string(format!("{}/status", self.pid)).ok()?;
        numbers(&status, "Tgid:")?.first().map(|pid| *pid as i32)
    }
}

impl CallerPath {
    /// Only to be looked at, and connected to.
    pub fn open(&self) -> Result<OwnedFd, i32> {
        open_at(self.directory.as_raw_fd(), &self.path, 0)
    }

    /// The same for what is a directory.
    pub fn open_directory(&self) -> Result<OwnedFd, i32> {
        open_at(self.directory.as_raw_fd(), &self.path, libc::O_DIRECTORY)
    }
}

/// Where something that is open is, as those in the sandbox see it.
pub fn path_of(file: &OwnedFd) -> Result<PathBuf, i32> {
    link_of(&format!("self/fd/{}", file.as_raw_fd()))
}

/// Where a link in `/proc` leads.
pub fn link_of(name: &str) -> Result<PathBuf, i32> {
    let name = CString::new(name).map_err(|_| libc::EINVAL)?;
    let mut path = vec![0; libc::PATH_MAX as usize];
    // SAFETY: a path that ends with NUL, and a buffer of which the length is told.
    let length = unsafe { libc::readlink(name.as_ptr(), path.as_mut_ptr().cast(), path.len()) };
    path.truncate(usize::try_from(length).map_err(|_| last())?);
    Ok(PathBuf::from(OsString::from_vec(path)))
}

/// By a number outside.
pub fn open_process(pid: i32, flags: i32) -> Result<OwnedFd, i32> {
    // SAFETY: takes numbers only.
    opened(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, flags) })
}

/// What a process has at this number.
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
    // SAFETY: just opened, and nobody else's.
    if result < 0 { Err(last()) } else { Ok(unsafe { OwnedFd::from_raw_fd(result as i32) }) }
}

/// By whose rights files are opened.
fn person(status: &str) -> Option<Person> {
    let last_of = |name: &str| numbers(status, name)?.last().copied();
    let groups = numbers(status, "Groups:")?;
    Some(Person { user: last_of("Uid:")?, group: last_of("Gid:")?, groups })
}

fn numbers(status: &str, name: &str) -> Option<Vec<u32>> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().map(|number| number.parse().ok()).collect()
}

fn last() -> i32 {
    errno(&io::Error::last_os_error())
}

fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EACCES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_somebody_is_is_told_by_his_status() {
        let status =
            "Name:\tUid: 1\nTgid:\t7\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t9 10 \n";
        assert_eq!(person(status), Some(Person { user: 4, group: 8, groups: vec![9, 10] }));
        assert_eq!(numbers(status, "Tgid:"), Some(vec![7]));
        assert_eq!(person("Uid:\t1\n"), None);
    }
}
