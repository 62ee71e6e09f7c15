//! The host, as the keeper and its cradles see it: how its end shows, and what continues stopped
//! processes then.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use forkline_launch::Step;
use forkline_protocol::{Answer, pair, send, take};

use crate::outside;
use crate::signals;

/// Returns a pidfd of the parent process, which is the host. It is readable once the host has ended.
pub fn parent_pidfd() -> Option<OwnedFd> {
    // SAFETY: takes numbers; opening process 0 fails.
    let host = unsafe { libc::syscall(libc::SYS_pidfd_open, libc::getppid(), 0) } as i32;
    // SAFETY: the descriptor was just opened; nothing else owns it.
    (host >= 0).then(|| unsafe { OwnedFd::from_raw_fd(host) })
}

/// Tells the cradles of a keeper that the host is gone, even if other processes hold their channels open.
///
/// A signal would not do, since any process may send one. An eventfd has no name and no other end: only a
/// process that has inherited it can write to it, and the death of the keeper does not write to it.
pub struct HostGone(OwnedFd);

impl HostGone {
    pub fn new() -> io::Result<HostGone> {
        // SAFETY: takes numbers only.
        let event = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if event < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just made; nothing else owns it.
        Ok(HostGone(unsafe { OwnedFd::from_raw_fd(event) }))
    }

