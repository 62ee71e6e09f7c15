//! What cradles say of their commands.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use forkline_protocol::{Answer, Exit as Told, Member, Start, take};
use rustix::event::epoll::EventFlags;
use rustix::time::{ClockId, clock_gettime};

use crate::errors::{LaunchError, Step};
use crate::keeper::no_keeper;
use crate::launcher::Order;
use crate::message::channel;
use crate::outcome::{BackgroundProcess, Cause, Ended, Status, Usage};
use crate::process::{Exit, Phase, Rest};
use crate::reactor::Reactor;
use crate::source::Source;
use crate::timers::Alarm;

/// Longer than any answer.
const LONGEST: usize = 96 * 1024;

impl Reactor {
    /// Reads all that a cradle has said.
    pub(crate) fn hear(&mut self, id: u64) {
        let mut not_taken = false;
        loop {
            let channel = match (self.processes.get(&id), self.leftovers.get(&id)) {
                (Some(process), _) => &process.channel,
                (None, Some(leftover)) => &leftover.channel,
                (None, None) => return,
            };
            let buffer = self.answers.get_mut(..LONGEST).unwrap_or_default();
            match take(channel.as_fd(), buffer) {
                Ok(0) => return self.channel_ended(id, not_taken),
                Ok(length) => {
                    let answer = self.answers.get(..length).and_then(Answer::decode);
                    if let Some(answer) = answer {
                        self.answered(id, answer);
                    }
                }
                // Something that we had said was not read. What was said to us before may follow.
                Err(error) if error.raw_os_error() == Some(libc::ECONNRESET) => not_taken = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn answered(&mut self, id: u64, answer: Answer) {
        let Some(process) = self.processes.get_mut(&id) else {
            return self.leftover_answered(id, &answer);
        };
        match answer {
            Answer::Started(start) => self.start_told(id, start),
            Answer::Failed { step, errno } => {
                let letter = process.sending.as_ref().map(|(letter, _)| letter.clone());
                let error = letter.map(|letter| {
                    let directory = letter.directory_name.as_deref();
                    letter.invocation.explain(step, errno, directory)
                });
                let error = error.unwrap_or_else(|| killed(step, errno));
                self.not_started(id, Ended::Failed(error));
            }
            Answer::Unwanted => self.not_started(id, Ended::NeverStarted),
            Answer::Exit(told) => self.exited(id, told),
            Answer::Empty => self.nobody_is_left(id, false),
            Answer::Signalled(sent) => {
                if let Some(told) = process.signals.pop_front() {
                    told(sent);
                }
            }
            Answer::Left { members, more } => {
                let label = process.label.clone();
                let members = members.into_iter().map(|member| described(member, &label));
                process.members.extend(members);
                if !more && process.rest == Rest::Unknown {
                    self.settle(id);
                }
            }
            Answer::Over { forced, cleared: true } => self.nobody_is_left(id, forced),
            Answer::Over { forced, cleared: false } => {
                process.rest = Rest::Unkillable;
                self.ended(id, forced);
            }
        }
    }

    fn start_told(&mut self, id: u64, start: Start) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        if let Phase::Starting { .. } = process.phase {
            (process.pid, process.cradle) = (start.pid, start.cradle);
            process.started = moment(start.at);
            self.started(id);
        }
    }

    /// The leader has ended.
    fn exited(&mut self, id: u64, told: Told) {
        self.start_told(id, told.start);
        let Some(process) = self.processes.get_mut(&id) else { return };
        let directory = PathBuf::from(OsString::from_vec(told.directory));
        process.directory = Some(directory).filter(|path| path.is_absolute());
        if told.empty {
            process.rest = Rest::Gone;
        }
        let usage = Usage {
            user: Duration::from_micros(told.user),
            system: Duration::from_micros(told.system),
            peak: told.peak,
        };
        let wall = moment(told.at).saturating_duration_since(process.started);
        let exit = Exit { cause: Cause::Itself, status: told.status, usage, wall, forced: false };
        match process.phase {
            Phase::Ending(cause, _) => {
                process.phase = Phase::Ending(cause, Some(Exit { cause, ..exit }));
                // It had ended by itself before it heard that it was to end.
                if told.empty {
                    self.ended(id, false);
                }
            }
            _ => self.over(id, exit),
        }
    }

    fn nobody_is_left(&mut self, id: u64, forced: bool) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        process.rest = Rest::Gone;
        process.members.clear();
        self.ended(id, forced);
    }

    /// All that a command that was ended has left is gone, or can't be ended; or it has just gone.
    fn ended(&mut self, id: u64, forced: bool) {
        let Some(process) = self.processes.get(&id) else { return };
        match process.phase {
            Phase::Ending(cause, exit) => {
                let now = Instant::now();
                // A leader that can't be ended has no status.
                let exit = exit.unwrap_or(Exit {
                    cause,
                    status: Status::Unknown,
                    usage: Usage::default(),
                    wall: now.saturating_duration_since(process.started),
                    forced,
                });
                self.over(id, Exit { forced, ..exit });
            }
            Phase::Asking(_) => self.settle(id),
            Phase::Draining(..) => self.check_drained(id),
            _ => {}
        }
    }

    /// The cradle has closed its end.
    fn channel_ended(&mut self, id: u64, not_taken: bool) {
        if let Some(leftover) = self.leftovers.remove(&id) {
            self.unwatch(leftover.channel.as_fd());
            return self.advance_disposals();
        }
        let Some(process) = self.processes.get_mut(&id) else { return };
        if let Phase::Starting { cancelled } = process.phase {
            return match (not_taken, cancelled) {
                (true, false) => self.send_again(id),
                (true, true) => self.not_started(id, Ended::NeverStarted),
                (false, _) => {
                    self.not_started(id, Ended::Failed(killed(Step::Keeper, libc::ECONNRESET)));
                }
            };
        }
        let _ = rustix::event::epoll::delete(&self.epoll, &process.channel);
        if process.rest != Rest::Gone && process.rest != Rest::Lost {
            self.cradle_was_killed(id);
        }
    }

    /// Nobody has seen the request: its keeper has died, or was replaced.
    fn send_again(&mut self, id: u64) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        let Some((letter, keeper)) = process.sending.clone() else { return };
        if let Some(errno) = keeper.fault() {
            let error = io::Error::from_raw_os_error(errno);
            return self.not_started(id, Ended::Failed(no_keeper(error)));
        }
        let (ours, theirs) = match channel() {
            Ok(both) => both,
            Err(error) => {
                let error = LaunchError::new(Step::Descriptors, &error, "a channel");
                return self.not_started(id, Ended::Failed(error));
            }
        };
        let _ = rustix::event::epoll::delete(&self.epoll, &process.channel);
        process.channel = ours;
        let Some(process) = self.processes.get(&id) else { return };
        self.watch(process.channel.as_fd(), id, Source::Channel, EventFlags::IN);
        self.orders.put(Order::Again(id, letter, theirs, keeper));
    }

