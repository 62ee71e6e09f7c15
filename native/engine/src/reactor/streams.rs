//! Output and input of live commands.

use std::os::fd::AsFd;
use std::time::Instant;

use parking_lot::Mutex;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;

use crate::capture::live::Live;
use crate::drain::stream::{Progress, Stream, Tap, deliver};
use crate::os::pty::{self, Size, Typing};
use crate::os::watch::Source;
use crate::reactor::Reactor;
use crate::reactor::mailbox::Snapshot;
use crate::reactor::state::command::Spilling;
use crate::reactor::state::input::{Flow, OnWritten};
use crate::reactor::state::timers::Alarm;

impl Reactor {
    pub(super) fn drain(&mut self, id: u64, index: usize) {
        let streams = match self.commands.get_mut(&id) {
            Some(command) => Some(&mut command.streams),
            None => self.held.get_mut(&id),
        };
        let Some(stream) = streams.and_then(|streams| streams.get_mut(index)) else { return };
        match stream.drain(self.buffer.bytes(), |_| {}) {
            Progress::Dry | Progress::More => {}
            // The watch is level-triggered: a pipe that is not read must not be watched.
            Progress::Full | Progress::Ended => {
                self.watch.remove(stream.descriptor.as_fd());
            }
            Progress::Overflowing => self.spill(id),
        }
        if self.commands.contains_key(&id) {
            self.deliver(id);
            self.check_drained(id);
        } else {
            self.forget_ended_holders(id);
        }
    }

    /// Reads what is in the command's pipes now; the disk thread does so for its own.
    pub(super) fn read_rest(&mut self, id: u64) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        let mut is_overflowing = false;
        for stream in &mut command.streams {
            if !stream.tap.lock().ended {
                let progress = stream.drain(self.buffer.bytes(), |_| {});
                is_overflowing |= progress == Progress::Overflowing;
            }
        }
        if is_overflowing {
            self.spill(id);
        }
    }

    /// Hands the streams to the disk thread, if the command is to have a spill file.
    pub(super) fn spill(&mut self, id: u64) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        let Spilling::Wanted(target) = std::mem::replace(&mut command.spill, Spilling::OnDisk)
        else {
            return;
        };
        for stream in &command.streams {
            self.watch.remove(stream.descriptor.as_fd());
        }
        let streams = std::mem::take(&mut command.streams);
        self.disk.adopt(id, target, streams, command.form, command.sink.clone());
    }

    fn forget_ended_holders(&mut self, id: u64) {
        let all_ended = |streams: &Vec<Stream>| streams.iter().all(|s| s.tap.lock().ended);
        if self.held.get(&id).is_some_and(all_ended) {
            self.held.remove(&id);
        }
    }

    pub(super) fn deliver(&mut self, id: u64) {
        let Some(command) = self.commands.get(&id) else { return };
        let now = Instant::now();
        let flush = command.outputs.iter().filter_map(|output| {
            deliver(&output.tap, output.label, command.form, &*command.sink, now)
        });
        if let Some(at) = flush.min() {
            self.timers.set(id, Alarm::Flush, at);
        }
    }

    pub(super) fn resume(&mut self, id: u64) {
        let Some(command) = self.commands.get(&id) else { return };
        command.tell_listeners(Live::want);
        self.deliver(id);
        self.unpause(id);
    }

    /// Notes that the listener has left: it no longer makes the command wait.
    pub(super) fn detach(&mut self, id: u64) {
        let Some(command) = self.commands.get(&id) else { return };
        command.tell_listeners(Live::detach);
        self.unpause(id);
    }

    /// Watches again the streams that were paused for the listener and need not be any more.
    fn unpause(&mut self, id: u64) {
        let Some(command) = self.commands.get(&id) else { return };
        if matches!(command.spill, Spilling::OnDisk) {
            return self.disk.resume(id);
        }
        for (index, stream) in command.streams.iter().enumerate() {
            let tap = stream.tap.lock();
            if !tap.ended && !tap.is_paused() {
                // The stream may be watched already, if the other stream was the full one.
                let source = Source::Output(index);
                self.watch(stream.descriptor.as_fd(), id, source, EventFlags::IN);
            }
        }
    }

    pub(super) fn write(&mut self, id: u64, bytes: Vec<u8>, written: OnWritten) {
        match self.commands.get_mut(&id).and_then(|command| command.input.as_mut()) {
            Some(input) => input.push(bytes, written),
            None => return written(Err(Errno::PIPE)),
        }
        self.flush_input(id);
    }

    pub(super) fn end_input(&mut self, id: u64) {
        if let Some(input) = self.commands.get_mut(&id).and_then(|p| p.input.as_mut()) {
            input.end();
        }
        self.flush_input(id);
    }

    /// Changes the size of a terminal. No effect on a pipe, which has no size.
    pub(super) fn resize(&mut self, id: u64, size: Size) {
        let input = self.commands.get(&id).and_then(|command| command.input.as_ref());
        if let Some(input) = input {
            let _ = pty::resize(&input.descriptor, size);
        }
    }

    /// Returns how a terminal takes what is typed; None: the command has none, or is over.
    pub(super) fn typing(&self, id: u64) -> Option<Typing> {
        let input = self.commands.get(&id)?.input.as_ref()?;
        // A pipe has no modes.
        pty::typing(&input.descriptor).ok()
    }

    pub(super) fn flush_input(&mut self, id: u64) {
        let Some(command) = self.commands.get_mut(&id) else { return };
        let Some(input) = command.input.as_mut() else { return };
        self.watch.remove(input.descriptor.as_fd());
        match input.flush() {
            Flow::Idle => {}
            Flow::Blocked => {
                let descriptor = input.descriptor.as_fd();
                let _ = self.watch.add(descriptor, id, Source::Input, EventFlags::OUT);
            }
            Flow::Close => command.input = None,
        }
    }

    pub(super) fn snapshot(&self, id: u64) -> Snapshot {
        let command = self.commands.get(&id)?;
        let snapshot = |tap: &Mutex<Tap>| Some(tap.lock().capture.as_ref()?.snapshot());
        command.outputs.iter().map(|output| snapshot(&output.tap)).collect()
    }
}
