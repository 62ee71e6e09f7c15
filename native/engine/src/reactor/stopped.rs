//! Detection of stopped processes. A keeper continues its cradles; the host continues its keeper, and cradles
//! whose keeper is gone.
//!
//! The kernel does not notify the host of such stops, and polling would keep an idle machine awake. So the
//! host looks for them only while an answer is late.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::reactor::Reactor;
use crate::reactor::state::command::{LiveCommand, Phase};
use crate::reactor::state::timers::Alarm;

/// The time after which an answer is late.
const UNANSWERED: Duration = Duration::from_secs(1);

impl Reactor {
    /// Sets the timer for an answer from a cradle.
    pub(super) fn expect_answer(&mut self, id: u64) {
        self.timers.set(id, Alarm::Unanswered, Instant::now() + UNANSWERED);
    }

    /// Handles a late answer: continues stopped keepers and cradles.
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

    /// Kills the cradle of a command; its keeper then ends the processes left.
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

/// Signals a cradle. The channel is open, so the cradle is alive and its process id has not been reused.
fn signal_living(cradle: i32, channel: BorrowedFd, signal: i32) {
    if cradle <= 0 {
        return;
    }
    // SAFETY: takes numbers only.
    let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, cradle, 0) } as i32;
    if pidfd < 0 {
        return;
    }
    // SAFETY: the descriptor was just opened, and nothing else owns it.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    let mut watched = [PollFd::from_borrowed_fd(channel, PollFlags::empty())];
    let none = Timespec { tv_sec: 0, tv_nsec: 0 };
    if poll(&mut watched, Some(&none)) != Ok(0) {
        return;
    }
    let details = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: takes numbers, and a null pointer for the signal's details.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal, details, 0) };
}
