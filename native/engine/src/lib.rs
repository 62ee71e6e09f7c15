//! The engine: launches commands, drains and captures their output, signals and contains them.
//!
//! [`Command`] in, events to a [`Sink`] out. Everything happens on the engine's own threads:
//! one sends requests to the keeper, one loop drains and keeps time for all, and one, started when
//! first needed, writes spill files. No call here blocks, but for the start of a keeper.

mod answers;
mod attributes;
mod capture;
mod command;
mod detached;
mod directory;
mod disk;
mod disposal;
mod errors;
mod flow;
mod identity;
mod input;
mod invocation;
mod keeper;
mod keepers;
mod launcher;
mod lifecycle;
mod live;
mod mailbox;
mod mark;
mod message;
mod outcome;
mod owner;
mod page;
mod plumbing;
mod process;
mod pty;
mod queue;
mod reactor;
mod ring;
mod seat;
mod shell;
mod sink;
mod spill;
mod starting;
mod status;
mod stopped;
mod stream;
mod text;
mod thread;
mod threads;
mod timers;
mod utf8;
mod window;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub use capture::{Captured, Counts, Limits, Parts};
pub use command::{Command, Form, Listen, Opening, SpillTarget, Stdin, Streams};
pub use detached::{Answer, DetachedCommand};
pub use directory::{Directory, HostDirectory};
pub use disposal::Done;
pub use errors::{LaunchError, StartError, Step, errno_text};
pub use input::Written;
pub use live::Overflow;
pub use mailbox::Snapshot;
pub use outcome::{BackgroundProcess, Cause, Ended, Outcome, SpillReport, Status, Usage};
pub use owner::{Owner, Ticket};
pub use pty::Size;
pub use rustix::io::Errno;
pub use rustix::process::Signal;
pub use sink::{Chunk, Data, Label, Sink};
pub use text::{NUL_SYMBOL, Text};

use launcher::{Launcher, Order, Start};
use mailbox::{Mailbox, Message};
use queue::Queue;
use rustix::fs::{Mode, OFlags, open};
use seat::Seat;

/// The engine of this process. There is one, for all its threads and JavaScript environments.
pub struct Engine {
    orders: Arc<Queue<Order>>,
    reactor: Mailbox,
    next_id: Arc<AtomicU64>,
    seat: Arc<Seat>,
}

/// A command that was started: the way to talk to it.
#[derive(Debug, Clone)]
pub struct Handle {
    /// Its id.
    pub id: u64,
    ticket: Arc<Ticket>,
}

impl Engine {
    /// Starts the engine's threads, and the keeper, whose program is at this path; without one, no
    /// command can be run. `on_keeper_death` is called when somebody has killed it.
    pub fn start(
        keeper: Option<PathBuf>,
        on_keeper_death: Box<dyn Fn() + Send>,
    ) -> Result<Engine, StartError> {
        let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .map_err(StartError::in_action("opening /dev/null"))?;
        forkline_protocol::pair().map_err(StartError::in_action("socketpair"))?;
        let reactor = Mailbox::new().map_err(StartError::in_action("eventfd"))?;
        let next_id = Arc::new(AtomicU64::new(1));
        let ids = next_id.clone();
        let new_id = move || ids.fetch_add(1, Ordering::Relaxed);
        let seat = Arc::new(Seat::new(keeper, reactor.clone(), new_id));
        let orders = Arc::new(Queue::new());
        reactor::start(reactor.clone(), orders.clone(), on_keeper_death)
            .map_err(StartError::in_action("the event loop"))?;
        let launcher = Launcher::new(reactor.clone(), seat.clone(), null);
        let taken = orders.clone();
        threads::spawn("forkline-launch", move || launcher.run(&taken))
            .map_err(StartError::in_action("a thread"))?;
        // A failure is told by the first command, which tries again.
        let _ = seat.keeper(false);
        Ok(Engine { orders, reactor, next_id, seat })
    }

    /// A new owner of commands.
    pub fn owner(&self) -> Arc<Owner> {
        Arc::new(Owner::new(self.new_id()))
    }

    /// Starts a command; its events go to `sink`.
    pub fn run(&self, command: Command, owner: &Arc<Owner>, sink: Arc<dyn Sink>) -> Handle {
        let handle = Handle { id: self.new_id(), ticket: Arc::new(Ticket::default()) };
        owner.launch_begins();
        // By this very thread, whose namespaces may be its own.
        let keeper = self.seat.keeper(command.directory.is_none());
        self.orders.put(Order::Start(Box::new(Start {
            id: handle.id,
            command,
            owner: owner.clone(),
            ticket: handle.ticket.clone(),
            sink,
            thread: thread::id(),
            keeper,
        })));
        handle
    }

    /// Starts a command that outlives the host; `answer` is told its process id.
    pub fn start_detached(&self, command: DetachedCommand, answer: Answer) {
        let program = self.seat.program().map(Path::to_owned);
        let (reactor, id) = (self.reactor.clone(), self.new_id());
        let reap = Box::new(move |group| reactor.send(Message::Reap(id, group)));
        detached::start(program, command, reap, answer);
    }

    /// Ends a command, wherever it is on its way: `grace` in place of its own, if given.
    pub fn cancel(&self, handle: &Handle, grace: Option<Duration>) {
        handle.ticket.cancel();
        self.reactor.send(Message::Cancel(handle.id, grace));
    }

    /// Writes to a command's standard input.
    pub fn write(&self, id: u64, bytes: Vec<u8>, written: Written) {
        self.reactor.send(Message::Write(id, bytes, written));
    }

    /// Closes a command's standard input, once all is written.
    pub fn end_input(&self, id: u64) {
        self.reactor.send(Message::EndInput(id));
    }

    /// Gives a command's terminal another size; nothing happens when it has none, or is over.
    pub fn resize(&self, id: u64, size: Size) {
        self.reactor.send(Message::Resize(id, size));
    }

    /// Signals a command's group; tells whether the command still ran.
    pub fn signal(&self, id: u64, signal: Signal, sent: Box<dyn FnOnce(bool) + Send>) {
        self.reactor.send(Message::Signal(id, signal, sent));
    }

    /// What a command has printed so far; None when it is over.
    pub fn snapshot(&self, id: u64, answer: Box<dyn FnOnce(Snapshot) + Send>) {
        self.reactor.send(Message::Snapshot(id, answer));
    }

    /// A command's listener can take more output.
    pub fn resume(&self, id: u64) {
        self.reactor.send(Message::Resume(id));
    }

    /// A command's listener has left: it no longer holds the command up.
    pub fn detach(&self, id: u64) {
        self.reactor.send(Message::Detach(id));
    }

    /// Ends all that an owner has started, and refuses to start more.
    pub fn dispose(&self, owner: &Arc<Owner>, grace: Duration, done: Done) {
        owner.dispose();
        self.reactor.send(Message::Dispose(owner.clone(), grace, done));
    }

    fn new_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }
}
