//! The members of a command: the children of this process, and their descendants.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use crate::{proc, wait};

/// A member that lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveMember {
    pub pid: i32,
    /// The parent; 0: not known, or not a member.
    pub parent: i32,
    /// 0: not known.
    pub group: i32,
    /// The start time in clock ticks since boot. 0: the process is not shown, and known by its number
    /// alone; then it is a child of this process, whose number is not reused before it is reaped.
    pub started: u64,
    /// Whether it is a child of this process.
    pub own: bool,
    /// Whether it is running at the moment, for example executing another program.
    pub busy: bool,
    /// Whether it was stopped by a signal.
    pub stopped: bool,
    /// Whether it has a controlling terminal.
    pub terminal: bool,
    /// Whether it has children of its own.
    pub has_children: bool,
}

/// Process id and start time, which tell a member from any other process.
pub type MemberName = (i32, u64);

/// A way to find members. Processes that a kernel or a container hides are found in other ways than
/// through `/proc`.
#[derive(Debug)]
pub struct Members {
    /// Whether `/proc` shows them at all; found out at the first use.
    shown: OnceCell<bool>,
    /// The smallest process id of a child, unless numbers have wrapped around.
    first: i32,
    /// Children that are not members.
    apart: HashSet<i32>,
}

impl Members {
    /// `first`: the process id of the oldest child.
    pub fn new(first: i32) -> Self {
        Members { shown: OnceCell::new(), first, apart: HashSet::new() }
    }

    fn are_shown(&self) -> bool {
        *self.shown.get_or_init(proc::shows_own_pids)
    }

    /// Excludes these children and their descendants.
    pub fn set_apart(&mut self, pids: impl Iterator<Item = i32>) {
        self.apart = pids.collect();
    }

    /// Returns the children of this process that have not been reaped.
    pub fn children(&self) -> Vec<i32> {
        let own = std::process::id() as i32;
        let listed = || if self.are_shown() { proc::children(own, 1) } else { None };
        let shown = || {
            let all = if self.are_shown() { proc::all() } else { None };
            all.map(|all| all.iter().filter(|stat| stat.parent == own).map(|s| s.pid).collect())
        };
        // The list of all processes lacks the hidden ones, so it can't prove that no child is left.
        let complete = |found: &Vec<i32>| !found.is_empty() || wait::has_no_child();
        let found = listed().or_else(shown).filter(complete);
        let mut found = found.unwrap_or_else(|| self.by_trial());
        found.retain(|pid| !self.apart.contains(pid));
        found
    }

    /// Tries each number whether it is a child's, which takes a third of a microsecond each.
    fn by_trial(&self) -> Vec<i32> {
        let most = proc::pid_limit();
        // SAFETY: there is one thread, and the child does nothing but end.
        let last = match unsafe { libc::fork() } {
            // SAFETY: ends the child, whose memory is a copy.
            0 => unsafe { libc::_exit(0) },
            -1 => most,
            newest => {
                // SAFETY: takes numbers; the status is not asked for.
                unsafe { libc::waitpid(newest, std::ptr::null_mut(), libc::__WALL) };
                newest
            }
        };
        let candidates = if last >= self.first {
            (self.first..last).chain(0..0)
        } else {
            (self.first..most).chain(2..last)
        };
        let found: Vec<i32> = candidates.filter(|pid| wait::is_own(*pid)).collect();
        if !found.is_empty() || wait::has_no_child() {
            return found;
        }
        // Numbers have wrapped around since the first child, and passed it again: any number may be a
        // child's.
        (2..most).filter(|pid| wait::is_own(*pid)).collect()
    }

