//! Keepers and cradles that somebody has stopped, or who are never to go on. A keeper has its cradles go on;
//! the host its keeper, and a cradle that has no keeper any more.
//!
//! Nothing tells the host of it, and to look all the time would keep an idle machine awake. So it looks
//! when it waits for an answer and there is none.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::reactor::Reactor;
use crate::reactor::state::command::{LiveCommand, Phase};
use crate::reactor::state::timers::Alarm;

/// An answer that has not come for this long may never come.
const UNANSWERED: Duration = Duration::from_secs(1);

impl Reactor {
    /// Something has been asked of a cradle.
    pub(super) fn expect_answer(&mut self, id: u64) {
        self.timers.set(id, Alarm::Unanswered, Instant::now() + UNANSWERED);
    }

    /// Nobody has answered yet.
    pub(super) fn unanswered(&mut self, id: u64) {
        for keeper in &self.keepers {
            keeper.lifeline.go_on();
        }
        self.signal_cradle(id, libc::SIGCONT);
        self.handle_silence(id);
        let again = match (self.commands.get(&id), self.leftovers.get(&id)) {
            (Some(command), _) => command.awaits_answer(),
            (None, Some(leftover)) => leftover.is_ending && !leftover.given_up,
            (None, None) => return,
        };
        if again || self.has_members_request(id) {
            self.expect_answer(id);
        }
    }

    /// The cradle of a command ends, wherever it is; its keeper then ends what it has left.
    pub(super) fn kill_cradle(&self, id: u64) {
        self.signal_cradle(id, libc::SIGKILL);
    }

    fn signal_cradle(&self, id: u64, signal: i32) {
        let (cradle, pid) = match (self.commands.get(&id), self.leftovers.get(&id)) {
            (Some(command), _) => (command.cradle.as_ref(), command.cradle_pid),
            (None, Some(leftover)) => (Some(&leftover.cradle), leftover.cradle_pid),
            (None, None) => return,
        };
        if let Some(cradle) = cradle {
            signal_living(pid, cradle.channel.as_fd(), signal);
        }
    }
}

impl LiveCommand {
    fn awaits_answer(&self) -> bool {
        let awaits_answer =
            matches!(self.phase, Phase::Starting { .. } | Phase::Ending(..) | Phase::Asking(_));
        awaits_answer || !self.signals.is_empty()
    }
}

/// As long as its channel is open, the cradle lives, and nobody else has its number.
fn signal_living(cradle: i32, channel: BorrowedFd, signal: i32) {
    if cradle <= 0 {
        return;
    }
    // SAFETY: takes numbers only.
    let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, cradle, 0) } as i32;
    if pidfd < 0 {
        return;
    }
    // SAFETY: just opened, and nobody else's.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    let mut watched = [PollFd::from_borrowed_fd(channel, PollFlags::empty())];
    let none = Timespec { tv_sec: 0, tv_nsec: 0 };
    if poll(&mut watched, Some(&none)) != Ok(0) {
        return;
    }
    let details = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: takes numbers, and no details of the signal.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal, details, 0) };
}
