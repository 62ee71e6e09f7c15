//! The host, as its crew knows it: what shows that it has ended, and what wakes whoever is stopped by then.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use forkline_launch::Step;
use forkline_protocol::{Answer, pair, send, take};

use crate::signals;

/// Our parent, as long as it is the host; readable once it has ended.
pub fn parent_pidfd() -> Option<OwnedFd> {
    // SAFETY: takes numbers; 0 is nobody.
    let host = unsafe { libc::syscall(libc::SYS_pidfd_open, libc::getppid(), 0) } as i32;
    // SAFETY: just opened, and nobody else's.
    (host >= 0).then(|| unsafe { OwnedFd::from_raw_fd(host) })
}

/// Tells the cradles of a keeper that the host is gone, whoever may still hold their channels.
///
/// No signal does, since anybody may send one. This has no name and no second end: only who has inherited
/// it can say so, and a keeper that is killed has not said it.
pub struct HostGone(OwnedFd);

impl HostGone {
    pub fn new() -> io::Result<HostGone> {
        // SAFETY: takes numbers only.
        let event = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if event < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just made, and nobody else's.
        Ok(HostGone(unsafe { OwnedFd::from_raw_fd(event) }))
    }

    /// For all of them, and those to come: nobody reads it, so it stays readable.
    pub fn tell(&self) {
        let one = 1_u64.to_ne_bytes();
        // SAFETY: reads the bytes, of which it is told the length.
        unsafe { libc::write(self.0.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Readable once that is told.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// From now on the calling process goes on, if somebody has stopped it, when its parent ends.
pub fn continue_at_parent_death() {
    // SAFETY: takes numbers only. To a process that is not stopped this signal is nothing; so it does not
    // matter that it comes with the end of a mere thread of the parent as well.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGCONT) };
}

/// From now on the calling process goes on, if somebody has stopped it, whenever there is something to
/// read here, the end among it.
pub fn continue_on_input(socket: BorrowedFd) {
    // SAFETY: takes nothing.
    let own = unsafe { libc::getpid() };
    set_owner(socket, own);
    signal_by_sigcont(socket);
}

/// Has a command that is stopped go on when its cradle ends, however that ends: with the signal that asks
/// it to end then (its parent's death is told by SIGTERM), it would stay stopped for ever, where the keeper
/// is not there any more to see to it.
///
/// The kernel tells of the end of the other end of a socket by a signal. A cradle has both ends of these,
/// and tells each of the other's: whichever is closed first, in its last moments, wakes the command.
pub struct Waker([OwnedFd; 2]);

impl Waker {
    pub fn new() -> io::Result<Waker> {
        let (one, other) = pair()?;
        let ends = [one, other];
        ends.iter().for_each(|end| signal_by_sigcont(end.as_fd()));
        Ok(Waker(ends))
    }

    /// For the group of this leader, from now on.
    pub fn wakes(&self, leader: i32) {
        self.0.iter().for_each(|end| set_owner(end.as_fd(), -leader));
    }
}

/// Whom the kernel tells what happens here: a process, or, below 0, a group. It remembers who that is, and
/// does not take who gets the number later for it.
fn set_owner(socket: BorrowedFd, whom: i32) {
    // SAFETY: takes numbers only.
    unsafe { libc::fcntl(socket.as_raw_fd(), libc::F_SETOWN, whom) };
}

/// That it tells, and by which signal.
fn signal_by_sigcont(socket: BorrowedFd) {
    const F_SETSIG: libc::c_int = 10;
    // SAFETY: take numbers only. No call here relies on a socket's other flags, which are cleared.
    unsafe {
        libc::fcntl(socket.as_raw_fd(), F_SETSIG, libc::SIGCONT);
        libc::fcntl(socket.as_raw_fd(), libc::F_SETFL, libc::O_ASYNC);
    }
}

/// What ties a cradle to its host, and its command to it.
#[derive(Clone, Copy)]
pub struct Ties<'cradle> {
    /// The way to the host.
    pub channel: BorrowedFd<'cradle>,
    /// Readable once the host is gone. None: the host may leave it behind.
    pub host_gone: Option<BorrowedFd<'cradle>>,
    /// None: there are no descriptors left.
    pub waker: Option<&'cradle Waker>,
}

/// The kernel may be short of memory for so long: these times a hundredth of a second.
const TRIES: u32 = 100;
const AGAIN: Duration = Duration::from_millis(10);

/// Tells the host, in a cradle. A host that is gone need not be told anything; but one that waits for an
/// answer must not wait for ever: a cradle that can't give it ends, and its keeper sees to what it has left
/// and says so.
pub fn tell(ties: Ties, answer: &Answer) {
    let message = answer.encode();
    for _ in 0..TRIES {
        match deliver(ties, &message) {
            Ok(()) => return,
            Err(libc::ENOBUFS | libc::ENOMEM) => std::thread::sleep(AGAIN),
            Err(_) => break,
        }
    }
    // SAFETY: ends this process, which has nothing to write or to tidy.
    unsafe { libc::_exit(1) }
}

/// Waits for a host that is stopped, or has much to read.
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

/// No cradle can be made: whoever waits for this one is told so.
pub fn refuse(channel: &OwnedFd, errno: i32) {
    // Else the host would take it for a request that nobody has seen.
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

    /// Whether somebody would be told, for as long as nobody reads it.
    fn is_told(host_gone: &HostGone) -> bool {
        let fd = host_gone.descriptor().as_raw_fd();
        let mut watched = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one of them, which outlives the call; it does not wait.
        (unsafe { libc::poll(&mut watched, 1, 0) }) == 1
    }

    #[test]
    fn that_the_host_is_gone_is_told_to_all_and_to_those_to_come() {
        let host_gone = HostGone::new().unwrap();
        assert!(!is_told(&host_gone));
        host_gone.tell();
        assert_eq!([is_told(&host_gone), is_told(&host_gone)], [true, true]);
    }

    fn sleeper(group: i32) -> Child {
        Command::new("sleep").arg("60").process_group(group).spawn().unwrap()
    }

    /// Waits until the child has stopped, or has gone on; whether it has.
    fn has(child: &Child, change: libc::c_int) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(20) {
            // SAFETY: takes numbers, and may put nothing anywhere; the child has not been reaped.
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
    fn all_of_a_group_that_is_stopped_go_on_when_its_cradle_is_gone() {
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
