//! A command's way from the request to its start, or to the news that there is none.

use std::os::fd::AsFd;

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;

use crate::command::Opening;
use crate::errors::LaunchError;
use crate::outcome::{Cause, Ended};
use crate::process::{Phase, Process, Spilling};
use crate::reactor::{Reactor, Source};
use crate::timers::Alarm;

impl Reactor {
    /// A command has been asked for.
    pub(crate) fn sent(&mut self, process: Process) {
        let id = process.id;
        self.watch(process.channel.as_fd(), id, Source::Channel, EventFlags::IN);
        self.expect_an_answer(id);
        process.owner.launch_ended();
        let unwanted = process.ticket.is_cancelled() || process.owner.is_disposed();
        self.processes.insert(id, process);
        if unwanted {
            self.cancel(id, None);
        }
    }

    /// It runs.
    pub(crate) fn started(&mut self, id: u64) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        self.timers.cancel(id, Alarm::Unanswered);
        // Our copies of the command's ends: their end is to be the command's.
        process.sending = None;
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
    pub(crate) fn not_started(&mut self, id: u64, ended: Ended) {
        let Some(process) = self.processes.remove(&id) else { return };
        self.timers.cancel_all(id);
        self.unwatch(process.channel.as_fd());
        let Process { sink, input, streams, sending, .. } = process;
        if let Some(mut input) = input {
            input.fail(Errno::PIPE);
        }
        drop((streams, sending, process.channel));
        sink.ended(ended);
        self.advance_disposals();
    }

    /// It could not be sent once more.
    pub(crate) fn not_sent(&mut self, id: u64, error: LaunchError) {
        self.not_started(id, Ended::Failed(error));
    }
}
