//! Names the members that are left, once those that are just executing another program have done so.

use std::time::{Duration, Instant};

use forkline_launch::Image;
use forkline_protocol::Member;

use crate::members::{LiveMember, Members};
use crate::{outside, proc};

/// A question for the members that are left, not answered yet.
#[derive(Debug)]
pub struct MemberQuery {
    since: Instant,
    /// The last scan.
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
/// A busy member whose name has been the same for this long is not waited for.
const SAME: Duration = Duration::from_millis(100);
/// The longest time to wait for an answer.
const PATIENCE: Duration = Duration::from_millis(500);
const LONGEST_NAME: usize = 200;

impl MemberQuery {
    pub fn new(now: Instant) -> Self {
        MemberQuery { since: now, seen: Vec::new(), same_since: now, next: now, interval: FIRST }
    }

    /// Takes note that a member has ended: the last scan is outdated.
    pub fn member_ended(&mut self, now: Instant) {
        self.next = self.next.min(now + FIRST);
    }

    /// Returns when to look.
    pub fn due(&self) -> Instant {
        self.next
    }

    /// Scans for members. None: to be repeated when due. `launch_lines`: arguments of the launched
    /// shells, whose forks have no name of their own. An empty answer does not prove that no member is
    /// left.
    pub fn poll(
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
            return Some(all.iter().zip(&seen).map(|both| describe(both, launch_lines)).collect());
        }
        self.seen = seen;
        self.next = now + self.interval;
        self.interval = (self.interval * 2).min(LAST);
        None
    }
}

/// Returns the arguments of each image, in the format of `/proc`.
pub fn launch_lines(images: &[Image]) -> Vec<Vec<u8>> {
    let line = |image: &Image| {
        image.argv.iter().map(|argument| argument.as_bytes_with_nul()).collect::<Vec<_>>().concat()
    };
    images.iter().map(line).collect()
}

/// Returns the members that are left now, without waiting.
pub fn members_now(members: &Members, launch_lines: &[Vec<u8>]) -> Vec<Member> {
    let (all, seen) = see_all(members);
    all.iter().zip(&seen).map(|both| describe(both, launch_lines)).collect()
}

/// Describes a member.
pub fn described(member: &LiveMember, launch_lines: &[Vec<u8>]) -> Member {
    describe((member, &see(member)), launch_lines)
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

fn describe((member, seen): (&LiveMember, &Seen), launch_lines: &[Vec<u8>]) -> Member {
    let command = if launch_lines.contains(&seen.arguments) { None } else { named(member, seen) };
    let (pid, group) = outside::pid_and_group(member.pid, member.group);
    Member { pid, group, command }
}

fn named(member: &LiveMember, seen: &Seen) -> Option<Vec<u8>> {
    if member.started == 0 {
        return None;
    }
    line_of(member.pid, &seen.arguments)
}

/// Returns the arguments of a process separated by blanks, or the name in brackets, as `ps` shows it. None:
/// not shown.
pub fn line_of(pid: i32, arguments: &[u8]) -> Option<Vec<u8>> {
    let words = arguments.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    let mut line = words.collect::<Vec<_>>().join(&b' ');
    if line.is_empty() {
        let name = proc::name(pid)?;
        return Some([b"[", &name[..], b"]"].concat());
    }
    line.truncate(LONGEST_NAME * 4);
    let line: String = String::from_utf8_lossy(&line).chars().take(LONGEST_NAME).collect();
    Some(line.into_bytes())
}

#[cfg(test)]
mod tests;