    /// Returns all members that live.
    pub fn all(&self) -> Vec<LiveMember> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut table = None;
        let mut open: Vec<(i32, Option<i32>)> =
            self.children().into_iter().map(|pid| (pid, None)).collect();
        while let Some((pid, parent)) = open.pop() {
            if !seen.insert(pid) || self.apart.contains(&pid) {
                continue;
            }
            let stat = if self.are_shown() { proc::stat(pid) } else { None };
            let Some(stat) = stat else {
                // A child of ours that is hidden from us; any other process may be gone.
                if parent.is_none() && wait::is_own(pid) {
                    found.push(unseen(pid));
                }
                continue;
            };
            if parent.is_some_and(|parent| parent != stat.parent) {
                continue;
            }
            let children = children_of(&stat, &mut table);
            if stat.is_alive() {
                found.push(LiveMember {
                    pid,
                    parent: parent.unwrap_or(0),
                    group: stat.group,
                    started: stat.started,
                    own: parent.is_none(),
                    busy: matches!(stat.state, b'R' | b'D'),
                    stopped: stat.state == b'T',
                    terminal: stat.terminal,
                    has_children: !children.is_empty(),
                });
            }
            open.extend(children.into_iter().map(|child| (child, Some(pid))));
        }
        found
    }
}

fn unseen(pid: i32) -> LiveMember {
    // SAFETY: takes a number.
    let group = unsafe { libc::getpgid(pid) }.max(0);
    LiveMember {
        pid,
        parent: 0,
        group,
        started: 0,
        own: true,
        busy: false,
        stopped: false,
        terminal: false,
        has_children: false,
    }
}

/// Returns the children of a process. `table`: children by parent, filled where this kernel does not list
/// the children of a process.
fn children_of(stat: &proc::Stat, table: &mut Option<HashMap<i32, Vec<i32>>>) -> Vec<i32> {
    if table.is_none() {
        if let Some(children) = proc::children(stat.pid, stat.threads) {
            return children;
        }
        // The process is gone, or this kernel lists no children at all.
        if proc::children(std::process::id() as i32, 1).is_some() {
            return Vec::new();
        }
    }
    let table = table.get_or_insert_with(|| {
        let mut table: HashMap<i32, Vec<i32>> = HashMap::new();
        for stat in proc::all().unwrap_or_default() {
            table.entry(stat.parent).or_default().push(stat.pid);
        }
        table
    });
    table.get(&stat.pid).cloned().unwrap_or_default()
}

impl LiveMember {
    pub fn name(&self) -> MemberName {
        (self.pid, self.started)
    }

    /// Signals the member, and never another process with a reused number.
    pub fn signal(&self, signal: i32) {
        if self.own && wait::is_own(self.pid) {
            kill(self.pid, signal);
        } else if self.started != 0 {
            self.signal_exactly(signal);
        }
    }

    fn signal_exactly(&self, signal: i32) {
        let is_same = || proc::stat(self.pid).is_some_and(|stat| stat.started == self.started);
        // SAFETY: takes numbers only.
        let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, self.pid, 0) } as i32;
        if pidfd < 0 {
            // A filter that refuses pidfd_open is no reason to spare the process; its number could be
            // reused within microseconds only.
            if is_same() {
                kill(self.pid, signal);
            }
            return;
        }
        // The pidfd refers to one process, so what is true after opening it stays true.
        if is_same() {
            let nothing = std::ptr::null::<libc::siginfo_t>();
            // SAFETY: takes numbers and a null pointer.
            let sent =
                unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd, signal, nothing, 0) };
            if sent != 0 {
                // The call may be refused, or the process be another user's: the older call decides.
                kill(self.pid, signal);
            }
        }
        // SAFETY: opened above; nothing else owns it.
        unsafe { libc::close(pidfd) };
    }
}

/// Sends a signal. Returns whether it was sent; a process that is gone counts as signalled.
pub fn kill(pid: i32, signal: i32) -> bool {
    // Numbers that `kill` takes for this process, another one, or all.
    if (-1..=1).contains(&pid) {
        return false;
    }
    // SAFETY: takes numbers only.
    let sent = unsafe { libc::kill(pid, signal) };
    sent == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_child_from_before_a_wrap_of_process_ids_is_found_by_trial() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as i32;
        let members = Members::new(pid + 1);
        let until = Instant::now() + Duration::from_secs(20);
        // A child of another test that runs at the same time makes `by_trial` return early.
        let mut is_found = false;
        while !is_found && Instant::now() < until {
            is_found = members.by_trial().contains(&pid);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_found);
    }
}
