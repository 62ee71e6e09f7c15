//! The host's end of a keeper's lifeline.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use forkline_protocol::{Call, send};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The way to a keeper, which takes its end for the host's death.
#[derive(Debug)]
pub struct Lifeline {
    /// Where news come from.
    pub socket: OwnedFd,
    /// The keeper, a child of this process that nobody else reaps.
    pub keeper: i32,
}

/// For how long a message full of descriptors may not be taken.
pub const AGAIN: Duration = Duration::from_millis(1);
/// From one look at a keeper that takes nothing to the next.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// After so many looks it will never take anything: half a minute.
const MOST_LOOKS: u32 = 300;

impl Lifeline {
    /// Waits for a keeper that is busy, or stopped; one that hangs is killed. One that is gone need not be
    /// called.
    pub fn call(&self, call: Call, sent: &[BorrowedFd]) -> io::Result<()> {
        let message = call.encode();
        let mut looks = 0;
        loop {
            let result = send(self.socket.as_fd(), [&message, b""], sent);
            let Err(error) = result else { return Ok(()) };
            match error.raw_os_error() {
                Some(libc::EAGAIN) => {
                    let mut watched = [PollFd::new(&self.socket, PollFlags::OUT)];
                    if poll(&mut watched, Some(&LOOK)).is_err() {
                        // Not even one may be waited for, by a limit that somebody has set this process.
                        std::thread::sleep(AGAIN);
                    }
                    self.go_on();
                    looks += 1;
                    if looks == MOST_LOOKS {
                        self.kill();
                    }
                }
                // So many descriptors are on their way already, of all of this user's processes.
                Some(libc::ETOOMANYREFS | libc::ENOBUFS | libc::ENOMEM) => {
                    std::thread::sleep(AGAIN);
                }
                Some(libc::EPIPE | libc::ECONNRESET | libc::ENOTCONN) => return Ok(()),
                _ => return Err(error),
            }
        }
    }

    /// Ends it, at once, if it is still to be reaped.
    pub fn kill(&self) {
        // SAFETY: takes numbers only.
        let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, self.keeper, 0) } as i32;
        if pidfd < 0 {
            return;
        }
        // SAFETY: just opened, and nobody else's.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
        let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        let pid = self.keeper as libc::id_t;
        // SAFETY: fills the structure.
        let result = unsafe { libc::waitid(libc::P_PID, pid, info.as_mut_ptr(), flags) };
        // Our child has the number now, so it had it when the handle was opened.
        if result == 0 {
            let details = std::ptr::null::<libc::siginfo_t>();
            let pidfd = pidfd.as_raw_fd();
            // SAFETY: takes numbers, and no details of the signal.
            unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd, libc::SIGKILL, details, 0) };
        }
    }

    /// Has the keeper go on if somebody has stopped it: it looks after commands.
    pub fn go_on(&self) {
        let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        let flags = libc::WSTOPPED | libc::WNOHANG;
        let pid = self.keeper as libc::id_t;
        // SAFETY: fills the structure, which is valid as zeros too.
        let info = unsafe {
            libc::waitid(libc::P_PID, pid, info.as_mut_ptr(), flags);
            info.assume_init()
        };
        // SAFETY: for a child the kernel fills this field; zero when there is nothing to tell.
        if unsafe { info.si_pid() } == self.keeper {
            // SAFETY: takes numbers. It is our child and stopped, so its number is its own.
            unsafe { libc::kill(self.keeper, libc::SIGCONT) };
        }
    }
}
