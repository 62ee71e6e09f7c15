//! Answers of cradles.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use forkline_protocol::{Answer, Exit, Start, take};
use rustix::time::{ClockId, clock_gettime};

use crate::command::errors::{LaunchError, Step};
use crate::command::outcome::{Cause, Ended, Status, Usage};
use crate::reactor::Reactor;
use crate::reactor::cradles::ChannelEnd;
use crate::reactor::state::command::{CommandExit, Phase, Rest};

/// The size of the buffer for one answer, in bytes; all answers are shorter.
const LONGEST: usize = 96 * 1024;

impl Reactor {
    /// Reads all answers that a command's cradle has sent.
    pub(super) fn read_answers(&mut self, id: u64) {
        let mut end = ChannelEnd::AllRead;
        loop {
            let cradle = match (self.commands.get(&id), self.leftovers.get(&id)) {
                (Some(command), _) => command.cradle.as_ref(),
                (None, Some(leftover)) => Some(&leftover.cradle),
                (None, None) => None,
            };
            let Some(cradle) = cradle else { return };
            let buffer = self.answers.get_mut(..LONGEST).unwrap_or_default();
            match take(cradle.channel.as_fd(), buffer) {
                Ok(0) => return self.channel_ended(id, end),
                Ok(length) => {
                    self.cradle_answered(id);
                    let answer = self.answers.get(..length).and_then(Answer::decode);
                    if let Some(answer) = answer {
                        self.answered(id, answer);
                    }
                }
                // The cradle has not read some message of ours. Answers that it sent before may follow.
                Err(error) if error.raw_os_error() == Some(libc::ECONNRESET) => {
                    end = ChannelEnd::SomeUnread;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn answered(&mut self, id: u64, answer: Answer) {
        let Some(command) = self.commands.get_mut(&id) else {
            return self.leftover_answered(id, &answer);
        };
        match answer {
            Answer::Started(start) => self.start_told(id, start),
            // It was asked about, and the question has been answered by its cancellation.
            Answer::Failed { step: Step::Exec, errno: libc::EACCES } if command.is_withdrawn() => {
                self.not_started(id, Ended::NeverStarted);
            }
            Answer::Failed { step, errno } => {
                let error = command.letter.as_ref().map(|letter| {
                    let directory = letter.directory_name.as_deref();
                    letter.invocation.explain(step, errno, directory)
                });
                let error = error.unwrap_or_else(|| LaunchError {
                    step,
                    errno,
                    subject: "the command".to_owned(),
                    why: None,
                });
                self.not_started(id, Ended::Failed(error));
            }
            Answer::Unwanted => self.not_started(id, Ended::NeverStarted),
            Answer::Unfit { errno, why } => self.handle_unfit_cradle(id, errno, 0, &why),
            // This answer is for keepers of detached commands.
            Answer::Stands(_) => {}
            // What the keeper has seen comes after what is known here.
            Answer::Reason(reason) => command.reason = command.reason.take().or(Some(reason)),
            Answer::Exit(told) => self.exited(id, told),
            Answer::Empty => self.all_members_gone(id, false),
            Answer::Signalled(sent) => {
                if let Some(told) = command.signals.pop_front() {
                    told(sent);
                }
            }
            Answer::Left { members, more } => {
                let label = command.label();
                command.add_members(&members, &label, more);
                let is_complete = !more && command.rest == Rest::Unknown;
                self.members_told(id, &members, &label, more);
                if is_complete {
                    self.make_result(id);
                }
            }
            Answer::Over { forced, cleared: true } => self.all_members_gone(id, forced),
            Answer::Over { forced, cleared: false } => {
                command.rest = Rest::Unkillable;
                self.handle_members_end(id, forced);
            }
        }
    }

    fn start_told(&mut self, id: u64, start: Start) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        if let Phase::Starting { .. } = command.phase {
            (command.pid, command.cradle_pid) = (start.pid, start.cradle);
            let at = moment(start.at);
            // The wait for an answer is not its own time.
            command.started = command.allowed_at.map_or(at, |allowed| at.max(allowed));
            self.started(id);
        }
    }

    /// Notes that the leader has ended.
    fn exited(&mut self, id: u64, told: Exit) {
        self.start_told(id, told.start);
        let Some(command) = self.commands.get_mut(&id) else { return };
        command.priority_errno = told.start.share;
        let directory = PathBuf::from(OsString::from_vec(told.directory));
        command.directory = Some(directory).filter(|path| path.is_absolute());
        if told.empty {
            command.rest = Rest::Gone;
            command.members.clear();
        }
        let usage = Usage {
            user: Duration::from_micros(told.user),
            system: Duration::from_micros(told.system),
            peak: told.peak,
        };
        let wall = moment(told.at).saturating_duration_since(command.started);
        let exit =
            CommandExit { cause: Cause::Itself, status: told.status, usage, wall, forced: false };
        self.orders.ended(id);
        let phase = command.phase;
        if let Phase::Ending(cause, _) = phase {
            command.phase = Phase::Ending(cause, Some(CommandExit { cause, ..exit }));
        }
        if told.empty {
            self.release(id);
        }
        match phase {
            // The command had ended by itself before the cradle read that it was to end.
            Phase::Ending(..) if told.empty => self.handle_members_end(id, false),
            Phase::Ending(..) => {}
            _ => self.handle_end(id, exit),
        }
    }

    fn all_members_gone(&mut self, id: u64, forced: bool) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        command.rest = Rest::Gone;
        command.members.clear();
        self.release(id);
        self.handle_members_end(id, forced);
    }

    /// Notes that all members of a command are gone, or that some can't be ended.
    pub(super) fn handle_members_end(&mut self, id: u64, forced: bool) {
        let Some(command) = self.commands.get(&id) else { return };
        match command.phase {
            Phase::Ending(cause, exit) => {
                let now = Instant::now();
                // There is no status for a leader that can't be ended.
                let exit = exit.unwrap_or(CommandExit {
                    cause,
                    status: Status::Unknown,
                    usage: Usage::default(),
                    wall: now.saturating_duration_since(command.started),
                    forced,
                });
                self.handle_end(id, CommandExit { forced, ..exit });
            }
            Phase::Asking(_) => self.make_result(id),
            Phase::Draining(..) => self.check_drained(id),
            _ => {}
        }
    }
}

/// Converts a time of the monotonic clock, in nanoseconds, which all processes share.
fn moment(at: u64) -> Instant {
    let clock = clock_gettime(ClockId::Monotonic);
    let now = clock.tv_sec as u64 * 1_000_000_000 + clock.tv_nsec as u64;
    let instant = Instant::now();
    let ago = Duration::from_nanos(now.saturating_sub(at));
    instant.checked_sub(ago).unwrap_or(instant)
}
