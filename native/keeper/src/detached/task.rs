//! A detached command, from its launch until no member of it is left.

mod service;
mod terminal;

use std::time::{Duration, Instant};

use forkline_protocol::task::{EndCause, Stage, TaskAnswer, TaskEnd};
use forkline_protocol::{Detached, Member, Status};

use super::client::Client;
use super::clients::Clients;
use super::crew::{Crew, Event};
use super::denials::Report;
use super::input::StdinPipe;
use super::output::OutputFile;
use super::record::{Record, now as epoch};
use super::streams::CommandStreams;
use super::terminal::KeptTerminal;
use crate::completion_line::Completion;
use crate::wait::EndedChild;

/// The most members in one answer.
const MOST_TOLD: usize = 256;

const UNKNOWN: EndedChild = EndedChild { pid: 0, status: Status::Unknown, cpu: [0; 2], peak: 0 };

fn end_of(ended: &EndedChild, started: Instant) -> TaskEnd {
    TaskEnd {
        status: ended.status,
        user: ended.cpu[0],
        system: ended.cpu[1],
        peak: ended.peak,
        wall: u64::try_from(started.elapsed().as_micros()).unwrap_or(0),
        at: epoch(),
        ..TaskEnd::default()
    }
}

pub struct Task {
    started: Instant,
    timeout: Duration,
    grace: Duration,
    output: OutputFile,
    input: Option<StdinPipe>,
    terminal: Option<KeptTerminal>,
    record: Record,
    clients: Clients,
    crew: Box<dyn Crew>,
    /// The end of the leader, once it has been reaped.
    end: Option<TaskEnd>,
    /// What has ordered the end, if it was ordered.
    cause: EndCause,
    is_ending: bool,
    /// Whether the time limit was over while the leader ran.
    is_late: bool,
    /// What the members were seen to do at the time limit; empty: nothing.
    reason: String,
}

/// Whether members of a command are left.
enum CrewState {
    Present,
    Empty,
    /// Not known: the cradle is lost.
    Lost,
}

impl Task {
    pub fn new(
        order: &Detached,
        crew: Box<dyn Crew>,
        started: Instant,
        CommandStreams { output, input, terminal }: CommandStreams,
        record: Record,
        clients: Clients,
    ) -> Task {
        Task {
            started,
            timeout: order.timeout,
            grace: order.grace,
            output,
            input,
            terminal,
            record,
            clients,
            crew,
            end: None,
            cause: EndCause::Itself,
            is_ending: false,
            is_late: false,
            reason: String::new(),
        }
    }

    pub fn leader(&self) -> i32 {
        self.crew.leader()
    }

    /// Runs until no member is left. If the cradle is lost, the record stays as it is.
    pub fn keep(mut self) {
        loop {
            match self.poll_crew() {
                CrewState::Present => {}
                CrewState::Empty => return self.finish(),
                CrewState::Lost => return,
            }
            let now = Instant::now();
            self.check_timeout(now);
            self.drain_terminal();
            self.serve();
            self.tell_end(now);
            self.clients.send_state(self.record.state(), self.terminal.as_ref());
            self.wait();
        }
    }

    /// Ends the command, of which no process has been told.
    pub fn give_up(mut self) {
        self.output.skip_line();
        self.begin_end(self.grace, EndCause::Ended);
        self.keep();
    }

    fn poll_crew(&mut self) -> CrewState {
        let events = self.crew.act(Instant::now());
        if let Some(reason) = self.crew.take_reason() {
            self.reason = reason;
        }
        for event in events {
            match event {
                Event::Ended(ended) => self.end = Some(end_of(&ended, self.started)),
                Event::Seen(seen) => self.members_seen(seen),
                Event::GivenUp => self.crew_given_up(),
                Event::Empty => return CrewState::Empty,
                Event::Lost => return CrewState::Lost,
            }
        }
        CrewState::Present
    }

    /// Ends the command at its time limit. The limit applies to the leader: members that outlive it are
    /// left alone.
    fn check_timeout(&mut self, now: Instant) {
        if self.end.is_some() || self.is_late || now.duration_since(self.started) < self.timeout {
            return;
        }
        self.is_late = true;
        self.begin_end(self.grace, EndCause::TimedOut);
    }

    /// Orders the end. If an end is under way, it gets this grace and keeps its cause.
    fn begin_end(&mut self, grace: Duration, cause: EndCause) {
        if !std::mem::replace(&mut self.is_ending, true) && self.end.is_none() {
            self.cause = cause;
            self.hang_up();
        }
        match cause {
            EndCause::TimedOut => self.crew.end_late(grace, Instant::now()),
            EndCause::Itself | EndCause::Ended => self.crew.end(grace, Instant::now()),
        }
    }

