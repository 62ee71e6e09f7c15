//! A command's way through its phases, from launch to result.

use std::collections::HashSet;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, EventFlags};
use rustix::io::Errno;
use rustix::process::Signal;

use crate::command::Opening;
use crate::family::Name;
use crate::outcome::{BackgroundProcess, Cause, Ended, Outcome, SpillReport, Status};
use crate::process::{Exit, Phase, Process, Spilling};
use crate::reactor::{Reactor, Source};
use crate::reap::reap;
use crate::stream::{Stream, deliver_rest};
use crate::sweeper::Job;
use crate::termination::Verdict;
use crate::timers::Alarm;

/// After the command's end, output that has been quiet this long is taken to be all.
const QUIET: Duration = Duration::from_millis(250);
/// And whatever comes after this is not waited for.
const WINDOW: Duration = Duration::from_secs(2);
/// How long a disk may take to finish a spill file, once the output is complete.
const PATIENCE: Duration = Duration::from_secs(5);

impl Reactor {
    pub(crate) fn launched(&mut self, process: Process) {
        let id = process.id;
        self.watch(process.pidfd.as_fd(), id, Source::Exit, EventFlags::IN);
        let at_once = matches!(&process.spill, Spilling::Wanted(target) if target.opening == Opening::AtStart);
        if !at_once {
            self.watch_streams(id, &process.streams);
        }
        if let Some(deadline) = process.timeout.and_then(|time| process.started.checked_add(time)) {
            self.timers.set(id, Alarm::Deadline, deadline);
        }
        self.orphans.expect();
        process.owner.launch_ended();
        let unwanted = process.ticket.is_cancelled() || process.owner.is_disposed();
        let (sink, pid) = (process.sink.clone(), process.group.number());
        self.processes.insert(id, process);
        sink.started(pid);
        if at_once {
            self.spill(id);
        }
        self.flush_input(id);
        if unwanted {
            self.cancel(id, None);
        }
    }

    /// The leader has ended.
    pub(crate) fn exited(&mut self, id: u64) {
        if let Some(pidfd) = self.unkillable.remove(&id) {
            self.unwatch(pidfd.as_fd());
            reap(&pidfd, 0);
            return;
        }
        let Some(process) = self.processes.get_mut(&id) else { return };
        let _ = epoll::delete(&self.epoll, &process.pidfd);
        match &mut process.phase {
            Phase::Running => self.over(id, Cause::Itself, Verdict::UNSEEN),
            // Not reaped yet: while it is a zombie, its group's number stays ours to signal.
            Phase::Ending(_, plan) => {
                let next = plan.look(Instant::now());
                self.proceed(id, next);
            }
            Phase::Draining(..) | Phase::Closing(_) | Phase::Surveying(_) => {}
        }
    }

    /// Its time is up. It may have ended in time all the same: after a stop of the host (SIGSTOP,
    /// Ctrl-Z, a debugger), or with very many at once, timers are looked at before all exits are.
    pub(crate) fn deadline(&mut self, id: u64) {
        let Some(process) = self.processes.get(&id) else { return };
        match process.phase {
            Phase::Running if process.has_exited() => self.exited(id),
            Phase::Running => self.terminate(id, Cause::TimedOut),
            _ => {}
        }
    }

