//! The processes beside a sandbox, which are children of the one outside and end with it.

use std::io;

use crate::sandbox::namespaces::WardenInput;
use crate::sandbox::plan::Plan;
use crate::sandbox::ports::{self, PortRelay};
use crate::sandbox::warden::{self, GuardedSandbox, OtherLines};
use crate::sandbox::watchers::refresher::{self, Refresher};
use crate::sandbox::watchers::{cover, settler};

pub struct Beside {
    refresher: Option<Refresher>,
    pids: Vec<i32>,
    /// The relay of ports, which is also among the others.
    relay: Option<i32>,
}

impl Beside {
    /// Starts what has to be there while the file tree is made.
    pub fn start(guarded: &GuardedSandbox) -> Beside {
        let refresher = refresher::start(guarded);
        let pids = refresher.iter().map(|refresher| refresher.pid).collect();
        Beside { refresher, pids, relay: None }
    }

    /// Starts the others, which must enter now: the process inside can't be entered later. The error is that of
    /// the relay of ports.
    pub fn guard(&mut self, guarded: &GuardedSandbox, given: WardenInput) -> io::Result<()> {
        self.refresher.iter_mut().for_each(Refresher::wait);
        let (settler, asked) = settler::sockets(guarded.plan, &given);
        self.pids.extend(cover::start(guarded, asked).ok().flatten());
        let (relay, line) =
            ports::start(guarded)?.map(|PortRelay { pid, line }| (pid, line)).unzip();
        self.relay = relay;
        self.pids.extend(relay);
        self.pids.extend(warden::start(guarded, given, OtherLines { settler, relay: line }).ok());
        Ok(())
    }

    pub fn end(self, plan: &Plan) {
        self.pids.into_iter().for_each(warden::end);
        if let (Some(relay), Some(directory)) = (self.relay, &plan.ports.directory) {
            ports::record::remove(directory, relay);
        }
    }
}
