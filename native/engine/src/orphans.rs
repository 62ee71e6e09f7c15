//! Orphans that fall to the host: the first process of a container, or one that has made itself a
//! subreaper. Nobody else reaps them, so each would stay a zombie for as long as the host lives.
//!
//! Node waits for its own children and must find their exit codes, so only those are reaped that
//! can't be its own. A child of Node's is in the host's session, or leads one itself (`detached`).
//! What is left is in the session of a command; or has left that too and leads one of its own, and
//! then only the mark in its environment, seen while it lived, tells it from Node's. One that ends
//! before it is seen stays a zombie.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::family::Name;
use crate::group::own_session;
use crate::mark::Mark;
use crate::proc::{self, Stat};
use crate::roster::Roster;
use crate::threads;

/// The way to the thread that looks for orphans; it is started when it is first needed.
pub struct Orphans {
    roster: Arc<Roster>,
    bell: Option<Sender<()>>,
}

/// Time from one look to the next, as long as there is a reason to look.
const FIRST_LOOK: Duration = Duration::from_millis(50);
const LAST_LOOK: Duration = Duration::from_secs(1);

impl Orphans {
    /// Of the commands in `roster`.
    pub fn new(roster: Arc<Roster>) -> Self {
        Orphans { roster, bell: None }
    }

    /// A command has been started or has ended: there may be orphans from now on.
    pub fn expect(&mut self) {
        if !fall_to_us() {
            return;
        }
        if self.bell.is_none() {
            self.bell = start(self.roster.clone()).ok();
        }
        if let Some(bell) = &self.bell {
            let _ = bell.send(());
        }
    }
}

/// Whether the kernel makes orphans our children.
fn fall_to_us() -> bool {
    let mut subreaper: libc::c_int = 0;
    // SAFETY: fills the integer.
    unsafe { libc::prctl(libc::PR_GET_CHILD_SUBREAPER, &raw mut subreaper) };
    subreaper != 0 || std::process::id() == 1
}

fn start(roster: Arc<Roster>) -> io::Result<Sender<()>> {
    let (bell, rings) = channel();
    threads::spawn("forkline-orphans", move || work(&roster, &rings))?;
    Ok(bell)
}

/// Looks more and more seldom, and not at all once nothing runs that could leave an orphan.
fn work(roster: &Roster, rings: &Receiver<()>) {
    let mut marked = HashSet::new();
    while rings.recv().is_ok() {
        let mut interval = FIRST_LOOK;
        while interval <= LAST_LOOK {
            std::thread::sleep(interval);
            let rung = rings.try_iter().count() > 0;
            let busy = look(&mut marked) || !roster.is_empty();
            interval = match (rung, busy) {
                (true, _) => FIRST_LOOK,
                (false, true) => (interval * 2).min(LAST_LOOK),
                (false, false) => interval * 2,
            };
        }
    }
}

/// Reaps the orphans that have ended; returns whether any lives that will.
///
/// `marked`: those that lead a session and have been seen with our mark.
fn look(marked: &mut HashSet<Name>) -> bool {
    let orphans: Vec<Stat> = children().filter(|child| is_orphan(child, marked)).collect();
    for orphan in orphans.iter().filter(|orphan| !orphan.alive) {
        if let Some(pid) = Pid::from_raw(orphan.pid) {
            // It is a zombie and waits for us alone, so its number can't have been reused.
            let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
    }
    let living: HashSet<Name> = orphans.iter().filter(|orphan| orphan.alive).map(name).collect();
    marked.retain(|name| living.contains(name));
    !living.is_empty()
}

fn is_orphan(child: &Stat, marked: &mut HashSet<Name>) -> bool {
    if child.session == own_session() {
        return false;
    }
    if child.session != child.pid {
        return true;
    }
    let seen = || {
        proc::environment(child.pid).is_some_and(|environment| Mark::of_host().is_in(&environment))
    };
    if child.alive && seen() {
        marked.insert(name(child));
    }
    marked.contains(&name(child))
}

fn name(stat: &Stat) -> Name {
    (stat.pid, stat.started)
}

/// Children of the main thread, to which orphans fall. Those of the launching threads, which are
/// our commands, are not among them: their status is the reactor's to take.
///
/// A kernel that can't list them (built without CONFIG_PROC_CHILDREN) has none to show.
fn children() -> impl Iterator<Item = Stat> {
    let host = std::process::id() as i32;
    let list = fs::read_to_string(format!("/proc/self/task/{host}/children")).unwrap_or_default();
    let pids: Vec<i32> = list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    let stats = pids.into_iter().filter_map(|pid| proc::stat(pid).ok().flatten());
    stats.filter(move |stat| stat.parent == host)
}
