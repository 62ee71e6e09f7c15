//! The event loop: one thread for the output, exits and deadlines of all commands.
//!
//! The loop owns every live command; other threads talk to it through its mailbox.

mod answers;
mod cradles;
mod disk;
mod disposal;
mod followers;
mod keepers;
mod lifecycle;
pub mod mailbox;
mod questions;
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
use crate::os::threads;
use crate::os::watch::{Source, Watch};
use crate::reactor::disk::Disk;
use crate::reactor::mailbox::{BELL, Mailbox, Message};
use crate::reactor::state::command::LiveCommand;
use crate::reactor::state::followers::Followers;
use crate::reactor::state::group::Group;
use crate::reactor::state::leftover::{Disposal, Leftover};
use crate::reactor::state::questions::Questions;
use crate::reactor::state::readiness::OnReady;
use crate::reactor::state::timers::{Alarm, Timers};
use crate::request::admission::Admission;

/// The state of the loop.
pub struct Reactor {
    pub(super) watch: Watch,
    pub(super) mailbox: Mailbox,
    pub(super) commands: HashMap<u64, LiveCommand>,
    /// The command in each cradle, by the cradle's id.
    pub(super) cradles: HashMap<u64, u64>,
    /// Pipes that outlived their command's result, drained so that the processes that hold them can go on.
    pub(super) held: HashMap<u64, Vec<Stream>>,
    /// Processes that outlived their command.
    pub(super) leftovers: HashMap<u64, Leftover>,
    /// Requests about the members of a command, which may be over.
    pub(super) followers: HashMap<u64, Followers>,
    /// Waits for streams of the host.
    pub(super) ready: HashMap<u64, OnReady>,
    pub(super) timers: Timers,
    pub(super) disk: Disk,
    pub(super) disposals: Vec<Disposal>,
    /// The keepers that run.
    pub(super) keepers: Vec<Arc<Keeper>>,
    /// The process groups to be reaped.
    pub(super) groups: HashMap<u64, Group>,
    pub(super) orders: Arc<Admission>,
    pub(super) on_keeper_death: Box<dyn Fn() + Send>,
    pub(super) on_listen: OnListen,
    pub(super) questions: Questions,
    pub(super) buffer: PageBuffer,
    /// The buffer for answers of cradles, and for news of keepers.
    pub(super) answers: Vec<u8>,
}

/// Called with the id of a sandbox's keeper, its plan, and two descriptors: the socket on which processes in
/// the sandbox reach its proxy, and a pipe. A byte written to the pipe means that the proxy is served; its
/// end, that it is not. Called again without descriptors when the sandbox is gone.
pub type OnListen = Box<dyn Fn(u64, &[u8], Option<[OwnedFd; 2]>) + Send>;

/// The size of the buffer for answers of cradles, in bytes; all answers are shorter.
const ANSWERS_SIZE: usize = 128 * 1024;
/// The most events of one wait.
const MOST_EVENTS: usize = 256;
/// The number of full rounds of events after which timers get a turn.
const ROUNDS_BEFORE_TIMERS: usize = 16;

/// Starts the loop on a thread of its own.
pub fn start(
    watch: Watch,
    mailbox: Mailbox,
    orders: Arc<Admission>,
    on_keeper_death: Box<dyn Fn() + Send>,
    on_listen: OnListen,
) -> io::Result<()> {
    // Everything that can fail comes before the thread, which could not be taken back.
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
        ready: HashMap::new(),
        timers: Timers::default(),
        disposals: Vec::new(),
        keepers: Vec::new(),
        groups: HashMap::new(),
        orders,
        on_keeper_death,
        on_listen,
        questions: Questions::default(),
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
                // A stop of the host (SIGSTOP) ends with EINTR. Timers are due then whose commands ended or
                // printed long ago, so events are handled first.
                Err(Errno::INTR) => continue,
                // Only a bug of the engine can cause this; repeating the wait would hide it.
                Err(_) => return,
            }
            let rung = events.iter().any(|event| Source::of(event).0 == BELL);
            // A message that an event depends on may have been left without a ring.
            self.read_mail(rung);
            events.iter().for_each(|event| self.ready(event));
            // More events are waiting than fit, so timers wait too; but commands that print without end must
            // not stop the clock.
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
            (id, Source::Lifeline) => self.lifeline_ready(id),
            (id, Source::Output(index)) => self.drain(id, index),
            (id, Source::Input) => self.flush_input(id),
            (id, Source::Local) => self.tell_ready(id, true),
        }
    }

    /// Tells of a stream of the host that it is ready, or closed.
    fn tell_ready(&mut self, id: u64, is_ready: bool) {
        if let Some(told) = self.ready.remove(&id) {
            told(is_ready);
        }
    }

    fn run_timers(&mut self) {
        let now = Instant::now();
        while let Some((id, alarm)) = self.timers.pop(now) {
            match alarm {
                Alarm::Deadline => self.deadline(id),
                Alarm::Unanswered => self.unanswered(id),
                Alarm::Lost => self.give_up_waiting(id),
                Alarm::Reap => self.reap(id),
                Alarm::Shed => self.shed(id),
                Alarm::Rested => self.rested(id),
                Alarm::Unplaced => self.place_late_questions(id),
                Alarm::Quiet => self.check_drained(id),
                Alarm::Flush => self.deliver(id),
                Alarm::Patience => self.disk_timed_out(id),
            }
        }
    }

    fn read_mail(&mut self, rung: bool) {
        for message in self.mailbox.take_all(rung) {
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
            Message::Typing(id, answer) => answer(self.typing(id)),
            Message::Signal(id, signal, sent) => self.signal(id, signal, sent),
            Message::Cancel(id, grace) => self.cancel(id, grace),
            Message::Expire(id) => self.deadline(id),
            Message::Snapshot(id, answer) => answer(self.snapshot(id)),
            Message::Members(id, asked) => self.members(id, asked),
            Message::Detached(id, ask) => self.detached_started(id, ask),
            Message::NotDetached(id) => self.detached_ended(id),
            Message::Decide(keeper, number, answer) => self.decide(keeper, number, answer),
            Message::Sandbox(id, answer) => answer(self.sandbox_report(id)),
            Message::WhenGone(id, gone) => self.when_gone(id, gone),
            Message::Resume(id) => self.resume(id),
            Message::Detach(id) => self.detach(id),
            Message::FlushAt(id, at) => self.timers.set(id, Alarm::Flush, at),
            Message::Spilled(id, report, streams) => self.spilled(id, report, streams),
            Message::Dispose(owner, grace, done) => self.dispose(owner, grace, done),
            Message::WhenReady(id, told) => drop(self.ready.insert(id, told)),
            Message::Closed(id) => self.tell_ready(id, false),
        }
    }

    pub(super) fn watch(&self, fd: BorrowedFd, id: u64, source: Source, flags: EventFlags) {
        // This fails only when the kernel is out of memory or watches; the command's own deadline then still
        // ends it.
        let _ = self.watch.add(fd, id, source, flags);
    }

    /// Removes a descriptor; needed before every close.
    pub(super) fn unwatch(&self, fd: BorrowedFd) {
        self.watch.remove(fd);
    }
}
