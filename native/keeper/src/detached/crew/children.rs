//! A command whose members are descendants of this process.

use std::time::{Duration, Instant};

use forkline_launch::Launched;
use forkline_protocol::Request;

use super::{Crew, Event};
use crate::detached::denials::Report;
use crate::ending::{Effort, Ending};
use crate::late::session_nice::NiceRetry;
use crate::member_query::{MemberQuery, launch_lines};
use crate::members::{Members, kill};
use crate::wait::{self, ChildChange, Family, Remaining};

pub struct ChildCrew {
    leader: i32,
    /// Whether the leader has been reaped.
    has_ended: bool,
    members: Members,
    /// The arguments of the launched shells, by which their forks are recognized.
    launch_lines: Vec<Vec<u8>>,
    ending: Option<Ending>,
    member_query: Option<MemberQuery>,
    /// The errno that kept the command from a lower priority, and the next attempt at it.
    share: i32,
    nice_retry: Option<NiceRetry>,
}

impl ChildCrew {
    pub fn new(launched: Launched, request: &Request) -> ChildCrew {
        let Launched { pid: leader, share, .. } = launched;
        ChildCrew {
            leader,
            has_ended: false,
            members: Members::new(leader),
            launch_lines: launch_lines(&request.images),
            ending: None,
            member_query: None,
            share,
            nice_retry: NiceRetry::after(share, request.attributes.session_nice),
        }
    }

    /// Reaps the children that have ended, adopted or not. Returns whether any is left.
    fn reap(&mut self, events: &mut Vec<Event>) -> Remaining {
        let mut ended_one = false;
        loop {
            match wait::reap() {
                Family::Change(ChildChange::Ended(ended)) => {
                    if ended.pid == self.leader && !self.has_ended {
                        self.has_ended = true;
                        events.push(Event::Ended(ended));
                    }
                    ended_one = true;
                }
                Family::Change(ChildChange::Stopped(_)) => {}
                Family::Lives => break,
                Family::Empty => return Remaining::None,
            }
        }
        if ended_one {
            let now = Instant::now();
            if let Some(ending) = &mut self.ending {
                ending.member_ended(&self.members, now);
            }
            if let Some(member_query) = &mut self.member_query {
                member_query.member_ended(now);
            }
        }
        Remaining::Some
    }
}

impl Crew for ChildCrew {
    fn leader(&self) -> i32 {
        self.leader
    }

    fn act(&mut self, now: Instant) -> Vec<Event> {
        let mut events = Vec::new();
        if self.reap(&mut events) == Remaining::None {
            events.push(Event::Empty);
            return events;
        }
        let leader = (!self.has_ended).then_some(self.leader);
        let nice_retry = self.nice_retry.take_if(|nice_retry| nice_retry.due() <= now);
        if let (Some(nice_retry), Some(leader)) = (nice_retry, leader) {
            (self.share, self.nice_retry) = nice_retry.again(leader, now);
        }
        let effort = self.ending.as_mut().map(|ending| ending.act(&self.members, leader, now));
        if effort == Some(Effort::GivenUp) {
            events.push(Event::GivenUp);
        }
        let due = self.member_query.as_mut().filter(|member_query| member_query.due() <= now);
        let seen =
            due.and_then(|member_query| member_query.poll(&self.members, &self.launch_lines, now));
        if let Some(seen) = seen {
            self.member_query = None;
            events.push(Event::Seen(seen));
        }
        events
    }

    fn end(&mut self, grace: Duration, now: Instant) {
        match &mut self.ending {
            Some(ending) => ending.set_grace(grace, now),
            None => self.ending = Some(Ending::new(grace, now)),
        }
    }

    fn end_late(&mut self, grace: Duration, now: Instant) {
        if self.ending.is_none() {
            self.ending = Some(Ending::of_late(grace, self.launch_lines.clone(), now));
        }
        self.end(grace, now);
    }

    fn take_reason(&mut self) -> Option<String> {
        self.ending.as_mut()?.take_reason()
    }

    fn is_forced(&self) -> bool {
        self.ending.as_ref().is_some_and(Ending::is_forced)
    }

    fn share(&self) -> i32 {
        self.share
    }

    fn ask_for_members(&mut self, now: Instant) {
        self.member_query.get_or_insert_with(|| MemberQuery::new(now));
    }

    fn signal(&mut self, signal: i32) -> bool {
        !self.has_ended && kill(-self.leader, signal)
    }

    fn due(&self) -> Option<Instant> {
        let due = [
            self.ending.as_ref().map(Ending::due),
            self.member_query.as_ref().map(MemberQuery::due),
            self.nice_retry.as_ref().map(NiceRetry::due),
        ];
        due.into_iter().flatten().min()
    }

    fn sandbox(&mut self) -> Report {
        Report::default()
    }

    fn descriptors(&self) -> [Option<i32>; 2] {
        [None; 2]
    }
}