    /// Its keeper ends what is left, if that was not killed too, and says so.
    fn cradle_was_killed(&mut self, id: u64) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        process.rest = Rest::Lost;
        let member = BackgroundProcess {
            pid: process.pid,
            group: process.pid,
            command: process.label.clone(),
        };
        process.members = vec![member];
        if self.keepers.iter().any(|keeper| keeper.fault().is_none()) {
            self.timers.set(id, Alarm::Lost, Instant::now() + LOST);
        } else {
            self.lost(id);
        }
    }

    /// Of the command whose cradle was killed, this is all that will be known.
    pub(crate) fn lost(&mut self, id: u64) {
        self.timers.cancel(id, Alarm::Lost);
        let Some(process) = self.processes.get_mut(&id) else { return };
        match process.phase {
            Phase::Running => process.phase = Phase::Ending(Cause::Itself, None),
            Phase::Ending(..) | Phase::Asking(_) => {}
            _ => return,
        }
        self.ended(id, false);
    }

    /// A keeper has ended what a cradle that was killed has left, or could not.
    pub(crate) fn cradle_cleared(&mut self, cradle: i32, cleared: bool) {
        let of_cradle = self.processes.values_mut().filter(|process| process.cradle == cradle);
        let mut lost = Vec::new();
        for process in of_cradle {
            if cleared {
                process.members.clear();
            }
            lost.push(process.id);
        }
        for id in lost {
            // The channel may be read only after this.
            self.hear(id);
            if self.processes.get(&id).is_some_and(|process| process.rest == Rest::Lost) {
                if cleared && let Some(process) = self.processes.get_mut(&id) {
                    process.rest = Rest::Gone;
                    process.members.clear();
                }
                self.lost(id);
            }
        }
    }
}

/// The keeper tries for so long, and a little more.
const LOST: Duration = Duration::from_secs(15);

fn killed(step: Step, errno: i32) -> LaunchError {
    LaunchError { step, errno, subject: "the command, whose parent was killed".to_owned() }
}

fn described(member: Member, label: &str) -> BackgroundProcess {
    let command = match member.command {
        Some(words) => String::from_utf8_lossy(&words).into_owned(),
        None => label.to_owned(),
    };
    BackgroundProcess { pid: member.pid, group: member.group, command }
}

/// By the clock that all processes have.
fn moment(at: u64) -> Instant {
    let clock = clock_gettime(ClockId::Monotonic);
    let now = clock.tv_sec as u64 * 1_000_000_000 + clock.tv_nsec as u64;
    let instant = Instant::now();
    let ago = Duration::from_nanos(now.saturating_sub(at));
    instant.checked_sub(ago).unwrap_or(instant)
}
