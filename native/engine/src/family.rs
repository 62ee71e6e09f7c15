//! The processes of a command: its group and session, their descendants, and those that
//! only its mark gives away.

use std::collections::{HashMap, HashSet};
use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::group::Group;
use crate::mark::Mark;
use crate::outcome::BackgroundProcess;
use crate::proc::{self, Outlet, Stat};
use crate::scene::{Scene, Signs};

/// A process, named so that a reused pid is not mistaken for it.
pub type Name = (i32, u64);

/// Whom to look for.
#[derive(Debug, Clone)]
pub struct Family {
    /// The groups (and sessions) of its commands, while their numbers can't have been reused.
    pub groups: Vec<Group>,
    /// What its members carry in their environment.
    pub mark: Mark,
    /// Members seen before: descent from them counts even after their parents have died.
    pub known: HashSet<Name>,
    /// Where its output goes: who holds one of them as stdout or stderr belongs to it.
    pub outlets: Vec<Outlet>,
    /// Members that were sent a SIGTERM of their own, having left the groups.
    pub asked: HashSet<Name>,
    /// Nobody older than this (clock ticks since boot) can be a member.
    pub born_after: u64,
}

impl Family {
    /// Looks at every process there is; remembers the members found, and returns the living.
    pub fn survey(&mut self, scene: &mut Scene) -> Vec<Stat> {
        let own = std::process::id() as i32;
        let candidates: HashMap<i32, &Stat> = scene
            .processes
            .iter()
            .filter(|stat| stat.started >= self.born_after && stat.pid != own && stat.pid != 1)
            .map(|stat| (stat.pid, stat))
            .collect();
        let mut members = HashSet::new();
        let mut unsure = Vec::new();
        for stat in candidates.values().copied() {
            if self.is_own(stat) {
                members.insert(stat.pid);
            } else {
                unsure.push(stat);
            }
        }
        add_descendants(&candidates, &mut members);
        // Reading environments is the costly part: only of those that nothing else gave away.
        unsure.retain(|stat| {
            !members.contains(&stat.pid) && self.is_given_away_by(scene.evidence.of(stat.pid))
        });
        if !unsure.is_empty() {
            members.extend(unsure.into_iter().map(|stat| stat.pid));
            add_descendants(&candidates, &mut members);
        }
        let found = candidates.into_values().filter(|stat| members.contains(&stat.pid));
        let living: Vec<Stat> = found.filter(|stat| stat.alive).cloned().collect();
        self.known.extend(living.iter().map(|stat| (stat.pid, stat.started)));
        living
    }

    /// Whether any member seen so far still lives. Cheaper than a survey, and blind to newcomers.
    pub fn any_known_alive(&self) -> bool {
        self.known.iter().any(|name| is_alive(*name).unwrap_or(true))
    }

    /// Sends a signal to the groups, and to each of `members` that has left them.
    ///
    /// Those who may not be signalled (another user's) are left; the next survey sees them.
    pub fn signal(&self, members: &[Stat], signal: Signal) {
        for group in &self.groups {
            let _ = group.signal(signal);
        }
        for name in self.leavers(members) {
            let _ = signal_exactly(name, signal);
        }
    }

    /// Asks all to end: SIGTERM, and SIGCONT, since who is stopped acts on it only once it goes on.
    pub fn ask(&mut self, members: &[Stat]) {
        self.signal(members, Signal::TERM);
        self.signal(members, Signal::CONT);
        self.asked.extend(self.leavers(members));
    }

    /// Asks those who have left the groups and have not been asked on their own. A signal to a
    /// group misses who leaves it between the look and the signal.
    pub fn ask_leavers(&mut self, members: &[Stat]) {
        for name in self.leavers(members) {
            if self.asked.insert(name) {
                let _ = signal_exactly(name, Signal::TERM);
                let _ = signal_exactly(name, Signal::CONT);
            }
        }
    }

    fn leavers(&self, members: &[Stat]) -> Vec<Name> {
        let leavers = members.iter().filter(|member| !self.has_group(member.group));
        leavers.map(|member| (member.pid, member.started)).collect()
    }

    fn has_group(&self, number: i32) -> bool {
        self.groups.iter().any(|group| group.number() == number)
    }

    fn is_own(&self, stat: &Stat) -> bool {
        self.has_group(stat.group)
            || self.has_group(stat.session)
            || self.known.contains(&(stat.pid, stat.started))
    }

    fn is_given_away_by(&self, signs: &Signs) -> bool {
        self.mark.is_in(&signs.marks)
            || signs.outlets.iter().any(|outlet| self.outlets.contains(outlet))
    }
}

/// Adds children of members, and those in a session that a member leads, until nothing changes.
fn add_descendants(candidates: &HashMap<i32, &Stat>, members: &mut HashSet<i32>) {
    loop {
        let before = members.len();
        let belongs =
            |stat: &&&Stat| members.contains(&stat.parent) || members.contains(&stat.session);
        let found: Vec<i32> = candidates.values().filter(belongs).map(|stat| stat.pid).collect();
        members.extend(found);
        if members.len() == before {
            return;
        }
    }
}

fn is_alive((pid, started): Name) -> io::Result<bool> {
    Ok(proc::stat(pid)?.is_some_and(|stat| stat.alive && stat.started == started))
}

/// Sends a signal to this process and never to one that has taken over its pid.
fn signal_exactly(name: Name, signal: Signal) -> Result<(), Errno> {
    let pid = Pid::from_raw(name.0).ok_or(Errno::SRCH)?;
    let pidfd = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(pidfd) => pidfd,
        // Out of descriptors, or a filter that refuses the call, is no reason to let it live; the
        // window for reuse is microseconds.
        Err(error) if error != Errno::SRCH && is_alive(name).unwrap_or(false) => {
            return rustix::process::kill_process(pid, signal);
        }
        Err(error) => return Err(error),
    };
    // The descriptor pins the pid, so what is true after opening it stays true.
    if !is_alive(name).unwrap_or(false) {
        return Err(Errno::SRCH);
    }
    match pidfd_send_signal(&pidfd, signal) {
        // It is not ours to signal, or the call is refused: the old call tells which.
        Err(Errno::PERM | Errno::NOSYS) => rustix::process::kill_process(pid, signal),
        sent => sent,
    }
}

/// Members as they are shown to a caller.
pub fn describe(members: &[Stat]) -> Vec<BackgroundProcess> {
    let describe = |stat: &Stat| BackgroundProcess {
        pid: stat.pid,
        group: stat.group,
        command: proc::command_line(stat.pid),
    };
    // Whoever closes the last pipe by ending is still there for an instant.
    let staying = members.iter().filter(|stat| !stat.exiting);
    let mut described: Vec<_> = staying.map(describe).collect();
    described.sort_by_key(|process| process.pid);
    described
}
