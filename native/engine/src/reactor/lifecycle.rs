//! The phases of a command, from launch to result.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use forkline_protocol::Order;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::process::Signal;

use crate::command::outcome::{Cause, Ended, Outcome, SpillReport};
use crate::drain::stream::{Stream, deliver_rest};
use crate::os::watch::Source;
use crate::reactor::Reactor;
use crate::reactor::state::command::{CommandExit, LiveCommand, Phase, Rest, Spilling};
use crate::reactor::state::followers::MembersGone;
use crate::reactor::state::grace::milliseconds;
use crate::reactor::state::leftover::Leftover;
use crate::reactor::state::silence::Silence;
use crate::reactor::state::timers::Alarm;
use crate::request::letter::Delivery;

/// After the command's end, output is taken to be complete once none has come for this long.
const QUIET: Duration = Duration::from_millis(250);
/// The longest time for which output is waited for after the command's end.
const WINDOW: Duration = Duration::from_secs(2);
/// The longest time that a disk may take to finish a spill file, once the output is complete.
const PATIENCE: Duration = Duration::from_secs(5);

impl Reactor {
    /// Handles a timeout. The command may have ended in time all the same: after a stop of the host (SIGSTOP,
    /// Ctrl-Z, a debugger), or with very many commands at once, timers are handled before all exits are.
    pub(super) fn deadline(&mut self, id: u64) {
        self.read_answers(id);
        let Some(command) = self.commands.get(&id) else { return };
        if matches!(command.phase, Phase::Running) {
            self.note_asked(id);
            self.terminate(id, Cause::TimedOut);
        }
    }

