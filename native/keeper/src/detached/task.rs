//! A detached command from its launch until nobody of it is left.

mod service;

use std::time::{Duration, Instant};

use forkline_protocol::task::{Answer, Cause, End, Stage};
use forkline_protocol::{Detached, Member, Status};

use super::client::Client;
use super::clients::Clients;
use super::input::Input;
use super::output::Output;
use super::record::{Record, now as epoch};
use crate::command::launch_lines;
use crate::ending::Ending;
use crate::line;
use crate::looking::Looking;
use crate::members::Members;
use crate::wait::{self, Change, Ended, Family};

/// So many members are told at once.
const MOST_TOLD: usize = 256;

const UNKNOWN: Ended = Ended { pid: 0, status: Status::Unknown, cpu: [0; 2], peak: 0 };

fn end_of(ended: &Ended, started: Instant) -> End {
    End {
        status: ended.status,
        user: ended.cpu[0],
        system: ended.cpu[1],
        peak: ended.peak,
        wall: u64::try_from(started.elapsed().as_micros()).unwrap_or(0),
        at: epoch(),
        ..End::default()
    }
}

pub struct Task {
    leader: i32,
    started: Instant,
    timeout: Duration,
    grace: Duration,
    output: Output,
    input: Option<Input>,
    record: Record,
    clients: Clients,
    members: Members,
    /// By their arguments forks of our shells are known.
    launch_lines: Vec<Vec<u8>>,
    /// How the leader ended, once it has been reaped.
    end: Option<End>,
    /// Why it is ended, if it is.
    cause: Cause,
    ending: Option<Ending>,
    looking: Option<Looking>,
    /// Its time was up while it still ran.
    is_late: bool,
}

impl Task {
    pub fn new(
        order: &Detached,
        leader: i32,
        started: Instant,
        output: Output,
        input: Option<Input>,
        record: Record,
        clients: Clients,
    ) -> Task {
        Task {
            leader,
            started,
            timeout: order.timeout,
            grace: order.grace,
            output,
            input,
            record,
            clients,
            members: Members::new(leader),
            launch_lines: launch_lines(&order.request.images),
            end: None,
            cause: Cause::Itself,
            ending: None,
            looking: None,
            is_late: false,
        }
    }

    pub fn leader(&self) -> i32 {
        self.leader
    }

    /// Until nobody is left.
    pub fn keep(mut self) {
        while !self.reap() {
            let now = Instant::now();
            self.mind_the_time(now);
            self.serve();
            self.act(now);
            self.clients.tell(self.record.state());
            self.wait();
        }
        self.nobody_is_left();
    }

    /// Ends it: nobody knows of it.
    pub fn give_up(mut self) {
        self.output.waive_line();
        self.begin_end(self.grace, Cause::Ended);
        self.keep();
    }

    /// Takes everybody that has ended, adopted or not; whether nobody is left.
    fn reap(&mut self) -> bool {
        let mut ended_one = false;
        loop {
            match wait::next() {
                Family::Change(Change::Ended(ended)) => {
                    if ended.pid == self.leader && self.end.is_none() {
                        self.end = Some(end_of(&ended, self.started));
                    }
                    ended_one = true;
                }
                Family::Change(Change::Stopped(_)) => {}
                Family::Lives => break,
                Family::Empty => return true,
            }
        }
        if ended_one {
            let now = Instant::now();
            if let Some(ending) = &mut self.ending {
                ending.somebody_ended(&self.members, now);
            }
            if let Some(looking) = &mut self.looking {
                looking.somebody_ended(now);
            }
        }
        false
    }

    /// The limit is the leader's: what has outlived it was let be.
    fn mind_the_time(&mut self, now: Instant) {
        if self.end.is_some() || self.is_late || now.duration_since(self.started) < self.timeout {
            return;
        }
        self.is_late = true;
        self.begin_end(self.grace, Cause::TimedOut);
    }

    /// An end that is under way gets this grace, and keeps its cause.
    fn begin_end(&mut self, grace: Duration, cause: Cause) {
        let now = Instant::now();
        match &mut self.ending {
            Some(ending) => ending.set_grace(grace, now),
            None => {
                if self.end.is_none() {
                    self.cause = cause;
                }
                self.ending = Some(Ending::new(grace, now));
            }
        }
    }

