//! Process ids as the host knows them, for a keeper in a PID namespace of its own.
//!
//! They are read in the host's `/proc`, which was opened outside.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;

use crate::proc::{LONGEST_DESCENT, group_in, parent_in};

static PROC: OnceLock<OwnedFd> = OnceLock::new();

/// Opens the host's `/proc`, before the namespace is entered.
pub fn open_proc() {
    // SAFETY: a path that ends with NUL.
    let proc = unsafe {
        libc::open(c"/proc".as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC)
    };
    if proc >= 0 {
        // SAFETY: the descriptor was just opened; nothing else owns it.
        let _ = PROC.set(unsafe { OwnedFd::from_raw_fd(proc) });
    }
}

/// Takes the host's `/proc`, opened by the image of this process before.
pub fn take_proc(proc: OwnedFd) {
    let _ = PROC.set(proc);
}

/// Returns the host's `/proc`, if it is another one than this process's own.
pub fn proc() -> Option<BorrowedFd<'static>> {
    PROC.get().map(AsFd::as_fd)
}

/// Returns the calling process's id.
pub fn own_pid() -> i32 {
    let own = std::process::id() as i32;
    let Some(proc) = proc() else { return own };
    let mut link = [0; 16];
    // SAFETY: fills at most as many bytes as it is told.
    let length = unsafe {
        libc::readlinkat(proc.as_raw_fd(), c"self".as_ptr(), link.as_mut_ptr().cast(), link.len())
    };
    let link = usize::try_from(length).ok().and_then(|length| link.get(..length));
    link.and_then(|link| std::str::from_utf8(link).ok()?.parse().ok()).unwrap_or(own)
}

/// Returns the ids of a process and its group; the ids in this namespace if the host's are not known.
pub fn pid_and_group(pid: i32, group: i32) -> (i32, i32) {
    let Some(proc) = proc() else { return (pid, group) };
    let Some(outside) = number(proc, pid) else { return (pid, group) };
    let stat = read(proc, &format!("{outside}/stat"));
    (outside, stat.and_then(|stat| group_in(&stat)).unwrap_or(group))
}

/// Called in a sandbox when a command has ended: the warden settles what the command has begun before it
/// answers a call by a name.
pub fn settle() {
    if proc().is_some() {
        // SAFETY: an empty name, which is no file.
        unsafe { libc::unlinkat(libc::AT_FDCWD, c"".as_ptr(), 0) };
    }
}

/// Returns the first among a process and those that it descends from for which `is_one` is true, below `top`; None:
/// there is none. All ids are the host's.
///
/// # Errors
/// One on the way can't be seen.
pub fn first_above(
    pid: i32,
    top: i32,
    is_one: impl Fn(i32) -> bool,
) -> Result<Option<i32>, HiddenProcess> {
    let proc = proc().ok_or(HiddenProcess)?;
    let mut at = pid;
    // Limits a chain of processes that come and go meanwhile.
    for _ in 0..LONGEST_DESCENT {
        if is_one(at) {
            return Ok(Some(at));
        }
        let stat = read(proc, &format!("{at}/stat")).ok_or(HiddenProcess)?;
        match parent_in(&stat).ok_or(HiddenProcess)? {
            above if above > 0 && above != top => at = above,
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// A process that can't be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HiddenProcess;

/// Returns a process and those that it descends from, up to the child of `parent`. None: it does not descend from that
/// one. All ids are the host's.
pub fn descent(pid: i32, parent: i32) -> Option<Vec<i32>> {
    let proc = proc()?;
    let mut all = vec![pid];
    // Limits a chain of processes that come and go meanwhile.
    while all.len() < LONGEST_DESCENT {
        let above = parent_in(&read(proc, &format!("{}/stat", all.last()?))?)?;
        match above {
            _ if above == parent => return Some(all),
            1.. => all.push(above),
            _ => return None,
        }
    }
    None
}

/// Returns the host's id of a process: the host's `/proc` shows it for a pidfd.
fn number(proc: BorrowedFd, pid: i32) -> Option<i32> {
    // SAFETY: takes numbers only.
    let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as i32;
    if pidfd < 0 {
        return None;
    }
    // SAFETY: the descriptor was just opened; nothing else owns it.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    let info = read(proc, &format!("self/fdinfo/{}", pidfd.as_raw_fd()))?;
    let line = info.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Pid:"))?;
    std::str::from_utf8(line).ok()?.trim().parse().ok().filter(|pid| *pid > 0)
}

/// Reads a file of `/proc` that is shorter than a page: the kernel gives all of it at once.
fn read(proc: BorrowedFd, path: &str) -> Option<Vec<u8>> {
    let path = std::ffi::CString::new(path).ok()?;
    let flags = libc::O_RDONLY | libc::O_CLOEXEC;
    // SAFETY: a path that ends with NUL.
    let file = unsafe { libc::openat(proc.as_raw_fd(), path.as_ptr(), flags) };
    if file < 0 {
        return None;
    }
    // SAFETY: the descriptor was just opened; nothing else owns it.
    let mut file = unsafe { File::from_raw_fd(file) };
    let mut text = vec![0; 4096];
    let length = file.read(&mut text).ok()?;
    text.truncate(length);
    Some(text)
}
