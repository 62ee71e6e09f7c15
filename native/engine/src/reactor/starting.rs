//! A command's way from the request to its start, or to the news that there is none.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::command::Opening;
use crate::command::outcome::{Cause, Ended};
use crate::keeper::Keeper;
use crate::keeper::cradles::Cradle;
use crate::reactor::Reactor;
use crate::reactor::process::{Phase, Process, Spilling};
use crate::reactor::timers::Alarm;

/// A request that has waited this long may have a keeper that was stopped.
const UNANSWERED: Duration = Duration::from_secs(1);

impl Reactor {
    /// A command is about to be asked for.
    pub(super) fn sent(&mut self, process: Process) {
        let id = process.id;
        if let Some(cradle) = &process.cradle {
            self.cradles.insert(cradle.id, id);
        }
        self.timers.set(id, Alarm::Unanswered, Instant::now() + UNANSWERED);
        process.owner.launch_ended();
        let unwanted = process.ticket.is_cancelled() || process.owner.is_disposed();
        self.processes.insert(id, process);
        if unwanted {
            self.cancel(id, None);
        }
    }

    /// It is about to be asked for again.
    pub(super) fn sent_again(&mut self, id: u64, keeper: Arc<Keeper>, cradle: Cradle) {
        let Some(process) = self.processes.get_mut(&id) else {
            return self.free(&keeper, cradle);
        };
        self.cradles.insert(cradle.id, id);
        (process.keeper, process.cradle) = (keeper, Some(cradle));
    }

    /// It runs.
    pub(super) fn started(&mut self, id: u64) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        self.timers.cancel(id, Alarm::Unanswered);
        // Our copies of the command's ends: their end is to be the command's.
        process.letter = None;
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
        sink.ended(ended);
        self.advance_disposals();
    }

    /// Nobody has answered yet: its keeper may have been stopped.
    pub(super) fn unanswered(&mut self, id: u64) {
        let Some(process) = self.processes.get(&id) else { return };
        if process.letter.is_some() {
            process.keeper.lifeline.go_on();
            self.timers.set(id, Alarm::Unanswered, Instant::now() + UNANSWERED);
        }
    }
}
