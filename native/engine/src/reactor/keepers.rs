//! Keepers at work, and their deaths.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;

use forkline_protocol::{News, Received, receive_now};
use rustix::event::epoll::EventFlags;

use crate::keeper::Keeper;
use crate::keeper::cradles::{SHEDDING, Shedding};
use crate::keeper::sandbox::Sandbox;
use crate::os::watch::Source;
use crate::reactor::Reactor;
use crate::reactor::cradles::Clearing;
use crate::reactor::state::group::Group;
use crate::reactor::state::timers::Alarm;

/// The size of the buffer for what a keeper says, in bytes.
const NEWS_SIZE: usize = 2048;

impl Reactor {
    pub(super) fn keeper_started(&mut self, keeper: Arc<Keeper>) {
        self.watch(keeper.lifeline.socket.as_fd(), keeper.id, Source::Lifeline, EventFlags::IN);
        self.keepers.push(keeper);
    }

    /// A keeper has something to say, or has died.
    pub(super) fn read_keeper(&mut self, id: u64) {
        let Some(keeper) = self.keepers.iter().find(|keeper| keeper.id == id).cloned() else {
            return;
        };
        let mut buffer = [0; NEWS_SIZE];
        loop {
            match receive_now(keeper.lifeline.socket.as_fd(), &mut buffer) {
                Ok(Received { length: 0, .. }) => return self.keeper_died(&keeper),
                Ok(Received { length, descriptors, .. }) => {
                    match buffer.get(..length).and_then(News::decode) {
                        Some(News::Hello(version)) => keeper.greeted(version),
                        Some(News::Made(cradle, pid)) => {
                            keeper.cradles.made(cradle, pid);
                            let command = self.cradles.get(&cradle);
                            if let Some(command) = command.and_then(|id| self.commands.get_mut(id))
                            {
                                command.cradle_pid = pid;
                            }
                        }
                        Some(News::Cleared(cradle)) => {
                            self.cradle_cleared(cradle, Clearing::Cleared)
                        }
                        Some(News::GivenUp(cradle)) => {
                            self.cradle_cleared(cradle, Clearing::GivenUp)
                        }
                        Some(News::Listens) => {
                            let plan = keeper.sandbox.as_ref().map(|sandbox| sandbox.plan.clone());
                            match plan.zip(descriptors.try_into().ok()) {
                                Some((plan, sockets)) => (self.on_listen)(id, &plan, Some(sockets)),
                                // Their end tells that nobody serves it. The next command may fare
                                // better.
                                None => keeper.resign(),
                            }
                        }
                        Some(News::Denied(cradle, what)) => {
                            keeper
                                .sandbox
                                .iter()
                                .for_each(|of| of.add_denied(cradle, what.clone()));
                        }
                        Some(News::Enforced(lines)) => {
                            keeper.sandbox.iter().for_each(|sandbox| sandbox.stands(lines.clone()));
                            if keeper.sandbox.as_ref().is_some_and(Sandbox::is_unserved) {
                                // The next command may fare better.
                                keeper.resign();
                            }
                        }
                        Some(News::Terminals) => {
                            let directory = descriptors.into_iter().next();
                            keeper
                                .sandbox
                                .iter()
                                .zip(directory)
                                .for_each(|(of, directory)| drop(of.terminals.set(directory)));
                        }
                        Some(News::Left) => keeper.detached_ended(),
                        Some(News::Refused(errno, what)) => {
                            keeper.is_refused(errno, what);
                            // It ends; whoever asks from now on asks anew.
                            keeper.resign();
                        }
                        None => {}
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {}
            }
        }
    }

    fn keeper_died(&mut self, keeper: &Arc<Keeper>) {
        self.unwatch(keeper.lifeline.socket.as_fd());
        let was_retired = keeper.has_resigned();
        keeper.dies();
        keeper.retire();
        // One of no use has been told of by what was asked of it.
        if keeper.fault().is_none() && !was_retired {
            (self.on_keeper_death)();
        }
        self.keepers.retain(|other| other.id != keeper.id);
        if let Some(sandbox) = &keeper.sandbox {
            (self.on_listen)(keeper.id, &sandbox.plan, None);
        }
        self.reap_group(keeper.id, keeper.lifeline.keeper);
        // Commands whose cradle was killed with it have nobody to end what they have left.
        let lost: Vec<u64> = self.commands.values().filter(|p| p.is_lost()).map(|p| p.id).collect();
        for id in lost {
            self.lost(id);
        }
    }

    /// Sends away those of its cradles that nobody has needed lately.
    pub(super) fn shed(&mut self, id: u64) {
        let keeper = self.keepers.iter().find(|keeper| keeper.id == id);
        if keeper.is_some_and(|keeper| keeper.cradles.shed() == Shedding::Due) {
            self.timers.set(id, Alarm::Shed, Instant::now() + SHEDDING);
        }
    }

    /// Reaps the processes of this group, now and as they end.
    pub(super) fn reap_group(&mut self, id: u64, number: i32) {
        self.groups.insert(id, Group::new(number));
        self.reap(id);
    }

    /// Reaps those that have ended.
    pub(super) fn reap(&mut self, id: u64) {
        let Some(group) = self.groups.get_mut(&id) else { return };
        loop {
            let mut status = 0;
            // SAFETY: fills the integer. The group is one of ours: nobody else's child is in it.
            match unsafe { libc::waitpid(-group.number, &mut status, libc::WNOHANG | libc::__WALL) }
            {
                -1 => {
                    self.groups.remove(&id);
                    return;
                }
                0 => break,
                _ => {}
            }
        }
        let again = Instant::now() + group.next_interval();
        self.timers.set(id, Alarm::Reap, again);
    }
}
