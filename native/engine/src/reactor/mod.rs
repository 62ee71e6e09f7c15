//! The event loop: one thread for the output, exits and deadlines of all commands.
//!
//! It owns every live command; others talk to it through its mailbox.

mod answers;
mod cradles;
mod disk;
mod disposal;
mod followers;
mod keepers;
mod lifecycle;
pub mod mailbox;
mod silence;
mod starting;
pub mod state;
mod stopped;
mod streams;

use std::collections::HashMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use rustix::event::Timespec;
use rustix::event::epoll::{Event, EventFlags};
use rustix::io::Errno;

use crate::command::outcome::Ended;
use crate::drain::stream::Stream;
use crate::keeper::Keeper;
use crate::os::page::PageBuffer;
use crate::os::queue::Queue;
use crate::os::threads;
use crate::os::watch::{Source, Watch};
use crate::reactor::disk::Disk;
use crate::reactor::mailbox::{BELL, Mailbox, Message};
use crate::reactor::state::command::LiveCommand;
use crate::reactor::state::followers::Followers;
use crate::reactor::state::group::Group;
use crate::reactor::state::leftover::{Disposal, Leftover};
use crate::reactor::state::timers::{Alarm, Timers};
use crate::request::order::LaunchOrder;

/// The loop's state.
pub struct Reactor {
    pub(super) watch: Watch,
    pub(super) mailbox: Mailbox,
    pub(super) commands: HashMap<u64, LiveCommand>,
    /// Whose command a cradle is at, by their ids.
    pub(super) cradles: HashMap<u64, u64>,
    /// Pipes that outlived their command's result: drained, so that their holders can go on.
    pub(super) held: HashMap<u64, Vec<Stream>>,
    /// Those who outlived their command.
    pub(super) leftovers: HashMap<u64, Leftover>,
    /// Those who follow a command, running or left.
    pub(super) followers: HashMap<u64, Followers>,
    pub(super) timers: Timers,
    pub(super) disk: Disk,
    pub(super) disposals: Vec<Disposal>,
    /// That run.
    pub(super) keepers: Vec<Arc<Keeper>>,
    /// To be reaped.
    pub(super) groups: HashMap<u64, Group>,
    pub(super) orders: Arc<Queue<LaunchOrder>>,
    pub(super) on_keeper_death: Box<dyn Fn() + Send>,
    pub(super) on_listen: OnListen,
    pub(super) buffer: PageBuffer,
    /// For what cradles say.
    pub(super) answers: Vec<u8>,
}

/// Told of a sandbox by a number, with its plan, the socket by which who is in it is to reach the
/// network, and a pipe: a byte says there that it is served, its end that nobody does. Later, without
/// them, that it is gone.
pub type OnListen = Box<dyn Fn(u64, &[u8], Option<[OwnedFd; 2]>) + Send>;

/// The size of the buffer for what cradles say, in bytes: longer than any answer.
const ANSWERS_SIZE: usize = 128 * 1024;
/// How many events one wait brings at most.
const MOST_EVENTS: usize = 256;
/// Full rounds of events that go before the timers.
const ROUNDS_BEFORE_TIMERS: usize = 16;

/// Starts the loop on a thread of its own.
pub fn start(
    watch: Watch,
    mailbox: Mailbox,
    orders: Arc<Queue<LaunchOrder>>,
    on_keeper_death: Box<dyn Fn() + Send>,
    on_listen: OnListen,
) -> io::Result<()> {
    // Everything that can run short comes before the threads, which could not be taken back.
    let buffer = PageBuffer::new()?;
    let mut reactor = Reactor {
        watch,
        disk: Disk::new(mailbox.clone()),
        mailbox,
        commands: HashMap::new(),
        cradles: HashMap::new(),
        held: HashMap::new(),
        leftovers: HashMap::new(),
        followers: HashMap::new(),
        timers: Timers::default(),
        disposals: Vec::new(),
        keepers: Vec::new(),
        groups: HashMap::new(),
        orders,
        on_keeper_death,
        on_listen,
        buffer,
        answers: vec![0; ANSWERS_SIZE],
    };
    threads::spawn("forkline-reactor", move || reactor.run())
}