    fn crew_given_up(&mut self) {
        // The leader may be among the members that can't be ended: its status stays unknown.
        self.end.get_or_insert_with(|| end_of(&UNKNOWN, self.started));
        self.note_forced();
        self.is_ending = false;
        self.clients.each(|client| client.answer_end(false));
    }

    /// Writes the completion line if it is due. Asks for the members that are left if the leader has
    /// ended, or a client wants to know.
    fn tell_end(&mut self, now: Instant) {
        if self.has_ended_alone() {
            self.write_line();
        }
        if self.has_ended_alone() || self.clients.connected().iter().any(Client::asks_for_members) {
            self.crew.ask_for_members(now);
        }
    }

    /// Returns whether the leader has ended, no end was ordered, and the stage has not been told yet.
    fn has_ended_alone(&self) -> bool {
        let is_told = self.record.state().stage != Stage::Running;
        self.end.is_some() && !self.is_ending && !is_told
    }

    fn members_seen(&mut self, mut seen: Vec<Member>) {
        let total = seen.len() as u64;
        seen.truncate(MOST_TOLD);
        if self.has_ended_alone() {
            let end = TaskEnd { left: seen.clone(), total_left: total, ..self.settled_end() };
            self.set_stage(Stage::Left(end));
        }
        let answer = TaskAnswer::Members { members: seen, total };
        self.clients.each(|client| client.answer_members(&answer));
    }

    fn note_forced(&mut self) {
        let forced = self.crew.is_forced();
        if let Some(end) = &mut self.end {
            end.forced |= forced && self.cause != EndCause::Itself;
        }
    }

    /// Returns the end with all that is known now.
    fn settled_end(&mut self) -> TaskEnd {
        self.drain_terminal();
        let (output, cut) = self.output.sizes();
        let Report { text: sandbox, more: more_denied, is_unheard: unheard, is_alone: alone } =
            self.crew.sandbox();
        let end = self.end.clone().unwrap_or_default();
        let (cause, share, reason) = (self.cause, self.crew.share(), self.reason.clone());
        TaskEnd { reason, output, cut, cause, sandbox, more_denied, unheard, alone, share, ..end }
    }

    fn write_line(&mut self) {
        let end = self.settled_end();
        self.output.write_line(match end.cause {
            EndCause::TimedOut => Completion::TimedOut(self.timeout),
            EndCause::Itself | EndCause::Ended => Completion::Itself(end.status),
        });
    }

    fn set_stage(&mut self, stage: Stage) {
        self.record.set_stage(stage);
        self.clients.each(Client::mark_stale);
    }

    fn finish(&mut self) {
        self.end.get_or_insert_with(|| end_of(&UNKNOWN, self.started));
        self.note_forced();
        let told = match &self.record.state().stage {
            Stage::Left(end) => Some((end.left.clone(), end.total_left)),
            _ => None,
        };
        let (left, total_left) = told.unwrap_or_default();
        let end = TaskEnd { left, total_left, ..self.settled_end() };
        self.set_stage(Stage::Ended { end, gone: epoch() });
        self.clients.unlink();
        // Last of all: a client that reads the line may remove all files.
        self.write_line();
        let state = self.record.state();
        self.clients.each(|client| {
            client.answer_end(true);
            client.answer_members(&TaskAnswer::Members { members: Vec::new(), total: 0 });
            client.write_input(&mut None);
            // A client that does not read it now finds it in the record.
            client.send(state, self.terminal.as_ref());
        });
    }

    fn wait(&mut self) {
        self.output.take();
        let now = Instant::now();
        let late = self.started.checked_add(self.timeout);
        let due = [
            late.filter(|_| self.end.is_none() && !self.is_late),
            self.crew.due(),
            self.clients.due(now),
        ];
        let is_writing = self.clients.connected().iter().any(Client::is_writing);
        let input = self.input.as_ref().filter(|_| is_writing).and_then(StdinPipe::descriptor);
        let [crew, denials] = self.crew.descriptors();
        let others = [
            (input, libc::POLLOUT),
            (crew, libc::POLLIN),
            (denials, libc::POLLIN),
            (self.output.descriptor(), libc::POLLIN),
            (self.terminal.as_ref().and_then(KeptTerminal::descriptor), libc::POLLIN),
        ];
        let time = due.into_iter().flatten().min();
        self.clients.wait(others, time.map(|due| due.saturating_duration_since(Instant::now())));
    }
}