    /// Begins to end a running command.
    fn terminate(&mut self, id: u64, cause: Cause) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        (command.phase, command.silence) = (Phase::Ending(cause, None), Silence::default());
        let grace = milliseconds(command.grace);
        command.tell(match cause {
            Cause::TimedOut => Order::EndLate(grace),
            Cause::Itself | Cause::Cancelled => Order::End(grace),
        });
        self.timers.cancel(id, Alarm::Deadline);
        self.expect_answer(id);
    }

    /// Ends a command. For one that has ended already, no more output is waited for, and the processes left
    /// stay. Once its result has been made, a call ends these.
    pub(super) fn cancel(&mut self, id: u64, grace: Option<Duration>) {
        let Some(command) = self.commands.get_mut(&id) else {
            return self.end_leftover(id, grace);
        };
        if let Some(grace) = grace {
            command.grace = grace;
        }
        let order = Order::End(milliseconds(command.grace));
        match command.phase {
            Phase::Starting { .. } => {
                command.phase = Phase::Starting { cancelled: true };
                command.silence = Silence::default();
                // A request that has not been sent is withdrawn.
                if command.letter.as_ref().is_none_or(|letter| letter.withdraw() == Delivery::Sent)
                {
                    command.tell(order);
                }
                // The cradle reads nothing while its child waits for an answer.
                self.end_questions(id);
            }
            Phase::Running => self.terminate(id, Cause::Cancelled),
            Phase::Ending(..) if grace.is_some() => {
                command.silence = Silence::default();
                command.tell(order);
            }
            Phase::Ending(..) => {}
            // Neither the listener nor other holders of the pipe are waited for.
            Phase::Draining(exit, _) => {
                self.detach(id);
                self.close_output(id, exit);
            }
            Phase::Closing(_) | Phase::Asking(_) => {}
        }
    }

    /// Signals the process group; answers false when the command is over.
    pub(super) fn signal(&mut self, id: u64, signal: Signal, sent: Box<dyn FnOnce(bool) + Send>) {
        let Some(command) = self.commands.get_mut(&id) else { return sent(false) };
        match command.phase {
            Phase::Running | Phase::Ending(..) => {
                command.signals.push_back(sent);
                command.tell(Order::Signal(signal.as_raw()));
                self.expect_answer(id);
            }
            _ => sent(false),
        }
    }

    /// Handles the end of a command, and, if it was ended, of its members: its output remains to be read.
    pub(super) fn handle_end(&mut self, id: u64, exit: CommandExit) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        let now = Instant::now();
        command.phase = Phase::Draining(exit, now + WINDOW);
        if let Some(mut input) = command.input.take() {
            self.watch.remove(input.descriptor.as_fd());
            input.fail(Errno::PIPE);
        }
        command.terminal = None;
        self.timers.cancel(id, Alarm::Deadline);
        if exit.cause != Cause::Itself {
            // The caller that ends a command must not have to wait for its listener.
            self.detach(id);
        }
        self.check_drained(id);
    }

    /// Goes on if the output of a command that has ended can be taken to be complete.
    pub(super) fn check_drained(&mut self, id: u64) {
        let Some(command) = self.commands.get(&id) else { return };
        let Phase::Draining(exit, over_at) = command.phase else {
            // The command has most likely ended, and its cradle will say so.
            if matches!(command.phase, Phase::Running) && command.outputs_ended() {
                self.expect_answer(id);
            }
            return;
        };
        if command.outputs_ended() {
            return self.close_output(id, exit);
        }
        let now = Instant::now();
        if command.is_paused() && exit.cause == Cause::Itself {
            // Output that the listener has not taken yet is not late. (The end of a command that was ended by
            // the caller waits for no listener.)
            return self.timers.set(id, Alarm::Quiet, now + QUIET);
        }
        let ended_at = over_at - WINDOW;
        let due = over_at.min(command.last_data().max(ended_at) + QUIET);
        if due <= now {
            return self.close_output(id, exit);
        }
        self.timers.set(id, Alarm::Quiet, due);
    }

    fn close_output(&mut self, id: u64, exit: CommandExit) {
        self.timers.cancel(id, Alarm::Quiet);
        // The end of the command may have been read before the last of its output.
        self.read_rest(id);
        let Some(command) = self.commands.get_mut(&id) else { return };
        if !matches!(command.spill, Spilling::OnDisk) {
            return self.ask_for_members(id, exit);
        }
        command.phase = Phase::Closing(exit);
        self.timers.set(id, Alarm::Patience, Instant::now() + PATIENCE);
        self.disk.finish(id);
    }

    /// Takes note that the spill file is closed. `streams`: the pipes that are still open.
    pub(super) fn spilled(&mut self, id: u64, report: SpillReport, streams: Vec<Stream>) {
        self.watch_streams(id, &streams);
        let Some(command) = self.commands.get_mut(&id) else { return self.hold(id, streams) };
        command.spill = Spilling::Closed(report);
        command.streams = streams;
        match command.phase {
            Phase::Closing(exit) => self.ask_for_members(id, exit),
            _ => self.check_drained(id),
        }
    }

    /// Closes the command without its spill report: a disk that hangs must not make a command hang.
    pub(super) fn disk_timed_out(&mut self, id: u64) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        let Phase::Closing(exit) = command.phase else { return };
        let error = Some(libc::ETIMEDOUT);
        command.spill = Spilling::Closed(SpillReport { error, ..Default::default() });
        self.ask_for_members(id, exit);
    }

    /// Asks for the members that still run, unless the answer is known.
    fn ask_for_members(&mut self, id: u64, exit: CommandExit) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        self.timers.cancel(id, Alarm::Patience);
        command.phase = Phase::Asking(exit);
        match command.rest {
            Rest::Unknown => {
                command.tell(Order::Who);
                self.expect_answer(id);
            }
            Rest::Gone | Rest::Unkillable | Rest::Lost => self.make_result(id),
        }
    }

    /// Makes the result, for which everything is known now.
    pub(super) fn make_result(&mut self, id: u64) {
        // The keeper reports a denial before the denied process goes on.
        let keeper = self.commands.get(&id).map(|command| command.keeper.clone());
        if let Some(keeper) = keeper.filter(|keeper| keeper.sandbox.is_some()) {
            self.read_keeper(keeper.id);
        }
        let phase = self.commands.get(&id).map(|command| command.phase);
        let Some(Phase::Asking(exit)) = phase else { return };
        self.end_questions(id);
        let Some(command) = self.commands.remove(&id) else { return };
        self.timers.cancel_all(id);
        for output in &command.outputs {
            deliver_rest(&output.tap, output.label, command.form, &*command.sink);
        }
        // Only leftover processes need a label.
        let label = if command.cradle.is_some() { command.label() } else { String::new() };
        if command.cradle.is_none() {
            command.keeper.sandbox.iter().for_each(|of| of.forget_ports(command.cradle_pid));
        }
        let sandbox = command.keeper.sandbox.as_ref();
        let captures = command.outputs.iter();
        let captures = captures.filter_map(|output| output.tap.lock().capture.take());
        let outcome = Outcome {
            pid: command.pid,
            cause: exit.cause,
            reason: command.reason,
            status: exit.status,
            forced: exit.forced,
            wall: exit.wall,
            usage: exit.usage,
            captures: captures.map(|capture| capture.finish()).collect(),
            spill: match command.spill {
                Spilling::Closed(report) => Some(report),
                _ => None,
            },
            background: command.members,
            directory: command.directory,
            priority_errno: command.priority_errno,
            sandbox: sandbox.and_then(|sandbox| sandbox.take_report(command.cradle_pid)),
        };
        for sent in command.signals {
            sent(false);
        }
        let LiveCommand {
            streams,
            keeper,
            cradle,
            cradle_pid,
            owner,
            sink,
            input,
            rest,
            grace,
            ..
        } = command;
        self.hold(id, streams);
        // The cradle, if there still is one, looks after the processes left.
        if let Some(cradle) = cradle {
            let leftover = Leftover {
                owner: owner.id,
                label,
                keeper,
                cradle,
                cradle_pid,
                grace,
                is_ending: false,
                given_up: false,
                silence: Silence::default(),
            };
            self.leftovers.insert(id, leftover);
        } else {
            let certainty = match rest {
                Rest::Gone => MembersGone::Confirmed,
                Rest::Unknown | Rest::Unkillable | Rest::Lost => MembersGone::Unknown,
            };
            self.members_gone(id, certainty);
        }
        drop(input);
        // This comes last, so that every descriptor is closed when the sink is told.
        sink.ended(Ended::Ran(Box::new(outcome)));
        self.advance_disposals();
    }

    /// Drains pipes that other processes still hold, so that those neither block nor die of SIGPIPE.
    fn hold(&mut self, id: u64, streams: Vec<Stream>) {
        if streams.iter().all(|stream| stream.tap.lock().ended) {
            return;
        }
        self.watch_streams(id, &streams);
        self.held.insert(id, streams);
    }

    /// Watches the streams that have not ended; one that is watched already stays watched.
    pub(super) fn watch_streams(&self, id: u64, streams: &[Stream]) {
        for (index, stream) in streams.iter().enumerate() {
            if !stream.tap.lock().ended {
                let source = Source::Output(index);
                self.watch(stream.descriptor.as_fd(), id, source, EventFlags::IN);
            }
        }
    }
}
