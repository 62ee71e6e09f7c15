//! A command's way from the request to its start, or to the news that there is none.

use rustix::io::Errno;

use crate::command::Opening;
use crate::command::outcome::{Cause, Ended};
use crate::keeper::Turn;
use crate::keeper::cradles::Cradle;
use crate::keeper::tenancy::Tenancy;
use crate::reactor::Reactor;
use crate::reactor::process::{Phase, Process, Spilling};
use crate::reactor::timers::Alarm;

impl Reactor {
    /// A command is about to be asked for.
    pub(super) fn sent(&mut self, process: Process) {
        let id = process.id;
        if let Some(cradle) = &process.cradle {
            self.cradles.insert(cradle.id, id);
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
        (process.keeper, process.cradle) = (Tenancy::of(turn.keeper()), Some(cradle));
        process.turn = Some(turn);
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
        let Process { sink, input, streams, letter, .. } = process;
        if let Some(mut input) = input {
            input.fail(Errno::PIPE);
        }
        drop((streams, letter));
        self.followed_to_the_end(id, true);
        sink.ended(ended);
        self.advance_disposals();
    }
}
