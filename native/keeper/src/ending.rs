//! Ending all members of a command: SIGTERM, grace, SIGKILL, until nobody lives.
//!
//! Own children are signalled by number, which can't be reused before they are reaped. Whoever dies
//! hands his children up to us, so the tree peels; descendants are signalled as well so that all are
//! asked at once, but nothing depends on it.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::members::{LiveMember, Members, kill};
use crate::proc;

/// A command that is being ended.
#[derive(Debug)]
pub struct Ending {
    grace_over: Instant,
    forced: Option<Instant>,
    /// Asked by a signal of their own.
    terminated: HashSet<Name>,
    /// The leader's group, asked by one signal.
    group: Option<i32>,
    /// How often it was looked for somebody to ask.
    scans: u32,
    /// When that began, in clock ticks since boot.
    first_scan: u64,
    /// Whether SIGKILL has been sent.
    kill_sent: bool,
    next: Instant,
    interval: Duration,
}

/// What has come of an attempt to end all members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// The attempt continues at [`Ending::due`].
    Continues,
    /// Members have survived SIGKILL for too long; there will be no further attempt.
    GivenUp,
}

type Name = (i32, u64);

const FIRST: Duration = Duration::from_millis(1);
const LAST: Duration = Duration::from_millis(50);
/// So many looks take some hundred milliseconds: by then nobody is on his way from parent to parent.
const MOST_SCANS: u32 = 8;
/// What survives SIGKILL this long sleeps uninterruptibly or is another user's.
const UNKILLABLE: Duration = Duration::from_secs(10);

impl Ending {
    /// Begins at once.
    pub fn new(grace: Duration, now: Instant) -> Self {
        Ending {
            grace_over: later(now, grace),
            forced: grace.is_zero().then_some(now),
            terminated: HashSet::new(),
            group: None,
            scans: 0,
            first_scan: 0,
            kill_sent: false,
            next: now,
            interval: FIRST,
        }
    }

    /// Another grace from now on, unless it is over.
    pub fn set_grace(&mut self, grace: Duration, now: Instant) {
        self.grace_over = later(now, grace);
        self.next = self.next.min(self.grace_over).min(later(now, FIRST));
    }

    /// Whether SIGKILL was needed.
    pub fn is_forced(&self) -> bool {
        self.forced.is_some()
    }

    /// When there is something to do.
    pub fn due(&self) -> Instant {
        if self.forced.is_some() { self.next } else { self.next.min(self.grace_over) }
    }

    /// Somebody has ended, and may have handed children up to us.
    pub fn member_ended(&mut self, members: &Members, now: Instant) {
        if self.forced.is_some() {
            // Before they can go on.
            kill_all(&members.children());
        } else {
            self.next = self.next.min(later(now, FIRST));
        }
    }

    /// Does what is due; whether to give up. `leader`: whose group is still its own.
    pub fn act(&mut self, members: &Members, leader: Option<i32>, now: Instant) -> Effort {
        if now < self.due() {
            return Effort::Continues;
        }
        if self.forced.is_none() && now >= self.grace_over {
            self.forced = Some(now);
            self.interval = FIRST;
        }
        match self.forced {
            None => self.send_sigterm(members, leader),
            Some(since) if now.duration_since(since) >= UNKILLABLE => return Effort::GivenUp,
            Some(_) => self.send_sigkill(members, leader),
        }
        self.next = later(Instant::now(), self.interval);
        self.interval = (self.interval * 2).min(LAST);
        Effort::Continues
    }

    /// Each once: a second SIGTERM is a request of its own to many programs. A signal to a group misses
    /// who leaves it between the look and the signal, and a look misses who is just handed up because
    /// its parent dies: so there are more looks. Who is started later is started by somebody who is
    /// tidying up.
    fn send_sigterm(&mut self, members: &Members, leader: Option<i32>) {
        self.scans += 1;
        if self.scans > MOST_SCANS {
            return;
        }
        let all = members.all();
        if self.scans == 1 {
            self.first_scan = proc::ticks();
        }
        if let (Some(leader), 1) = (leader, self.scans) {
            self.group = Some(leader);
            kill(-leader, libc::SIGTERM);
            // Who is stopped acts on it only once it goes on.
            kill(-leader, libc::SIGCONT);
        }
        for member in all.iter().filter(|member| self.group != Some(member.group)) {
            let was_there = self.scans <= 2 || (1..=self.first_scan).contains(&member.started);
            if was_there && self.terminated.insert(name(member)) {
                member.signal(libc::SIGTERM);
                member.signal(libc::SIGCONT);
            }
        }
    }

    /// The leader's group and our own children at once, which is most often all there are: the others
    /// become our children as their parents die. Who is still there then is looked for.
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

fn name(member: &LiveMember) -> Name {
    (member.pid, member.started)
}

/// A grace without end is one.
fn later(now: Instant, time: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    now + time.min(YEAR)
}

#[cfg(test)]
mod tests;
