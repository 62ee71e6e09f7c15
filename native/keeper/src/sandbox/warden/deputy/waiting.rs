//! Opens files that may have to be waited for: a named pipe, until another process opens it too; a file
//! with a lease, until that has been given up. The caller can be gone meanwhile.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::thread;
use std::time::Duration;

use rustix::fs::{FileType, fstat};

use crate::signals;

/// How often it is looked whether the wait is over.
const PAUSE: Duration = Duration::from_millis(5);
/// The flags that can be changed in an open file.
const CHANGEABLE: i32 =
    libc::O_APPEND | libc::O_NONBLOCK | libc::O_DIRECT | libc::O_NOATIME | libc::O_ASYNC;

/// Opens a file with these flags, and waits as the kernel would. `stands`: whether the caller still waits.
/// `is_pipe`: whether what is to be opened is a named pipe.
pub fn open_patiently(
    flags: i32,
    stands: &dyn Fn() -> bool,
    is_pipe: impl Fn() -> bool,
    open: impl Fn(i32) -> Result<OwnedFd, i32>,
) -> Result<OwnedFd, i32> {
    if flags & libc::O_NONBLOCK != 0 {
        return open(flags);
    }
    let file = loop {
        match open(flags | libc::O_NONBLOCK) {
            Err(libc::EWOULDBLOCK) if stands() => {}
            Err(libc::ENXIO) if is_pipe() && stands() => {}
            result => break result?,
        }
        thread::sleep(PAUSE);
    };
    while flags & libc::O_ACCMODE == libc::O_RDONLY && has_no_writer(&file) {
        if !stands() {
            return Err(libc::EINTR);
        }
        thread::sleep(PAUSE);
    }
    // SAFETY: takes numbers only.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags & CHANGEABLE) };
    Ok(file)
}

/// Returns whether this is a named pipe that nobody has opened for writing since.
fn has_no_writer(file: &OwnedFd) -> bool {
    let kind = fstat(file).map(|status| FileType::from_raw_mode(status.st_mode));
    if kind != Ok(FileType::Fifo) {
        return false;
    }
    // Something was written, or a writer has come and gone.
    let [ready] = signals::wait([Some((file.as_fd(), libc::POLLIN))], Some(Duration::ZERO));
    let Ok((_rest, copy)) = io::pipe() else { return false };
    // SAFETY: takes numbers only. Takes nothing out of the pipe; while there is a writer, more can come.
    let result =
        || unsafe { libc::tee(file.as_raw_fd(), copy.as_raw_fd(), 1, libc::SPLICE_F_NONBLOCK) };
    ready == 0 && result() == 0
}
