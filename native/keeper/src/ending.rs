//! Ends all members of a command: SIGTERM, grace, SIGKILL, until no member is left.
//!
//! Children of this process are signalled by process id, which is not reused before they are reaped.
//! Children of a member that dies become children of this process. All descendants are signalled, so that
//! they end at the same time, but nothing depends on that.
//!
//! A pipeline ends from the left: its readers get no SIGTERM at first, but end of file.

mod readers;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::members::{LiveMember, MemberName, Members, kill};
use crate::proc;
use crate::sight::reason::{self, Scene};
use readers::{ReaderStep, Readers};

/// The ending of a command.
#[derive(Debug)]
pub struct Ending {
    grace: Duration,
    grace_over: Instant,
    forced: Option<Instant>,
    /// Whether some member was sent SIGKILL within the grace.
    killed_one: bool,
    /// Members that are spared at first.
    readers: Readers,
    /// The arguments of the launched shells, if a look for the reason is still to be made.
    to_look: Option<Vec<Vec<u8>>>,
    /// What the members were seen to do, until it is told.
    reason: Option<String>,
    /// Members that have been sent SIGTERM individually.
    terminated: HashSet<MemberName>,
    /// The leader's process group, which was sent SIGTERM as a whole.
    group: Option<i32>,
    /// The leader's process group, whose members are signalled individually.
    parted: Option<i32>,
    /// The leader, while it is stopped: the end of a terminal's session leader ends all that is in the
    /// foreground there, readers too.
    held: Option<i32>,
    /// The number of scans for members to send SIGTERM to.
    scans: u32,
    /// The time of the first scan, in clock ticks since boot.
    first_scan: u64,
    /// Whether SIGKILL has been sent.
    kill_sent: bool,
    next: Instant,
    interval: Duration,
}

/// The result of an attempt to end all members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// The attempt continues at [`Ending::due`].
    Continues,
    /// Members have survived SIGKILL for too long; there will be no further attempt.
    GivenUp,
}

const FIRST: Duration = Duration::from_millis(1);
const LAST: Duration = Duration::from_millis(50);
/// The number of scans, which take some hundred milliseconds: by then no member is between two parents.
const MOST_SCANS: u32 = 8;
/// A process that survives SIGKILL for this long sleeps uninterruptibly, or is another user's.
const UNKILLABLE: Duration = Duration::from_secs(10);

impl Ending {
    /// Begins at once.
    pub fn new(grace: Duration, now: Instant) -> Self {
        Ending {
            grace,
            grace_over: later(now, grace),
            forced: grace.is_zero().then_some(now),
            killed_one: false,
            readers: Readers::default(),
            to_look: None,
            reason: None,
            terminated: HashSet::new(),
            group: None,
            parted: None,
            held: None,
            scans: 0,
            first_scan: 0,
            kill_sent: false,
            next: now,
            interval: FIRST,
        }
    }

    /// The same for a command whose time is over: looks at what its members do, before they are ended.
    /// `launch_lines`: the arguments of the shells that were launched.
    pub fn of_late(grace: Duration, launch_lines: Vec<Vec<u8>>, now: Instant) -> Self {
        Ending { to_look: Some(launch_lines), ..Ending::new(grace, now) }
    }

    /// Returns what the members were seen to do, once, as [`reason::reason`] words it.
    pub fn take_reason(&mut self) -> Option<String> {
        self.reason.take()
    }

    /// Sets another grace from now on, unless the grace is over.
    pub fn set_grace(&mut self, grace: Duration, now: Instant) {
        self.grace = grace;
        self.grace_over = later(now, grace);
        self.readers.schedule(grace, self.grace_over);
        self.next = self.next.min(self.grace_over).min(later(now, FIRST));
    }

    /// Returns whether SIGKILL was needed.
    pub fn is_forced(&self) -> bool {
        self.forced.is_some() || self.killed_one
    }

    /// Returns when [`Ending::act`] is due.
    pub fn due(&self) -> Instant {
        if self.forced.is_some() {
            return self.next;
        }
        let next = self.next.min(self.grace_over);
        self.readers.due().map_or(next, |due| due.min(next))
    }

    /// Takes note that a member has ended, whose children may have become ours.
    pub fn member_ended(&mut self, members: &Members, now: Instant) {
        if self.forced.is_some() {
            // Before they can fork.
            kill_all(&members.children());
        } else {
            self.next = self.next.min(later(now, FIRST));
        }
    }

    /// Does overdue work. Returns whether to give up. `leader`: the process id, while it has not been
    /// reaped.
    pub fn act(&mut self, members: &Members, leader: Option<i32>, now: Instant) -> Effort {
        if now < self.due() {
            return Effort::Continues;
        }
        if self.forced.is_none() && now >= self.grace_over {
            self.forced = Some(now);
            self.interval = FIRST;
        }
        let seen = self.look(members, leader);
        match self.forced {
            None => {
                self.send_sigterm(members, leader, seen);
                self.end_readers(members, now);
            }
            Some(since) if now.duration_since(since) >= UNKILLABLE => return Effort::GivenUp,
            Some(_) => self.send_sigkill(members, leader),
        }
        self.next = later(Instant::now(), self.interval);
        self.interval = (self.interval * 2).min(LAST);
        Effort::Continues
    }

