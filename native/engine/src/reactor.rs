//! The event loop: one thread for the output, exits and deadlines of all commands.
//!
//! It owns every live command; others talk to it through its mailbox.

use std::collections::HashMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use crate::disk::Disk;
use crate::disposal::{Disposal, Leftover};
use crate::keeper::Keeper;
use crate::keepers::Group;
use crate::launcher::Order;
use crate::mailbox::{BELL, Mailbox, Message};
use crate::outcome::Ended;
use crate::page::PageBuffer;
use crate::process::Process;
use crate::queue::Queue;
use crate::source::Source;
use crate::stream::Stream;
use crate::threads;
use crate::timers::{Alarm, Timers};

/// The loop's state.
pub struct Reactor {
    pub(crate) epoll: Arc<OwnedFd>,
    pub(crate) mailbox: Mailbox,
    pub(crate) processes: HashMap<u64, Process>,
    /// Whose command a cradle is at, by their ids.
    pub(crate) cradles: HashMap<u64, u64>,
    /// Pipes that outlived their command's result: drained, so that their holders can go on.
    pub(crate) held: HashMap<u64, Vec<Stream>>,
    /// Those who outlived their command.
    pub(crate) leftovers: HashMap<u64, Leftover>,
    pub(crate) timers: Timers,
    pub(crate) disk: Disk,
    pub(crate) disposals: Vec<Disposal>,
    /// That run.
    pub(crate) keepers: Vec<Arc<Keeper>>,
    /// To be reaped.
    pub(crate) groups: HashMap<u64, Group>,
    pub(crate) orders: Arc<Queue<Order>>,
    pub(crate) on_keeper_death: Box<dyn Fn() + Send>,
    pub(crate) buffer: PageBuffer,
    /// For what cradles say.
    pub(crate) answers: Vec<u8>,
}

/// Full rounds of events that go before the timers.
const ROUNDS_BEFORE_TIMERS: usize = 16;

/// Starts the loop on a thread of its own.
pub fn start(
    mailbox: Mailbox,
    orders: Arc<Queue<Order>>,
    on_keeper_death: Box<dyn Fn() + Send>,
) -> io::Result<()> {
    // Everything that can run short comes before the threads, which could not be taken back.
    let buffer = PageBuffer::new()?;
    let mut reactor = Reactor {
        epoll: mailbox.epoll().clone(),
        disk: Disk::new(mailbox.clone()),
        mailbox,
        processes: HashMap::new(),
        cradles: HashMap::new(),
        held: HashMap::new(),
        leftovers: HashMap::new(),
        timers: Timers::default(),
        disposals: Vec::new(),
        keepers: Vec::new(),
        groups: HashMap::new(),
        orders,
        on_keeper_death,
        buffer,
        answers: vec![0; 128 * 1024],
    };
    threads::spawn("forkline-reactor", move || reactor.run())
}

impl Reactor {
    fn run(&mut self) {
        let mut events = Vec::with_capacity(256);
        let mut full_rounds = 0;
        loop {
            let wait = self.timers.wait(Instant::now());
            let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
            events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), wait.as_ref()) {
                Ok(_) => {}
                // So ends a stop of the host, with timers due whose commands have long ended or
                // printed: what happened is looked at first.
                Err(Errno::INTR) => continue,
                // Only a bug of ours can be the reason; turning in circles would hide it.
                Err(_) => return,
            }
            let tokens = events.iter().map(|event| event.data.u64());
            // What an event is about may be in a letter that nobody has rung for.
            self.read_mail(tokens.clone().any(|token| token == BELL));
            tokens.for_each(|token| self.ready(token));
            // More has happened than fits; but who prints without end must not stop the clock.
            let full = events.len() == events.capacity();
            full_rounds = if full { full_rounds + 1 } else { 0 };
            if full_rounds % ROUNDS_BEFORE_TIMERS == 0 {
                self.ring();
            }
        }
    }

    fn ready(&mut self, token: u64) {
        match Source::from_token(token) {
            (BELL, Source::Cradle) => {}
            (id, Source::Cradle) => self.hear_cradle(id),
            (id, Source::Lifeline) => self.hear_keeper(id),
            (id, Source::Output(index)) => self.drain(id, index),
            (id, Source::Input) => self.flush_input(id),
        }
    }

    fn ring(&mut self) {
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
                Alarm::Patience => self.disk_is_stuck(id),
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
            Message::Sent(process) => self.sent(*process),
            Message::SentAgain(id, keeper, cradle) => self.sent_again(id, keeper, cradle),
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
            Message::Resume(id) => self.resume(id),
            Message::Detach(id) => self.detach(id),
            Message::FlushAt(id, at) => self.timers.set(id, Alarm::Flush, at),
            Message::Spilled(id, report, streams) => self.spilled(id, report, streams),
            Message::Dispose(owner, grace, done) => self.dispose(owner, grace, done),
        }
    }

    pub(crate) fn watch(&self, fd: BorrowedFd, id: u64, source: Source, flags: epoll::EventFlags) {
        // Fails only when the kernel is out of memory or watches; the command's own
        // deadline then still ends it.
        let _ = epoll::add(&self.epoll, fd, source.token(id), flags);
    }

    /// Before every close.
    pub(crate) fn unwatch(&self, fd: BorrowedFd) {
        self.mailbox.unwatch(fd);
    }
}
