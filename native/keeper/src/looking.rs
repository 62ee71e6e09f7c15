//! Who is left, told by name: once those who are just becoming another program have become it.

use std::time::{Duration, Instant};

use forkline_launch::Image;
use forkline_protocol::Member;

use crate::members::{LiveMember, Members};
use crate::{outside, proc};

/// A question for who is left that has not been answered yet.
#[derive(Debug)]
pub struct Looking {
    since: Instant,
    /// What was seen last, and since when it has been so.
    seen: Vec<Seen>,
    same_since: Instant,
    next: Instant,
    interval: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    pid: i32,
    group: i32,
    started: u64,
    arguments: Vec<u8>,
}

const FIRST: Duration = Duration::from_millis(1);
const LAST: Duration = Duration::from_millis(16);
/// One that has been the same for this long although it is at work will stay so.
const SAME: Duration = Duration::from_millis(100);
/// Not to be waited for any longer.
const PATIENCE: Duration = Duration::from_millis(500);
const LONGEST_NAME: usize = 200;

impl Looking {
    pub fn new(now: Instant) -> Self {
        Looking { since: now, seen: Vec::new(), same_since: now, next: now, interval: FIRST }
    }

    /// Somebody has ended: what has been seen is no longer so.
    pub fn member_ended(&mut self, now: Instant) {
        self.next = self.next.min(now + FIRST);
    }

    /// When to look.
    pub fn due(&self) -> Instant {
        self.next
    }

    /// Looks, when it is due; None: not yet. `launch_lines`: arguments with which nothing has been run
    /// but our shells. An empty answer proves nothing.
    pub fn look(
        &mut self,
        members: &Members,
        launch_lines: &[Vec<u8>],
        now: Instant,
    ) -> Option<Vec<Member>> {
        let (all, seen) = see_all(members);
        if seen != self.seen {
            self.same_since = now;
        }
        let settled = !all.is_empty() && !all.iter().any(|member| member.busy)
            || now.duration_since(self.same_since) >= SAME
            || now.duration_since(self.since) >= PATIENCE;
        if settled {
            return Some(all.iter().zip(&seen).map(|both| tell(both, launch_lines)).collect());
        }
        self.seen = seen;
        self.next = now + self.interval;
        self.interval = (self.interval * 2).min(LAST);
        None
    }
}

/// The arguments of each, as `/proc` tells them.
pub fn launch_lines(images: &[Image]) -> Vec<Vec<u8>> {
    let line = |image: &Image| {
        image.argv.iter().map(|argument| argument.as_bytes_with_nul()).collect::<Vec<_>>().concat()
    };
    images.iter().map(line).collect()
}

/// Who is left now, without waiting.
pub fn tell_at_once(members: &Members, launch_lines: &[Vec<u8>]) -> Vec<Member> {
    let (all, seen) = see_all(members);
    all.iter().zip(&seen).map(|both| tell(both, launch_lines)).collect()
}

fn see_all(members: &Members) -> (Vec<LiveMember>, Vec<Seen>) {
    let mut all = members.all();
    all.sort_by_key(|member| member.pid);
    let seen = all.iter().map(see).collect();
    (all, seen)
}

fn see(member: &LiveMember) -> Seen {
    let arguments = if member.started == 0 { Vec::new() } else { proc::arguments(member.pid) };
    Seen { pid: member.pid, group: member.group, started: member.started, arguments }
}

fn tell((member, seen): (&LiveMember, &Seen), launch_lines: &[Vec<u8>]) -> Member {
    let command = if launch_lines.contains(&seen.arguments) { None } else { named(member, seen) };
    let (pid, group) = outside::pid_and_group(member.pid, member.group);
    Member { pid, group, command }
}

/// Its arguments separated by blanks, or its name in brackets, as `ps` shows it.
fn named(member: &LiveMember, seen: &Seen) -> Option<Vec<u8>> {
    if member.started == 0 {
        return None;
    }
    let words = seen.arguments.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    let mut line = words.collect::<Vec<_>>().join(&b' ');
    if line.is_empty() {
        let name = proc::name(member.pid)?;
        return Some([b"[", &name[..], b"]"].concat());
    }
    line.truncate(LONGEST_NAME * 4);
    let line: String = String::from_utf8_lossy(&line).chars().take(LONGEST_NAME).collect();
    Some(line.into_bytes())
}

#[cfg(test)]
mod tests;
