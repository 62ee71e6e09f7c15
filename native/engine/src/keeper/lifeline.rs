//! The host's end of a keeper's lifeline.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use forkline_protocol::{Call, send};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The socket to a keeper, which takes its end as the host's death.
#[derive(Debug)]
pub struct Lifeline {
    /// The socket, on which the keeper also reports news.
    pub socket: OwnedFd,
    /// The process id of the keeper, a child of this process that only the engine reaps.
    pub keeper: i32,
}

/// The pause before a message is sent again that the kernel does not accept for its descriptors.
pub const AGAIN: Duration = Duration::from_millis(1);
/// The time from one look at a keeper that reads nothing to the next.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// The number of looks, half a minute in all, after which the keeper is taken to hang.
const MOST_LOOKS: u32 = 300;

impl Lifeline {
    /// Sends a call. Waits for a keeper that is busy or stopped, and kills one that hangs. Succeeds if the
    /// keeper is gone.
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
                        // Even one descriptor may be too many for poll, by a resource limit of this process.
                        std::thread::sleep(AGAIN);
                    }
                    self.go_on();
                    looks += 1;
                    if looks == MOST_LOOKS {
                        self.kill();
                    }
                }
                // Too many descriptors are in transit, counted over all processes of this user.
                Some(libc::ETOOMANYREFS | libc::ENOBUFS | libc::ENOMEM) => {
                    std::thread::sleep(AGAIN);
                }
                Some(libc::EPIPE | libc::ECONNRESET | libc::ENOTCONN) => return Ok(()),
                _ => return Err(error),
            }
        }
    }

    /// Kills the keeper at once, if it has not been reaped.
    pub fn kill(&self) {
        // SAFETY: takes numbers only.
        let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, self.keeper, 0) } as i32;
        if pidfd < 0 {
            return;
        }
        // SAFETY: the descriptor was just opened, and nothing else owns it.
        let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
        let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        let pid = self.keeper as libc::id_t;
        // SAFETY: fills the structure.
        let result = unsafe { libc::waitid(libc::P_PID, pid, info.as_mut_ptr(), flags) };
        // The process id is still our child's, so it was when the pidfd was opened.
        if result == 0 {
            let details = std::ptr::null::<libc::siginfo_t>();
            let pidfd = pidfd.as_raw_fd();
            // SAFETY: takes numbers, and a null pointer for the signal's details.
            unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd, libc::SIGKILL, details, 0) };
        }
    }

    /// Continues the keeper if it has been stopped.
    pub fn go_on(&self) {
        let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        let flags = libc::WSTOPPED | libc::WNOHANG;
        let pid = self.keeper as libc::id_t;
        // SAFETY: fills the structure, which is valid as zeros too.
        let info = unsafe {
            libc::waitid(libc::P_PID, pid, info.as_mut_ptr(), flags);
            info.assume_init()
        };
        // SAFETY: for a child the kernel fills this field; zero when there is no state to report.
        if unsafe { info.si_pid() } == self.keeper {
            // SAFETY: takes numbers. The process is our child and stopped, so its id has not been reused.
            unsafe { libc::kill(self.keeper, libc::SIGCONT) };
        }
    }
}