    /// Looks for the reason why the command has not ended, if that is still to be done. Returns all members
    /// that were seen.
    fn look(&mut self, members: &Members, leader: Option<i32>) -> Option<Vec<LiveMember>> {
        let launch_lines = self.to_look.take()?;
        let all = members.all();
        let readers = Readers::find(&all, self.grace, self.grace_over);
        let is_reader = |member: &LiveMember| readers.contains(&member.name());
        let scene = Scene { all: &all, leader, launch_lines: &launch_lines, is_reader: &is_reader };
        self.reason = reason::reason(&scene);
        Some(all)
    }

    /// Sends SIGTERM to each member once: many programs take a second one for another request. A signal
    /// to a group misses a process that leaves it between the scan and the signal, and a scan misses a
    /// process that is just being handed up because its parent dies: so there are several scans. A
    /// process that is started later is part of a member's cleanup, and is spared.
    fn send_sigterm(
        &mut self,
        members: &Members,
        leader: Option<i32>,
        seen: Option<Vec<LiveMember>>,
    ) {
        self.scans += 1;
        if self.scans > MOST_SCANS {
            return;
        }
        let all = seen.unwrap_or_else(|| members.all());
        if self.scans == 1 {
            self.first_scan = proc::ticks();
            self.readers = Readers::find(&all, self.grace, self.grace_over);
        }
        match leader {
            Some(leader) if self.scans == 1 && self.readers.is_empty() => {
                self.group = Some(leader);
                kill(-leader, libc::SIGTERM);
                // A stopped process acts on SIGTERM only once it continues.
                kill(-leader, libc::SIGCONT);
            }
            _ if self.scans == 1 => self.parted = leader,
            _ => {}
        }
        // Parents come before their children: a shell must not go on when a program of it has ended. Those of
        // readers come before all, since a reader ends with what writes to it.
        let waiting = self.readers.ancestors(&all);
        let asked = all.iter().filter(|member| self.group != Some(member.group));
        let (first, later): (Vec<_>, Vec<_>) =
            asked.partition(|member| waiting.contains(&member.pid));
        for member in first.into_iter().chain(later) {
            if self.readers.contains(&member.name()) {
                if self.scans == 1 {
                    member.signal(libc::SIGCONT);
                }
            } else if self.was_there(member, &all) && self.terminated.insert(member.name()) {
                if self.parted == Some(member.pid) && member.terminal {
                    self.held = Some(member.pid);
                    member.signal(libc::SIGSTOP);
                } else {
                    member.signal(libc::SIGTERM);
                    member.signal(libc::SIGCONT);
                }
            }
        }
    }

    /// Returns whether a member was there at the first scan, or was started by one that had not had its
    /// signal yet.
    fn was_there(&self, member: &LiveMember, all: &[LiveMember]) -> bool {
        let is_old = (1..=self.first_scan).contains(&member.started);
        // Most of a command is in the leader's group, where a process may be started by a cleanup at once.
        let is_cleanup = self.scans > 1
            && Some(member.group) == self.parted
            && all.iter().any(|parent| {
                parent.pid == member.parent && self.terminated.contains(&parent.name())
            });
        (self.scans <= 2 || is_old) && !is_cleanup
    }

    /// Ends readers of pipelines, and what keeps them from their end of file, while the grace lasts.
    fn end_readers(&mut self, members: &Members, now: Instant) {
        let step = self.readers.take_step(now);
        if step.is_none() && self.held.is_none() {
            return;
        }
        let all = members.all();
        if step == Some(ReaderStep::KillMiddle) || !self.readers.are_left(&all) {
            self.release(&all);
        }
        if let Some(step) = step {
            for member in self.readers.concerned(step, &all) {
                if step == ReaderStep::AskReaders {
                    if self.terminated.insert(member.name()) {
                        member.signal(libc::SIGTERM);
                    }
                } else {
                    self.killed_one = true;
                    member.signal(libc::SIGKILL);
                }
            }
        }
    }

    /// Sends SIGTERM to a leader that was stopped. Not before: had it not stopped yet, it would end first.
    fn release(&mut self, all: &[LiveMember]) {
        let Some(held) = self.held.take() else { return };
        for leader in all.iter().filter(|member| member.pid == held && member.own) {
            leader.signal(libc::SIGTERM);
            leader.signal(libc::SIGCONT);
        }
    }

    /// Sends SIGKILL to the leader's group and to the children of this process, which are usually all
    /// members: the others become our children as their parents die. Later calls scan for all members.
    fn send_sigkill(&mut self, members: &Members, leader: Option<i32>) {
        if let Some(leader) = leader {
            kill(-leader, libc::SIGKILL);
        }
        if self.kill_sent {
            members.all().iter().for_each(|member| member.signal(libc::SIGKILL));
        } else {
            kill_all(&members.children());
        }
        self.kill_sent = true;
    }
}

fn kill_all(children: &[i32]) {
    for pid in children {
        kill(*pid, libc::SIGKILL);
    }
}

/// Adds a time, of at most a year, so that an unlimited grace does not overflow.
fn later(now: Instant, time: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    now + time.min(YEAR)
}

#[cfg(test)]
mod tests;
