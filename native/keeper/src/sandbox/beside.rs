//! The processes beside a sandbox, which are children of the one outside and end with it.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::sandbox::namespaces::WardenInput;
use crate::sandbox::plan::Plan;
use crate::sandbox::ports::{self, PortRelay};
use crate::sandbox::warden::{self, GuardedSandbox, OtherLines, SettlerLine};
use crate::sandbox::watchers::cover::{self, SettlerInput};
use crate::sandbox::watchers::refresher::{self, Refresher};
use crate::sandbox::watchers::settler;

/// How long the warden may settle what processes have left, for which it may read the whole history.
const LONGEST_ENDING: Duration = Duration::from_secs(25);
/// How long the settler may take to put away what it has made for itself.
const LONGEST_SETTLING: Duration = Duration::from_secs(1);

pub struct Beside {
    refresher: Option<Refresher>,
    pids: Vec<i32>,
    warden: Option<i32>,
    /// The process that changes settings, where there is one. It ends when nobody can ask it any more.
    settler: Option<i32>,
    /// The line to it, where nobody asks: it covers names all the same.
    unused: Option<OwnedFd>,
    /// The relay of ports, which is also among the others.
    relay: Option<i32>,
}

impl Beside {
    /// Starts what has to be there while the file tree is made.
    pub fn start(guarded: &GuardedSandbox) -> Beside {
        let refresher = refresher::start(guarded);
        let pids = refresher.iter().map(|refresher| refresher.pid).collect();
        Beside { refresher, pids, warden: None, settler: None, unused: None, relay: None }
    }

    /// Starts the others, which must enter now: the process inside can't be entered later. Returns whether
    /// changes to settings can be settled. The error is that of the relay of ports.
    pub fn guard(&mut self, guarded: &GuardedSandbox, given: WardenInput) -> io::Result<bool> {
        self.refresher.iter_mut().for_each(Refresher::wait);
        let mut given = given;
        let (line, requests) = settler::sockets(guarded.plan, &given);
        let beneath = std::mem::take(&mut given.beneath);
        let asked = requests.map(|requests| SettlerInput { requests, beneath });
        let cover = cover::start(guarded, asked).ok().flatten();
        let (pid, settled) = cover.map(|it| (it.pid, it.settled)).unzip();
        let settled = settled.unwrap_or_default();
        self.settler = pid.filter(|_| !settled.is_empty());
        self.pids.extend(pid.filter(|_| settled.is_empty()));
        let line = line.map(|line| SettlerLine::new(line, settled));
        let settles = matches!(line, Some(Ok(_)));
        let (settler, unused) = line.map_or((None, None), |line| match line {
            Ok(settler) => (Some(settler), None),
            Err(unused) => (None, Some(unused)),
        });
        self.unused = unused;
        let (relay, line) =
            ports::start(guarded)?.map(|PortRelay { pid, line }| (pid, line)).unzip();
        self.relay = relay;
        self.pids.extend(relay);
        self.warden = warden::start(guarded, given, OtherLines { settler, relay: line }).ok();
        Ok(settles)
    }

    pub fn end(self, plan: &Plan) {
        if let Some(warden) = self.warden {
            // It has nothing to settle where no setting is judged.
            end_after(warden, if self.settler.is_some() { LONGEST_ENDING } else { Duration::ZERO });
        }
        self.pids.into_iter().for_each(warden::end);
        drop(self.unused);
        if let Some(settler) = self.settler {
            end_after(settler, LONGEST_SETTLING);
        }
        if let (Some(relay), Some(directory)) = (self.relay, &plan.ports.directory) {
            ports::record::remove(directory, relay);
        }
    }
}

/// Waits for the end of a process beside the sandbox, which is a child of this process, and ends it if that takes longer than `longest`.
fn end_after(pid: i32, longest: Duration) {
    const PAUSE: Duration = Duration::from_millis(2);
    let until = Instant::now() + longest;
    while Instant::now() < until {
        // SAFETY: takes numbers; the child has not been waited for, so the number is not reused.
        match unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::WNOHANG) } {
            0 => std::thread::sleep(PAUSE),
            _ => return,
        }
    }
    warden::end(pid);
}