impl Reactor {
    fn run(&mut self) {
        let mut events = Vec::with_capacity(MOST_EVENTS);
        let mut full_rounds = 0;
        loop {
            let wait = self.timers.wait(Instant::now());
            let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
            match self.watch.wait(&mut events, wait.as_ref()) {
                Ok(()) => {}
                // So ends a stop of the host, with timers due whose commands have long ended or
                // printed: what happened is looked at first.
                Err(Errno::INTR) => continue,
                // Only a bug of ours can be the reason; turning in circles would hide it.
                Err(_) => return,
            }
            let rung = events.iter().any(|event| Source::of(event).0 == BELL);
            // What an event is about may be in a letter that nobody has rung for.
            self.read_mail(rung);
            events.iter().for_each(|event| self.ready(event));
            // More has happened than fits; but who prints without end must not stop the clock.
            let full = events.len() == events.capacity();
            full_rounds = if full { full_rounds + 1 } else { 0 };
            if full_rounds % ROUNDS_BEFORE_TIMERS == 0 {
                self.run_timers();
            }
        }
    }

    fn ready(&mut self, event: &Event) {
        match Source::of(event) {
            (BELL, Source::Cradle) => {}
            (id, Source::Cradle) => self.read_cradle(id),
            (id, Source::Lifeline) => self.read_keeper(id),
            (id, Source::Output(index)) => self.drain(id, index),
            (id, Source::Input) => self.flush_input(id),
        }
    }

    fn run_timers(&mut self) {
        let now = Instant::now();
        while let Some((id, alarm)) = self.timers.pop(now) {
            match alarm {
                Alarm::Deadline => self.deadline(id),
                Alarm::Unanswered => self.unanswered(id),
                Alarm::Lost => self.lost(id),
                Alarm::Reap => self.reap(id),
                Alarm::Shed => self.shed(id),
                Alarm::Quiet => self.check_drained(id),
                Alarm::Flush => self.deliver(id),
                Alarm::Patience => self.disk_timed_out(id),
            }
        }
    }

    fn read_mail(&mut self, rung: bool) {
        for message in self.mailbox.empty(rung) {
            self.receive(message);
        }
    }

    fn receive(&mut self, message: Message) {
        match message {
            Message::KeeperStarted(keeper) => self.keeper_started(keeper),
            Message::Reap(id, group) => self.reap_group(id, group),
            Message::Sent(command) => self.sent(*command),
            Message::SentAgain(id, turn, cradle) => self.sent_again(id, turn, cradle),
            Message::NotSent(id, error) => self.not_started(id, Ended::Failed(error)),
            Message::NotTaken(id) => self.send_again(id),
            Message::NotWanted(id) => self.not_started(id, Ended::NeverStarted),
            Message::LaunchFailed(owner) => self.launch_failed(&owner),
            Message::Write(id, bytes, written) => self.write(id, bytes, written),
            Message::EndInput(id) => self.end_input(id),
            Message::Resize(id, size) => self.resize(id, size),
            Message::Signal(id, signal, sent) => self.signal(id, signal, sent),
            Message::Cancel(id, grace) => self.cancel(id, grace),
            Message::Snapshot(id, answer) => answer(self.snapshot(id)),
            Message::Members(id, asked) => self.members(id, asked),
            Message::Sandbox(id, answer) => answer(self.sandbox_report(id)),
            Message::WhenGone(id, gone) => self.when_gone(id, gone),
            Message::Resume(id) => self.resume(id),
            Message::Detach(id) => self.detach(id),
            Message::FlushAt(id, at) => self.timers.set(id, Alarm::Flush, at),
            Message::Spilled(id, report, streams) => self.spilled(id, report, streams),
            Message::Dispose(owner, grace, done) => self.dispose(owner, grace, done),
        }
    }

    pub(super) fn watch(&self, fd: BorrowedFd, id: u64, source: Source, flags: EventFlags) {
        // Fails only when the kernel is out of memory or watches; the command's own
        // deadline then still ends it.
        let _ = self.watch.add(fd, id, source, flags);
    }

    /// Before every close.
    pub(super) fn unwatch(&self, fd: BorrowedFd) {
        self.watch.remove(fd);
    }
}