    /// Ends a command; one that has ended already is no longer waited for.
    pub(crate) fn cancel(&mut self, id: u64, grace: Option<Duration>) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        if let Some(grace) = grace {
            process.grace = grace;
        }
        match process.phase {
            Phase::Running => self.terminate(id, Cause::Cancelled),
            Phase::Ending(..) => {
                if let Some(grace) = grace {
                    self.timers.set(id, Alarm::Grace, Instant::now() + grace);
                }
            }
            // What lies in the pipe is waited for, not the listener.
            Phase::Draining(..) if process.is_paused() => {
                self.detach(id);
                self.check_drained(id);
            }
            Phase::Draining(exit, _) => self.close(id, exit),
            Phase::Closing(_) | Phase::Surveying(_) => {}
        }
    }

    /// Signals the group; false when the command is over.
    pub(crate) fn signal(&mut self, id: u64, signal: Signal) -> bool {
        let Some(process) = self.processes.get(&id) else { return false };
        match process.phase {
            Phase::Running | Phase::Ending(..) => process.group.signal(signal).is_ok(),
            _ => false,
        }
    }

    /// The sweeper has found out who still runs.
    pub(crate) fn described(
        &mut self,
        id: u64,
        known: HashSet<Name>,
        rest: Vec<BackgroundProcess>,
    ) {
        let Some(process) = self.processes.get(&id) else { return };
        let Phase::Surveying(exit) = process.phase else { return };
        self.disposals.remember(process.owner.id, known);
        self.settle(id, exit, rest);
    }

    /// The command has ended, and been ended: reaps it, and sees to its output.
    pub(crate) fn over(&mut self, id: u64, cause: Cause, verdict: Verdict) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        // First: from the moment it is reaped, its number may be given to others.
        self.roster.remove(process.group);
        process.directory = process.holder.take().and_then(|holder| holder.directory());
        let now = Instant::now();
        let (status, usage) = reap(&process.pidfd, process.host_peak);
        let wall = now.duration_since(process.started);
        let exit = Exit { cause, status, usage, wall, verdict };
        process.phase = Phase::Draining(exit, now + WINDOW);
        if let Some(mut input) = process.input.take() {
            let _ = epoll::delete(&self.epoll, &input.descriptor);
            input.fail(Errno::PIPE);
        }
        process.terminal = None;
        self.timers.cancel(id, Alarm::Deadline);
        self.timers.cancel(id, Alarm::Grace);
        self.timers.cancel(id, Alarm::Recheck);
        if cause != Cause::Itself {
            // Whoever ends a command must not have to wait for its listener.
            self.detach(id);
        }
        self.check_drained(id);
    }

    /// Whether the output of a command that has ended may be taken to be complete.
    pub(crate) fn check_drained(&mut self, id: u64) {
        let Some(process) = self.processes.get(&id) else { return };
        let Phase::Draining(exit, over_at) = process.phase else { return };
        if process.outputs_ended() {
            return self.close(id, exit);
        }
        let now = Instant::now();
        if process.is_paused() && exit.cause == Cause::Itself {
            // What its listener has not taken yet is not late. (The end of a command that was
            // ended waits for nobody.)
            return self.timers.set(id, Alarm::Quiet, now + QUIET);
        }
        let ended_at = over_at - WINDOW;
        let due = over_at.min(process.last_data().max(ended_at) + QUIET);
        if due <= now {
            return self.close(id, exit);
        }
        self.timers.set(id, Alarm::Quiet, due);
    }

    fn close(&mut self, id: u64, exit: Exit) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        self.timers.cancel(id, Alarm::Quiet);
        if !matches!(process.spill, Spilling::OnDisk) {
            return self.survey(id, exit);
        }
        process.phase = Phase::Closing(exit);
        self.timers.set(id, Alarm::Patience, Instant::now() + PATIENCE);
        self.disk.finish(id);
    }

    /// The spill file is closed; `streams` are the pipes that are still held.
    pub(crate) fn spilled(&mut self, id: u64, report: SpillReport, streams: Vec<Stream>) {
        self.watch_streams(id, &streams);
        let Some(process) = self.processes.get_mut(&id) else { return self.hold(id, streams) };
        process.spill = Spilling::Closed(report);
        process.streams = streams;
        match process.phase {
            Phase::Closing(exit) => self.survey(id, exit),
            _ => self.check_drained(id),
        }
    }

    /// A disk that hangs must not make its command hang.
    pub(crate) fn disk_is_stuck(&mut self, id: u64) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        let Phase::Closing(exit) = process.phase else { return };
        let error = Some(libc::ETIMEDOUT);
        process.spill = Spilling::Closed(SpillReport { written: 0, dropped: 0, error });
        self.survey(id, exit);
    }

    /// Finds out who still runs, when anything hints that somebody does.
    fn survey(&mut self, id: u64, exit: Exit) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        self.timers.cancel(id, Alarm::Patience);
        if exit.verdict.cleared || process.outputs_ended() && process.group.is_empty() {
            return self.settle(id, exit, Vec::new());
        }
        process.phase = Phase::Surveying(exit);
        let _ = self.sweeper.send(Job::Describe(id, process.family()));
    }

    fn settle(&mut self, id: u64, exit: Exit, background: Vec<BackgroundProcess>) {
        let Some(process) = self.processes.remove(&id) else { return };
        self.timers.cancel_all(id);
        for output in &process.outputs {
            deliver_rest(&output.tap, output.label, process.form, &*process.sink);
        }
        let captures = process.outputs.iter();
        let captures = captures.filter_map(|output| output.tap.lock().capture.take());
        let outcome = Outcome {
            pid: process.group.number(),
            cause: exit.cause,
            status: exit.status,
            forced: exit.verdict.forced,
            wall: exit.wall,
            usage: exit.usage,
            captures: captures.map(|capture| capture.finish()).collect(),
            spill: match process.spill {
                Spilling::Closed(report) => Some(report),
                _ => None,
            },
            background,
            directory: process.directory,
        };
        let Process { streams, pidfd, sink, input, .. } = process;
        self.hold(id, streams);
        if exit.status == Status::Unknown {
            self.keep_unkillable(id, pidfd);
        } else {
            drop(pidfd);
        }
        drop(input);
        // Last: whoever is told finds every descriptor closed.
        sink.ended(Ended::Ran(Box::new(outcome)));
        self.orphans.expect();
        self.advance_disposals();
    }

    /// Keeps draining the pipes that others still hold, so that they neither block nor die of SIGPIPE.
    fn hold(&mut self, id: u64, streams: Vec<Stream>) {
        if streams.iter().all(|stream| stream.tap.lock().ended) {
            return;
        }
        self.watch_streams(id, &streams);
        self.held.insert(id, streams);
    }

    /// What could not be killed is reaped once it does die. (Gone already: the watch says so at once.)
    fn keep_unkillable(&mut self, id: u64, pidfd: OwnedFd) {
        self.watch(pidfd.as_fd(), id, Source::Exit, EventFlags::IN);
        self.unkillable.insert(id, pidfd);
    }

    /// Watches those that have not ended; one that is watched already stays so.
    fn watch_streams(&self, id: u64, streams: &[Stream]) {
        for (index, stream) in streams.iter().enumerate() {
            if !stream.tap.lock().ended {
                let source = Source::Output(index);
                self.watch(stream.descriptor.as_fd(), id, source, EventFlags::IN);
            }
        }
    }
}