    /// Tells all cradles, and those made later: the eventfd is never read, so it stays readable.
    pub fn announce(&self) {
        let one = 1_u64.to_ne_bytes();
        // SAFETY: reads as many bytes as it is told.
        unsafe { libc::write(self.0.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Returns the eventfd, which is readable once `announce` was called.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Has SIGCONT continue the calling process, if it is stopped, when its parent ends.
pub fn continue_at_parent_death() {
    // SAFETY: takes numbers only. SIGCONT does nothing to a process that is not stopped, so it does not
    // matter that the end of a thread of the parent sends it as well.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGCONT) };
}

/// Has SIGCONT continue the calling process, if it is stopped, whenever the socket is readable, end of
/// file included.
pub fn continue_on_input(socket: BorrowedFd) {
    // SAFETY: takes nothing.
    let own = unsafe { libc::getpid() };
    set_owner(socket, own);
    signal_by_sigcont(socket);
}

/// Continues a stopped command when its cradle ends, in whatever way. The cradle's death sends SIGTERM to
/// the command, which would stay stopped for ever where no keeper is left to continue it.
///
/// The kernel signals the owner of a socket when the other end is closed. A cradle has both ends of a
/// socket pair, each owned by the command's group: the end that is closed first, at the cradle's exit,
/// makes the other one signal the group.
pub struct Waker([OwnedFd; 2]);

impl Waker {
    pub fn new() -> io::Result<Waker> {
        let (one, other) = pair()?;
        let ends = [one, other];
        ends.iter().for_each(|end| signal_by_sigcont(end.as_fd()));
        Ok(Waker(ends))
    }

    /// Makes the process group of this leader the owner, from now on.
    pub fn wakes(&self, leader: i32) {
        self.0.iter().for_each(|end| set_owner(end.as_fd(), -leader));
    }
}

/// Sets the process, or (if negative) the process group, that the kernel signals for this socket. The
/// kernel refers to the process itself, not to its number, which may be reused.
fn set_owner(socket: BorrowedFd, whom: i32) {
    // SAFETY: takes numbers only.
    unsafe { libc::fcntl(socket.as_raw_fd(), libc::F_SETOWN, whom) };
}

/// Has the kernel signal the owner of a socket, by SIGCONT.
fn signal_by_sigcont(socket: BorrowedFd) {
    const F_SETSIG: libc::c_int = 10;
    // SAFETY: take numbers only. The socket's other flags are cleared; no call here relies on them.
    unsafe {
        libc::fcntl(socket.as_raw_fd(), F_SETSIG, libc::SIGCONT);
        libc::fcntl(socket.as_raw_fd(), libc::F_SETFL, libc::O_ASYNC);
    }
}

/// The connections of a cradle to its host, and of a command to its cradle.
#[derive(Clone, Copy)]
pub struct Ties<'cradle> {
    /// The channel to the host.
    pub channel: BorrowedFd<'cradle>,
    /// Readable once the host is gone. None: the host may leave the cradle behind.
    pub host_gone: Option<BorrowedFd<'cradle>>,
    /// None: the limit of descriptors has been reached.
    pub waker: Option<&'cradle Waker>,
}

/// How often to try again while the kernel is short of memory, a hundredth of a second each time.
const TRIES: u32 = 100;
const AGAIN: Duration = Duration::from_millis(10);

/// Sends an answer to the host, in a cradle. A host that is gone needs no answer. A host that is alive
/// must not wait for ever: if the answer can't be sent, this cradle ends, and its keeper ends the
/// command's members and tells the host.
pub fn send_answer(ties: Ties, answer: &Answer) {
    if let Answer::Exit(_) = answer {
        outside::settle();
    }
    let message = answer.encode();
    for _ in 0..TRIES {
        match deliver(ties, &message) {
            Ok(()) => return,
            Err(libc::ENOBUFS | libc::ENOMEM) => std::thread::sleep(AGAIN),
            Err(_) => break,
        }
    }
    // SAFETY: ends this process, which has nothing to write or to clean up.
    unsafe { libc::_exit(1) }
}

/// Sends a message. Waits while the host is stopped, or has much to read.
fn deliver(ties: Ties, message: &[u8]) -> Result<(), i32> {
    let host_gone = ties.host_gone.map(|host_gone| (host_gone, libc::POLLIN));
    let mut gone = 0;
    loop {
        let Err(error) = send(ties.channel, [message, b""], &[]) else { return Ok(()) };
        match error.raw_os_error() {
            Some(libc::EAGAIN) if gone == 0 => {
                [_, gone] = signals::wait([Some((ties.channel, libc::POLLOUT)), host_gone], None);
            }
            Some(libc::EAGAIN | libc::EPIPE | libc::ECONNRESET | libc::ENOTCONN) => return Ok(()),
            errno => return Err(errno.unwrap_or(0)),
        }
    }
}

/// Tells the host, in the keeper, that the cradle for this channel can't be made.
pub fn refuse(channel: &OwnedFd, errno: i32) {
    // Reads the request: otherwise the host would take it for one that no cradle has read.
    let _ = take(channel.as_fd(), &mut [0; 16]);
    let answer = Answer::Failed { step: Step::Clone, errno }.encode();
    let _ = send(channel.as_fd(), [&answer, b""], &[]);
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};
    use std::time::Instant;

    use super::*;

    /// Returns whether the host's end has been told.
    fn is_told(host_gone: &HostGone) -> bool {
        let fd = host_gone.descriptor().as_raw_fd();
        let mut watched = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one structure, which outlives the call; does not wait.
        (unsafe { libc::poll(&mut watched, 1, 0) }) == 1
    }

    #[test]
    fn the_end_of_the_host_is_told_to_present_and_later_cradles() {
        let host_gone = HostGone::new().unwrap();
        assert!(!is_told(&host_gone));
        host_gone.announce();
        assert_eq!([is_told(&host_gone), is_told(&host_gone)], [true, true]);
    }

    fn sleeper(group: i32) -> Child {
        Command::new("sleep").arg("60").process_group(group).spawn().unwrap()
    }

    /// Waits until the child has stopped, or has continued. Returns whether it has.
    fn has(child: &Child, change: libc::c_int) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(20) {
            // SAFETY: takes numbers and a null pointer; the child has not been reaped.
            let changed = unsafe {
                libc::waitpid(child.id() as i32, std::ptr::null_mut(), change | libc::WNOHANG)
            };
            if changed != 0 {
                return changed > 0;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        false
    }

    #[test]
    fn a_stopped_group_continues_when_its_cradle_is_gone() {
        let leader = sleeper(0);
        let other = sleeper(leader.id() as i32);
        let waker = Waker::new().unwrap();
        waker.wakes(leader.id() as i32);
        // SAFETY: takes numbers; the leader has not been reaped.
        unsafe { libc::kill(-(leader.id() as i32), libc::SIGSTOP) };
        let all = [leader, other];
        let have_stopped = all.each_ref().map(|child| has(child, libc::WUNTRACED));
        drop(waker);
        let have_gone_on = all.each_ref().map(|child| has(child, libc::WCONTINUED));
        for mut child in all {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert_eq!((have_stopped, have_gone_on), ([true; 2], [true; 2]));
    }
}
