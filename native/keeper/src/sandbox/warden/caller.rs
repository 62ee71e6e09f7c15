//! Somebody in the sandbox whose call waits: what he names, and doing something with his rights.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::sandbox::privileges;
use crate::sandbox::warden::person::{Person, act_as};

/// By the number of his thread outside.
pub struct Caller {
    pub pid: i32,
    /// None: he is who we are.
    other: Option<Person>,
}

/// A path of his, and where it begins.
pub struct Place {
    directory: OwnedFd,
    path: CString,
}

impl Caller {
    pub fn of(pid: i32) -> Result<Caller, i32> {
        if !privileges::is_root() {
            // Whoever is no other in here can become none.
            return Ok(Caller { pid, other: None });
        }
        let status = fs::read_to_string(format!("{pid}/status")).map_err(|error| errno(&error))?;
        let person = person(&status).ok_or(libc::EACCES)?;
        Ok(Caller { pid, other: (person != *Person::own()).then_some(person) })
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
    pub fn place(&self, path: &[u8]) -> Result<Place, i32> {
        // `self` is whoever looks, and we are not to be seen in his `/proc`.
        let own = path.strip_prefix(b"/proc/self/");
        let (directory, path) = match own {
            Some(rest) => (c".".into(), [format!("{}/", self.pid).as_bytes(), rest].concat()),
            None if path.starts_with(b"/") => (c".".into(), path.to_owned()),
            None => {
                (CString::new(format!("{}/cwd", self.pid)).unwrap_or_default(), path.to_owned())
            }
        };
        let path = CString::new(path).map_err(|_| libc::EINVAL)?;
        Ok(Place { directory: open_at(libc::AT_FDCWD, &directory)?, path })
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

impl Place {
    /// Only to be looked at, and connected to.
    pub fn open(&self) -> Result<OwnedFd, i32> {
        open_at(self.directory.as_raw_fd(), &self.path)
    }
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

fn open_at(directory: i32, path: &CString) -> Result<OwnedFd, i32> {
    let flags = libc::O_PATH | libc::O_CLOEXEC;
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
