//! News from keepers, and their deaths.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forkline_protocol::{ExecWords, LONGEST_ASK, News, Received, receive_now};
use rustix::event::epoll::EventFlags;

use crate::keeper::Keeper;
use crate::keeper::cradles::{SHEDDING, Shedding};
use crate::keeper::sandbox::Sandbox;
use crate::os::watch::Source;
use crate::reactor::Reactor;
use crate::reactor::cradles::Clearing;
use crate::reactor::state::group::Group;
use crate::reactor::state::timers::Alarm;

/// The size of the buffer for one message of a keeper, in bytes: none is longer than a question.
const NEWS_SIZE: usize = LONGEST_ASK + 1024;

/// How long a lifeline is left alone that has told of nothing but programs.
const REST: Duration = Duration::from_millis(10);

/// What a lifeline had to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// Programs that commands have executed, or nothing.
    Programs,
    Other,
}

impl Reactor {
    pub(super) fn keeper_started(&mut self, keeper: Arc<Keeper>) {
        self.watch(keeper.lifeline.socket.as_fd(), keeper.id, Source::Lifeline, EventFlags::IN);
        self.keepers.push(keeper);
    }

    /// Reads the lifeline of a keeper. If there was nothing but programs that commands execute, the next of which are
    /// told soon, it is left alone for a moment: whoever wants to know of a command reads it before.
    pub(super) fn lifeline_ready(&mut self, id: u64) {
        if self.read_keeper(id) == Heard::Programs
            && let Some(keeper) = self.keepers.iter().find(|keeper| keeper.id == id)
        {
            self.unwatch(keeper.lifeline.socket.as_fd());
            self.timers.set(id, Alarm::Rested, Instant::now() + REST);
        }
    }

    /// Watches a lifeline again that was left alone.
    pub(super) fn rested(&self, id: u64) {
        if let Some(keeper) = self.keepers.iter().find(|keeper| keeper.id == id) {
            self.watch(keeper.lifeline.socket.as_fd(), id, Source::Lifeline, EventFlags::IN);
        }
    }

    /// Reads the lifeline of a keeper, which may have news or have died.
    pub(super) fn read_keeper(&mut self, id: u64) -> Heard {
        let Some(keeper) = self.keepers.iter().find(|keeper| keeper.id == id).cloned() else {
            return Heard::Other;
        };
        let mut heard = Heard::Programs;
        loop {
            let buffer = self.answers.get_mut(..NEWS_SIZE).unwrap_or_default();
            match receive_now(keeper.lifeline.socket.as_fd(), buffer) {
                Ok(Received { length: 0, .. }) => {
                    self.keeper_died(&keeper);
                    return Heard::Other;
                }
                Ok(Received { length, descriptors, .. }) => {
                    let news = buffer.get(..length).and_then(News::decode);
                    if !matches!(&news, Some(News::Denied(_, what)) if ExecWords::is_one(what)) {
                        heard = Heard::Other;
                    }
                    match news {
                        Some(News::Hello(version)) => keeper.greeted(version),
                        Some(News::Made(cradle, pid)) => self.cradle_made(&keeper, cradle, pid),
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
                                // The descriptors are closed, which tells the sandbox that its proxy is not
                                // served. The next command gets another keeper, which may be.
                                None => keeper.resign(),
                            }
                        }
                        Some(News::Denied(cradle, what)) => {
                            keeper
                                .sandbox
                                .iter()
                                .for_each(|of| of.add_denied(cradle, what.clone()));
                        }
                        Some(News::Asked(cradle, number, ask)) => {
                            self.asked(&keeper, cradle, number, ask);
                        }
                        Some(News::Withdrawn(number)) => self.withdrawn(&keeper, number),
                        Some(News::Enforced(lines)) => {
                            keeper
                                .sandbox
                                .iter()
                                .for_each(|sandbox| sandbox.set_enforced(lines.clone()));
                            if keeper.sandbox.as_ref().is_some_and(Sandbox::is_unserved) {
                                // The next command gets another keeper, which may have a proxy.
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
                        Some(News::Left(cradle)) => self.cradle_left(&keeper, cradle),
                        Some(News::Refused(errno, what)) => {
                            keeper.set_refused(errno, what);
                            // The keeper ends; later commands get another one.
                            keeper.resign();
                        }
                        None => {}
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return heard,
                Err(_) => {}
            }
        }
    }

    fn keeper_died(&mut self, keeper: &Arc<Keeper>) {
        self.timers.cancel(keeper.id, Alarm::Rested);
        self.unwatch(keeper.lifeline.socket.as_fd());
        let was_retired = keeper.has_resigned();
        keeper.set_dead();
        keeper.retire();
        // A keeper that was never usable has been reported by the errors of its commands.
        if keeper.fault().is_none() && !was_retired {
            (self.on_keeper_death)();
        }
        self.keepers.retain(|other| other.id != keeper.id);
        self.forget_questions(keeper);
        if let Some(sandbox) = &keeper.sandbox {
            (self.on_listen)(keeper.id, &sandbox.plan, None);
        }
        self.reap_group(keeper.id, keeper.lifeline.keeper);
        // Nothing will end the processes of commands whose cradle was killed together with the keeper.
        let lost: Vec<u64> = self.commands.values().filter(|p| p.is_lost()).map(|p| p.id).collect();
        for id in lost {
            self.give_up_waiting(id);
        }
    }

    /// Dismisses the keeper's cradles that were not needed lately.
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

    /// Reaps the processes of a group that have ended; sets the time of the next try.
    pub(super) fn reap(&mut self, id: u64) {
        let Some(group) = self.groups.get_mut(&id) else { return };
        loop {
            let mut status = 0;
            // SAFETY: fills the integer. All processes in the group were started by this engine.
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
