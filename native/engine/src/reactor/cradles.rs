//! The life of cradles: they become free again, or die, and then their keeper ends and reports the processes
//! left.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use crate::command::mark::{Mark, bearers_of};
use crate::command::outcome::{Cause, Ended};
use crate::keeper::Keeper;
use crate::keeper::cradles::{Cradle, SHEDDING, Shedding};
use crate::reactor::Reactor;
use crate::reactor::starting::OF_ITS_KEEPER;
use crate::reactor::state::command::{Phase, Rest};
use crate::reactor::state::followers::MembersGone;
use crate::reactor::state::timers::Alarm;
use crate::request::order::{CradleChoice, LaunchOrder};

/// The state of a cradle's channel at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChannelEnd {
    /// The cradle had read all that was sent to it.
    AllRead,
    /// The cradle had not read something that was sent to it (ECONNRESET).
    SomeUnread,
}

/// The result of a keeper's work on the processes that a killed cradle has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clearing {
    /// All of them have ended.
    Cleared,
    /// Some of them could not be ended.
    GivenUp,
}

impl Reactor {
    /// Reads a cradle's channel, which has an answer or has ended.
    pub(super) fn read_cradle(&mut self, cradle: u64) {
        match self.cradles.get(&cradle) {
            Some(id) => self.read_answers(*id),
            // An idle cradle sends nothing: it has been killed, or could not be made.
            None => {
                self.keepers.iter().any(|keeper| keeper.cradles.remove(cradle));
            }
        }
    }

    /// Handles the end of a cradle's channel.
    pub(super) fn channel_ended(&mut self, id: u64, end: ChannelEnd) {
        if let Some(leftover) = self.leftovers.remove(&id) {
            self.forget(&leftover.cradle);
            self.members_gone(id, MembersGone::Unknown);
            return self.advance_disposals();
        }
        let some_unread = end == ChannelEnd::SomeUnread;
        let Some(command) = self.commands.get(&id) else { return };
        let is_sent = command.letter.as_ref().is_some_and(|letter| letter.is_sent());
        if is_sent {
            // The keeper may have reported the cradle's process id.
            self.read_keeper(command.keeper.id);
        }
        let Some(command) = self.commands.get_mut(&id) else { return };
        let (phase, rest) = (command.phase, command.rest);
        let has_keeper = !command.keeper.is_gone() && command.keeper.fault().is_none();
        let is_unmade = command.cradle_pid == 0 && has_keeper;
        // A message of the keeper may already have caused this.
        let Some(cradle) = command.cradle.take() else { return };
        self.forget(&cradle);
        match phase {
            // The launcher, which is about to send the request, will get an error.
            Phase::Starting { .. } if !is_sent => {}
            // The keeper is alive, but could not accept the channel's descriptor.
            Phase::Starting { cancelled: false } if some_unread && is_unmade => {
                self.handle_unfit_cradle(id, libc::EMFILE, OF_ITS_KEEPER, "could not be made");
            }
            Phase::Starting { cancelled: false } if some_unread => self.send_again(id),
            // The unread message may be the order to end, and the request may have been read and carried out.
            Phase::Starting { .. } => {
                self.may_have_started(id);
                self.cradle_was_killed(id);
            }
            _ if rest != Rest::Gone && rest != Rest::Lost => self.cradle_was_killed(id),
            _ => {}
        }
    }

    /// Sends a request again that no cradle has read: the cradle has died, or its keeper, or the keeper could
    /// not make one.
    pub(super) fn send_again(&mut self, id: u64) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        let Some(letter) = command.letter.clone() else { return };
        let (keeper, phase) = (command.keeper.clone(), command.phase);
        if let Some(cradle) = command.cradle.take() {
            self.forget(&cradle);
        }
        if matches!(phase, Phase::Starting { cancelled: true }) {
            return self.not_started(id, Ended::NeverStarted);
        }
        // A keeper that could not set up its sandbox has said so, and ended.
        self.read_keeper(keeper.id);
        if let Some(refusal) = keeper.refusal() {
            return self.not_started(id, Ended::Failed(refusal));
        }
        letter.reset();
        self.orders.put(LaunchOrder::SendAgain(id, letter, keeper, CradleChoice::Any));
    }

    /// Gives the command's cradle back: it has nothing more to do for the command.
    pub(super) fn release(&mut self, id: u64) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        let Some(cradle) = command.cradle.take() else { return };
        if command.follow {
            return self.forget(&cradle);
        }
        let keeper = command.keeper.clone();
        self.free(&keeper, cradle);
    }

    /// Gives a cradle back for the next command.
    pub(super) fn free(&mut self, keeper: &Keeper, cradle: Cradle) {
        self.cradles.remove(&cradle.id);
        if keeper.cradles.give_back(cradle) == Shedding::Due {
            self.timers.set(keeper.id, Alarm::Shed, Instant::now() + SHEDDING);
        }
    }

    /// Closes the channel of a cradle.
    pub(super) fn forget(&mut self, cradle: &Cradle) {
        self.cradles.remove(&cradle.id);
        self.unwatch(cradle.channel.as_fd());
    }

    /// Handles the death of a cradle. The keeper, if still alive, ends the processes left, and reports it.
    fn cradle_was_killed(&mut self, id: u64) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        command.assume_leader_left();
        if command.keeper.is_gone() || command.keeper.fault().is_some() {
            self.give_up_waiting(id);
        } else {
            self.timers.set(id, Alarm::Lost, Instant::now() + LOST);
        }
    }

    /// Gives up waiting for more news of a command whose cradle was killed.
    pub(super) fn give_up_waiting(&mut self, id: u64) {
        self.timers.cancel(id, Alarm::Lost);
        let Some(command) = self.commands.get_mut(&id) else { return };
        if command.pid == 0 && command.rest == Rest::Lost {
            command.members = bearers_of(&Mark::of_command(command.owner.id, id));
        }
        match command.phase {
            Phase::Running => command.phase = Phase::Ending(Cause::Itself, None),
            Phase::Ending(..) | Phase::Asking(_) => {}
            _ => return,
        }
        self.handle_members_end(id, false);
    }

    /// Notes that a keeper has ended the processes that a killed cradle has left, or has given up.
    pub(super) fn cradle_cleared(&mut self, cradle: i32, clearing: Clearing) {
        let cleared = clearing == Clearing::Cleared;
        let of_cradle = self.commands.values_mut().filter(|command| command.cradle_pid == cradle);
        let mut lost = Vec::new();
        for command in of_cradle {
            if cleared {
                command.members.clear();
            }
            lost.push(command.id);
        }
        for id in lost {
            // The answers may be read only now, after the keeper's report.
            self.read_answers(id);
            if self.commands.get(&id).is_some_and(|command| command.rest == Rest::Lost) {
                if cleared && let Some(command) = self.commands.get_mut(&id) {
                    command.rest = Rest::Gone;
                    command.members.clear();
                }
                self.give_up_waiting(id);
            }
        }
    }
}

/// The time for which the keeper tries, and a little more.
const LOST: Duration = Duration::from_secs(15);
