//! The engine: launches commands, drains and captures their output, signals and contains them.
//!
//! [`Command`] in, events to a [`Sink`] out. Everything happens on the engine's own threads:
//! one or two launch, one loop drains and keeps time for all, and one each, started when first
//! needed, sweeps `/proc` and writes spill files. No call here blocks.

mod capture;
mod command;
pub mod detached;
mod directory;
mod disk;
mod disposal;
mod ending;
mod errors;
mod family;
mod flow;
mod group;
mod holder;
mod input;
mod invocation;
pub mod keeper;
mod launch;
mod launcher;
mod lifecycle;
mod live;
mod mailbox;
mod mark;
mod orphans;
mod outcome;
mod owner;
mod page;
mod plumbing;
mod proc;
mod process;
mod pty;
mod queue;
mod reactor;
mod reap;
mod ring;
mod roster;
mod scene;
mod shell;
mod sink;
mod spill;
mod stream;
mod sweeper;
mod termination;
mod text;
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
pub use detached::DetachedCommand;
pub use directory::{Directory, HostDirectory};
pub use disposal::Done;
pub use errors::{LaunchError, StartError, Step, errno_text};
pub use input::Written;
pub use live::Overflow;
pub use mailbox::Snapshot;
pub use outcome::{BackgroundProcess, Cause, Ended, Outcome, Peak, SpillReport, Status, Usage};
pub use owner::{Owner, Ticket};
pub use pty::Size;
pub use rustix::io::Errno;
pub use rustix::process::Signal;
pub use sink::{Chunk, Data, Label, Sink};
pub use text::{NUL_SYMBOL, Text};

use keeper::Seat;
use launcher::{Launcher, Order};
use mailbox::{Mailbox, Message};
use queue::Queue;
use roster::Roster;

/// The engine of this process. There is one, for all its threads and JavaScript environments.
pub struct Engine {
    orders: Arc<Queue<Order>>,
    reactor: Mailbox,
    roster: Arc<Roster>,
    next_id: AtomicU64,
    keeper: Arc<Seat>,
}

/// A command that was started: the way to talk to it.
#[derive(Debug, Clone)]
pub struct Handle {
    /// Its id.
    pub id: u64,
    ticket: Arc<Ticket>,
}

/// Launching sleeps from clone to exec; a second thread uses that time, and stands in when a
/// dead network directory holds the first.
const LAUNCHERS: usize = 2;

impl Engine {
    /// Starts the engine's threads. `keeper` is the keeper's program; without one, commands of
    /// a host that is killed get SIGTERM from the kernel and nothing more.
    pub fn start(keeper: Option<PathBuf>) -> Result<Engine, StartError> {
        launch::supported().map_err(StartError::in_action("waitid by pidfd"))?;
        let roster = Roster::new().map_err(StartError::in_action("memfd_create"))?;
        let roster = Arc::new(roster);
        let reactor = Mailbox::new().map_err(StartError::in_action("eventfd"))?;
        let keeper = Arc::new(Seat::new(keeper));
        let launcher = || Launcher::new(reactor.clone(), roster.clone(), keeper.clone());
        let launchers = (0..LAUNCHERS).map(|_| launcher()).collect::<Result<Vec<_>, _>>()?;
        reactor::start(reactor.clone(), roster.clone())
            .map_err(StartError::in_action("the event loop"))?;
        let orders = Arc::new(Queue::new());
        for mut launcher in launchers {
            let orders = orders.clone();
            threads::spawn("forkline-launch", move || launcher.run(&orders))
                .map_err(StartError::in_action("a thread"))?;
        }
        Ok(Engine { orders, reactor, roster, next_id: AtomicU64::new(1), keeper })
    }

    /// A new owner of commands.
    pub fn owner(&self) -> Arc<Owner> {
        Arc::new(Owner::new(self.new_id()))
    }

    /// Starts a command; its events go to `sink`.
    pub fn run(&self, command: Command, owner: &Arc<Owner>, sink: Arc<dyn Sink>) -> Handle {
        let handle = Handle { id: self.new_id(), ticket: Arc::new(Ticket::default()) };
        owner.launch_begins();
        self.orders.put(Order {
            id: handle.id,
            command,
            owner: owner.clone(),
            ticket: handle.ticket.clone(),
            sink,
        });
        handle
    }

    /// Starts a command that outlives the host; `answer` is told its process id.
    pub fn start_detached(&self, command: DetachedCommand, answer: detached::Answer) {
        let program = self.keeper.program().map(Path::to_owned);
        detached::start(program, command, self.reactor.clone(), answer);
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
        self.reactor.send(Message::Dispose(self.new_id(), owner.clone(), grace, done));
    }

    /// The host is about to exit: asks every group that runs to end. The keeper does the rest;
    /// without one, they are killed.
    pub fn host_exits(&self) {
        self.roster.signal_all(if self.keeper.is_taken() { Signal::TERM } else { Signal::KILL });
    }

    fn new_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }
}