    /// Does what is due.
    fn act(&mut self, now: Instant) {
        let leader = self.end.is_none().then_some(self.leader);
        let given_up =
            self.ending.as_mut().is_some_and(|ending| ending.act(&self.members, leader, now));
        if given_up {
            // Not even the command's own process, perhaps: its status will not be known.
            self.end.get_or_insert_with(|| end_of(&UNKNOWN, self.started));
            self.note_forced();
            self.ending = None;
            self.clients.each(|client| client.tell_over(false));
        }
        if self.has_ended_alone() {
            self.write_line();
        }
        let is_asked = self.clients.inside().iter().any(Client::asks_who);
        if self.looking.is_none() && (is_asked || self.has_ended_alone()) {
            self.looking = Some(Looking::new(now));
        }
        let due = self.looking.as_mut().filter(|looking| looking.due() <= now);
        let Some(looking) = due else { return };
        if let Some(seen) = looking.look(&self.members, &self.launch_lines, now) {
            self.looking = None;
            self.these_are_there(seen);
        }
    }

    /// The leader has ended, nobody ends the rest, and that has not been told yet.
    fn has_ended_alone(&self) -> bool {
        let is_told = self.record.state().stage != Stage::Running;
        self.end.is_some() && self.ending.is_none() && !is_told
    }

    fn these_are_there(&mut self, mut seen: Vec<Member>) {
        let total = seen.len() as u64;
        seen.truncate(MOST_TOLD);
        if self.has_ended_alone() {
            let end = End { left: seen.clone(), total_left: total, ..self.settled_end() };
            self.set_stage(Stage::Left(end));
        }
        let answer = Answer::Members { members: seen, total };
        self.clients.each(|client| client.tell_members(&answer));
    }

    fn note_forced(&mut self) {
        let forced = self.ending.as_ref().is_some_and(Ending::is_forced);
        if let Some(end) = &mut self.end {
            end.forced |= forced && self.cause != Cause::Itself;
        }
    }

    /// With all that is known now.
    fn settled_end(&mut self) -> End {
        let (output, cut) = self.output.sizes();
        End { output, cut, cause: self.cause, ..self.end.clone().unwrap_or_default() }
    }

    fn write_line(&mut self) {
        let end = self.settled_end();
        self.output.write_line(match end.cause {
            Cause::TimedOut => line::End::TimedOut(self.timeout),
            Cause::Itself | Cause::Ended => line::End::Itself(end.status),
        });
    }

    fn set_stage(&mut self, stage: Stage) {
        self.record.set_stage(stage);
        self.clients.each(Client::notice);
    }

    fn nobody_is_left(&mut self) {
        self.end.get_or_insert_with(|| end_of(&UNKNOWN, self.started));
        self.note_forced();
        let told = match &self.record.state().stage {
            Stage::Left(end) => Some((end.left.clone(), end.total_left)),
            _ => None,
        };
        let (left, total_left) = told.unwrap_or_default();
        let end = End { left, total_left, ..self.settled_end() };
        self.set_stage(Stage::Ended { end, gone: epoch() });
        self.clients.unlink();
        // Last: who has read it may remove everything.
        self.write_line();
        let state = self.record.state();
        self.clients.each(|client| {
            client.tell_over(true);
            client.tell_members(&Answer::Members { members: Vec::new(), total: 0 });
            client.feed(&mut None);
            // Who does not take it now finds it in the record.
            client.send(state);
        });
    }

    fn wait(&mut self) {
        let now = Instant::now();
        let late = self.started.checked_add(self.timeout);
        let due = [
            Some(now + self.output.hold()),
            late.filter(|_| self.end.is_none() && !self.is_late),
            self.ending.as_ref().map(Ending::due),
            self.looking.as_ref().map(Looking::due),
            self.clients.due(now),
        ];
        let is_writing = self.clients.inside().iter().any(Client::is_writing);
        let pipe = self.input.as_ref().filter(|_| is_writing).and_then(Input::descriptor);
        let pipe = pipe.map(|fd| libc::pollfd { fd, events: libc::POLLOUT, revents: 0 });
        let time = due.into_iter().flatten().min();
        self.clients.wait(pipe, time.map(|due| due.saturating_duration_since(Instant::now())));
    }
}
