//! The readers of pipelines among a command's members. An ending spares them at first: once the programs that
//! write to them have ended, they see end of file and print what they hold, as `tail` and `sort` do.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use crate::members::{LiveMember, MemberName};
use crate::sight::calls::{self, Activity};
use crate::sight::descriptors;

/// In commands with more members, all are ended at once: looking at each would take too long.
const MOST_MEMBERS: usize = 2048;
/// The most time before SIGKILL in which readers may print, if what writes to them ignores SIGTERM.
const MOST_LEAD: Duration = Duration::from_millis(500);

/// The readers that are spared.
#[derive(Debug, Default)]
pub struct Readers {
    /// The pipe that each reads.
    pipes: HashMap<MemberName, u64>,
    /// What is done next, and when; the later steps come after it.
    steps: Vec<(Instant, ReaderStep)>,
}

/// What becomes of readers that are still there, or of what writes to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReaderStep {
    /// SIGTERM to readers to whom nothing writes any more: they have had time to print.
    AskReaders,
    /// SIGKILL to what holds a reader's pipe and is no reader.
    KillWriters,
    /// SIGKILL to readers, to whom nothing writes any more, that other readers wait for.
    KillMiddle,
}

impl Readers {
    /// Finds the readers among all members. `over`: the end of the grace.
    pub fn find(all: &[LiveMember], grace: Duration, over: Instant) -> Readers {
        if all.len() < 2 || all.len() > MOST_MEMBERS {
            return Readers::default();
        }
        let mut readers = Readers { pipes: fed(all), steps: Vec::new() };
        readers.schedule(grace, over);
        readers
    }

    /// Schedules what is left to do for a grace that ends then.
    pub fn schedule(&mut self, grace: Duration, over: Instant) {
        if self.pipes.is_empty() {
            return;
        }
        let lead = (grace / 4).min(MOST_LEAD);
        let before = |time: Duration| over.checked_sub(time).unwrap_or(over);
        self.steps = vec![
            (before(lead / 2), ReaderStep::KillMiddle),
            (before(lead), ReaderStep::KillWriters),
            (before(grace / 2), ReaderStep::AskReaders),
        ];
    }

    pub fn is_empty(&self) -> bool {
        self.pipes.is_empty()
    }

    /// Returns whether any reader is left.
    pub fn are_left(&self, all: &[LiveMember]) -> bool {
        all.iter().any(|member| self.contains(&member.name()))
    }

    pub fn contains(&self, name: &MemberName) -> bool {
        self.pipes.contains_key(name)
    }

    /// Returns the members that have started a reader, or what has started it.
    pub fn ancestors(&self, all: &[LiveMember]) -> HashSet<i32> {
        let mut found = HashSet::new();
        for reader in all.iter().filter(|member| self.contains(&member.name())) {
            let mut parent = reader.parent;
            while parent != 0 && found.insert(parent) {
                parent = all
                    .iter()
                    .find(|member| member.pid == parent)
                    .map_or(0, |member| member.parent);
            }
        }
        found
    }

    /// Returns when the next step is due.
    pub fn due(&self) -> Option<Instant> {
        self.steps.last().map(|(due, _)| *due)
    }

    /// Takes the next step that is due.
    pub fn take_step(&mut self, now: Instant) -> Option<ReaderStep> {
        self.steps.pop_if(|(due, _)| *due <= now).map(|(_, step)| step)
    }

    /// Returns the members to whom a step applies.
    pub fn concerned<'a>(&self, step: ReaderStep, all: &'a [LiveMember]) -> Vec<&'a LiveMember> {
        let left = || all.iter().filter(|member| self.contains(&member.name()));
        let wanted: HashSet<u64> =
            left().filter_map(|member| self.pipes.get(&member.name()).copied()).collect();
        let holds = |member: &LiveMember, pipe: u64| descriptors::writes_to(member.pid, pipe);
        let is_fed = |reader: &LiveMember| {
            let pipe = self.pipes.get(&reader.name());
            pipe.is_some_and(|pipe| all.iter().any(|other| holds(other, *pipe)))
        };
        match step {
            ReaderStep::AskReaders => left().filter(|reader| !is_fed(reader)).collect(),
            ReaderStep::KillWriters => {
                let others = all.iter().filter(|member| !self.contains(&member.name()));
                others.filter(|other| wanted.iter().any(|pipe| holds(other, *pipe))).collect()
            }
            ReaderStep::KillMiddle => {
                let is_middle =
                    |reader: &&LiveMember| wanted.iter().any(|pipe| holds(reader, *pipe));
                left().filter(|reader| !is_fed(reader)).filter(is_middle).collect()
            }
        }
    }
}

/// Returns the readers, and the pipe of each, that other members write to: those at whose beginning is a
/// program that reads no pipe.
fn fed(all: &[LiveMember]) -> HashMap<MemberName, u64> {
    let mut candidates: HashMap<MemberName, u64> = HashMap::new();
    for member in all.iter().filter(|member| may_read(member)) {
        if let Some(pipe) = descriptors::pipe(member.pid, 0) {
            candidates.insert(member.name(), pipe);
        }
    }
    if candidates.is_empty() {
        return candidates;
    }
    let mut writers: HashMap<u64, Vec<MemberName>> = HashMap::new();
    for member in all.iter().filter(|member| member.started != 0) {
        for descriptor in [1, 2] {
            if let Some(pipe) = descriptors::pipe(member.pid, descriptor) {
                writers.entry(pipe).or_default().push(member.name());
            }
        }
    }
    candidates.retain(|_, pipe| writers.contains_key(pipe));
    for member in all {
        // One that was stopped goes on with SIGCONT.
        if !member.stopped && candidates.contains_key(&member.name()) && !takes_input(member.pid) {
            candidates.remove(&member.name());
        }
    }
    let mut found: HashMap<MemberName, u64> = HashMap::new();
    loop {
        let is_fed = |(reader, pipe): &(&MemberName, &u64)| {
            !found.contains_key(reader)
                && writers.get(pipe).is_some_and(|writers| {
                    let begins = |other: &MemberName| {
                        !candidates.contains_key(other) || found.contains_key(other)
                    };
                    writers.iter().any(|other| other != *reader && begins(other))
                })
        };
        let more: Vec<(MemberName, u64)> =
            candidates.iter().filter(is_fed).map(|(reader, pipe)| (*reader, *pipe)).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// A process with children is a shell that would go on with its loop, or waits for another one.
fn may_read(member: &LiveMember) -> bool {
    member.started != 0 && !member.has_children
}

/// Returns whether a process seems to wait for its input, or works on it. One that sleeps or waits for
/// something else would not see the end of its input soon.
fn takes_input(pid: i32) -> bool {
    let Some(activities) = calls::activities(pid) else { return true };
    activities.iter().any(|activity| match activity {
        Activity::Runs => true,
        Activity::Sleeps(call) => call.is_for_data(),
    })
}
