//! The steps of a command from its request to its start, or to the news that it never starts.

use rustix::io::Errno;

use crate::command::Opening;
use crate::command::errors::{LaunchError, Step};
use crate::command::outcome::{Cause, Ended};
use crate::keeper::Turn;
use crate::keeper::cradles::Cradle;
use crate::keeper::tenancy::Tenancy;
use crate::reactor::Reactor;
use crate::reactor::state::command::{LiveCommand, Phase, Spilling};
use crate::reactor::state::followers::MembersGone;
use crate::reactor::state::silence::Silence;
use crate::reactor::state::timers::Alarm;
use crate::request::order::{CradleChoice, LaunchOrder};

/// The number of unfit cradles up to which the same keeper makes a new one.
pub(super) const OF_ITS_KEEPER: u32 = 1;
/// The number of unfit cradles up to which another keeper makes a new one.
const OF_ANOTHER: u32 = 2;

impl Reactor {
    /// Takes over a command whose request is about to be sent.
    pub(super) fn sent(&mut self, mut command: LiveCommand) {
        let id = command.id;
        if let Some(cradle) = &command.cradle {
            self.cradles.insert(cradle.id, id);
            command.cradle_pid = cradle.pid();
        }
        self.expect_answer(id);
        command.owner.launch_ended();
        let unwanted = command.ticket.is_cancelled() || command.owner.is_disposed();
        self.commands.insert(id, command);
        self.place_questions();
        if unwanted {
            self.cancel(id, None);
        }
    }

    /// Takes over the new cradle of a command whose request is about to be sent again.
    pub(super) fn sent_again(&mut self, id: u64, turn: Turn, cradle: Cradle) {
        let Some(command) = self.commands.get_mut(&id) else {
            return self.free(turn.keeper(), cradle);
        };
        self.cradles.insert(cradle.id, id);
        command.cradle_pid = cradle.pid();
        (command.keeper, command.cradle) = (Tenancy::of(turn.keeper()), Some(cradle));
        (command.turn, command.silence) = (Some(turn), Silence::default());
        self.place_questions();
    }

    /// Handles a cradle that is no longer as it was made, and so has refused the request. A new one is asked,
    /// and at last one of another keeper, since a changed keeper passes its state on to new cradles.
    ///
    /// `known`: the number of cradles known to be unfit, if that is more than have said so.
    pub(super) fn handle_unfit_cradle(&mut self, id: u64, errno: i32, known: u32, why: &str) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        let Phase::Starting { cancelled } = command.phase else { return };
        command.unfit_cradles = command.unfit_cradles.max(known) + 1;
        let (count, keeper, letter) =
            (command.unfit_cradles, command.keeper.clone(), command.letter.clone());
        if let Some(cradle) = command.cradle.take() {
            self.forget(&cradle);
        }
        if cancelled {
            return self.not_started(id, Ended::NeverStarted);
        }
        match letter {
            Some(letter) if count <= OF_ANOTHER => {
                if count > OF_ITS_KEEPER {
                    keeper.resign();
                }
                letter.reset();
                self.orders.put(LaunchOrder::SendAgain(id, letter, keeper, CradleChoice::New));
            }
            _ => {
                let subject = format!("the command, whose parent {why}");
                let error = LaunchError { step: Step::Keeper, errno, subject, why: None };
                self.not_started(id, Ended::Failed(error));
            }
        }
    }

    /// Notes that a command may have been started: its cradle has died, or has become silent, after it may
    /// have read the request.
    pub(super) fn may_have_started(&mut self, id: u64) {
        if self.commands.get(&id).is_some_and(|p| matches!(p.phase, Phase::Starting { .. })) {
            self.started(id);
        }
    }

    /// Notes that the command runs.
    pub(super) fn started(&mut self, id: u64) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        self.timers.cancel(id, Alarm::Unanswered);
        // The host's copies of the command's ends of its pipes are closed, so that they end with the command.
        (command.letter, command.turn) = (None, None);
        let Phase::Starting { cancelled } = command.phase else { return };
        let cancelled_by = Phase::Ending(Cause::Cancelled, None);
        command.phase = if cancelled { cancelled_by } else { Phase::Running };
        let at_once = matches!(&command.spill, Spilling::Wanted(target) if target.opening == Opening::AtStart);
        let deadline = command.timeout.and_then(|time| command.started.checked_add(time));
        let (sink, pid) = (command.sink.clone(), command.pid);
        let Some(command) = self.commands.get(&id) else { return };
        if !at_once {
            self.watch_streams(id, &command.streams);
        }
        if let (Some(deadline), false) = (deadline, cancelled) {
            self.timers.set(id, Alarm::Deadline, deadline);
        }
        sink.started(pid);
        if at_once {
            self.spill(id);
        }
        self.flush_input(id);
    }

    /// Takes what a command's sandbox has told of its start. The next command in the cradle must not be told of it.
    fn take_told(&mut self, id: u64) -> Vec<String> {
        let command = self.commands.get(&id);
        let keeper = command.map(|command| command.keeper.clone());
        let Some(keeper) = keeper.filter(|keeper| keeper.sandbox.is_some()) else {
            return Vec::new();
        };
        self.read_keeper(keeper.id);
        let cradle = self.commands.get(&id).map_or(0, |command| command.cradle_pid);
        keeper.sandbox.as_ref().map_or_else(Vec::new, |sandbox| sandbox.take_denied(cradle))
    }

    /// Notes that the command does not run and never will.
    pub(super) fn not_started(&mut self, id: u64, mut ended: Ended) {
        self.end_questions(id);
        let told = self.take_told(id);
        if let Ended::Failed(error) = &mut ended {
            error.deny(&told);
        }
        self.release(id);
        let Some(command) = self.commands.remove(&id) else { return };
        self.orders.ended(id);
        self.timers.cancel_all(id);
        let LiveCommand { sink, input, streams, letter, .. } = command;
        if let Some(mut input) = input {
            input.fail(Errno::PIPE);
        }
        drop((streams, letter));
        self.members_gone(id, MembersGone::Confirmed);
        sink.ended(ended);
        self.advance_disposals();
    }
}
