//! A command's way from the request to its start, or to the news that there is none.

use rustix::io::Errno;

use crate::command::Opening;
use crate::command::errors::{LaunchError, Step};
use crate::command::outcome::{Cause, Ended};
use crate::keeper::Turn;
use crate::keeper::cradles::Cradle;
use crate::keeper::tenancy::Tenancy;
use crate::reactor::Reactor;
use crate::reactor::state::process::{LiveCommand, Phase, Spilling};
use crate::reactor::state::silence::Silence;
use crate::reactor::state::timers::Alarm;
use crate::request::order::{CradleChoice, LaunchOrder};

/// Of the cradles of one keeper the one that waited, and then the one that was made, may be unfit.
pub(super) const OF_ITS_KEEPER: u32 = 1;
/// And the one that another keeper has made.
const OF_ANOTHER: u32 = 2;

impl Reactor {
    /// A command is about to be asked for.
    pub(super) fn sent(&mut self, mut process: LiveCommand) {
        let id = process.id;
        if let Some(cradle) = &process.cradle {
            self.cradles.insert(cradle.id, id);
            process.parent = cradle.number();
        }
        self.expect_an_answer(id);
        process.owner.launch_ended();
        let unwanted = process.ticket.is_cancelled() || process.owner.is_disposed();
        self.processes.insert(id, process);
        if unwanted {
            self.cancel(id, None);
        }
    }

    /// It is about to be asked for again.
    pub(super) fn sent_again(&mut self, id: u64, turn: Turn, cradle: Cradle) {
        let Some(process) = self.processes.get_mut(&id) else {
            return self.free(turn.keeper(), cradle);
        };
        self.cradles.insert(cradle.id, id);
        process.parent = cradle.number();
        (process.keeper, process.cradle) = (Tenancy::of(turn.keeper()), Some(cradle));
        (process.turn, process.silence) = (Some(turn), Silence::default());
    }

    /// Its cradle is not as it was made, and has started nothing: a new one is asked, and at last one of
    /// another keeper, since whoever is changed hands that on to those that it makes.
    ///
    /// `known`: so many of them are known not to be fit, if more are than have said so.
    pub(super) fn is_unfit(&mut self, id: u64, errno: i32, known: u32, why: &str) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        let Phase::Starting { cancelled } = process.phase else { return };
        process.unfit = process.unfit.max(known) + 1;
        let (count, keeper, letter) =
            (process.unfit, process.keeper.clone(), process.letter.clone());
        if let Some(cradle) = process.cradle.take() {
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
                letter.take_back();
                self.orders.put(LaunchOrder::SendAgain(id, letter, keeper, CradleChoice::New));
            }
            _ => {
                let subject = format!("the command, whose parent {why}");
                let error = LaunchError { step: Step::Keeper, errno, subject };
                self.not_started(id, Ended::Failed(error));
            }
        }
    }

    /// Its cradle has died, or is to be heard of no more, after it may have read the request and before it
    /// has said what came of it. It may run, so it has been started.
    pub(super) fn may_have_started(&mut self, id: u64) {
        if self.processes.get(&id).is_some_and(|p| matches!(p.phase, Phase::Starting { .. })) {
            self.started(id);
        }
    }

    /// It runs.
    pub(super) fn started(&mut self, id: u64) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        self.timers.cancel(id, Alarm::Unanswered);
        // Our copies of the command's ends: their end is to be the command's.
        (process.letter, process.turn) = (None, None);
        let Phase::Starting { cancelled } = process.phase else { return };
        let cancelled_by = Phase::Ending(Cause::Cancelled, None);
        process.phase = if cancelled { cancelled_by } else { Phase::Running };
        let at_once = matches!(&process.spill, Spilling::Wanted(target) if target.opening == Opening::AtStart);
        let deadline = process.timeout.and_then(|time| process.started.checked_add(time));
        let (sink, pid) = (process.sink.clone(), process.pid);
        let Some(process) = self.processes.get(&id) else { return };
        if !at_once {
            self.watch_streams(id, &process.streams);
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

    /// It does not run, and never will.
    pub(super) fn not_started(&mut self, id: u64, ended: Ended) {
        self.release(id);
        let Some(process) = self.processes.remove(&id) else { return };
        self.timers.cancel_all(id);
        let LiveCommand { sink, input, streams, letter, .. } = process;
        if let Some(mut input) = input {
            input.fail(Errno::PIPE);
        }
        drop((streams, letter));
        self.followed_to_the_end(id, true);
        sink.ended(ended);
        self.advance_disposals();
    }
}
