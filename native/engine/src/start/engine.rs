//! The engine's interface.

use std::ffi::CStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forkline_protocol::ExecAnswer;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::Signal;

use crate::command::Command;
use crate::command::errors::StartError;
use crate::command::owner::{Owner, Ticket};
use crate::command::sink::{OnAsk, Sink};
use crate::keeper::identity::StartsIn;
use crate::keeper::seats::Seats;
use crate::keeper::thread;
use crate::os::pty::{Size, Typing};
use crate::os::threads;
use crate::os::watch::Watch;
use crate::reactor::mailbox::{Mailbox, Message, Snapshot};
use crate::reactor::state::followers::{OnGone, OnMembers};
use crate::reactor::state::input::OnWritten;
use crate::reactor::state::leftover::OnDisposed;
use crate::reactor::{self, OnListen};
use crate::request::admission::Admission;
use crate::request::order::{LaunchOrder, NewCommand};
use crate::start::detached::{self, DetachedCommand, OnDetached};
use crate::start::launcher::Launcher;
use crate::start::local_pipe::LocalPipe;
use crate::start::seated::SandboxTurn;

/// The engine of this process, shared by all its threads and JavaScript environments.
pub struct Engine {
    orders: Arc<Admission>,
    reactor: Mailbox,
    watch: Watch,
    seats: Arc<Seats>,
}

/// The handle of a command that was started.
#[derive(Debug, Clone)]
pub struct Handle {
    /// The id of the command.
    pub id: u64,
    ticket: Arc<Ticket>,
}

impl Engine {
    /// Starts the engine's threads, and the keeper with the program at `keeper`; without one, no command can
    /// be run. `on_keeper_death` is called when the keeper was killed, `on_listen` with the socket of a
    /// sandbox whose proxy the host is to serve.
    pub fn start(
        keeper: Option<PathBuf>,
        on_keeper_death: Box<dyn Fn() + Send>,
        on_listen: OnListen,
    ) -> Result<Engine, StartError> {
        let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .map_err(StartError::in_action("opening /dev/null"))?;
        forkline_protocol::pair().map_err(StartError::in_action("socketpair"))?;
        let watch = Watch::new().map_err(StartError::in_action("epoll_create"))?;
        let reactor = Mailbox::new(&watch).map_err(StartError::in_action("eventfd"))?;
        let told = reactor.clone();
        let on_start = Arc::new(move |keeper| told.send(Message::KeeperStarted(keeper)));
        let seats = Arc::new(Seats::new(keeper, watch.clone(), on_start));
        let orders = Arc::new(Admission::new());
        reactor::start(watch.clone(), reactor.clone(), orders.clone(), on_keeper_death, on_listen)
            .map_err(StartError::in_action("the event loop"))?;
        let launcher = Launcher::new(reactor.clone(), seats.clone(), null);
        let taken = orders.clone();
        threads::spawn("forkline-launch", move || launcher.run(&taken))
            .map_err(StartError::in_action("a thread"))?;
        // If this fails, the first command tries again and gets the error.
        let _ = seats.keeper(None, StartsIn::NamedDirectory);
        Ok(Engine { orders, reactor, watch, seats })
    }

    /// Makes an owner of commands.
    pub fn owner(&self) -> Arc<Owner> {
        Arc::new(Owner::new(self.new_id()))
    }

    /// Starts a command, whose events go to `sink`.
    pub fn run(&self, command: Command, owner: &Arc<Owner>, sink: Arc<dyn Sink>) -> Handle {
        let handle = Handle { id: self.new_id(), ticket: Arc::new(Ticket::default()) };
        owner.launch_begins();
        // The keeper is chosen on the calling thread, whose namespaces may be its own.
        let starts_in = match command.directory {
            None => StartsIn::HostDirectory,
            Some(_) => StartsIn::NamedDirectory,
        };
        let keeper = self.seats.keeper(command.sandbox.as_ref(), starts_in);
        self.orders.put(LaunchOrder::Start(Box::new(NewCommand {
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

    /// Starts a command that outlives the host. `ask` is called with questions about its programs, `answer` with its
    /// process id.
    pub fn start_detached(&self, command: DetachedCommand, ask: OnAsk, answer: OnDetached) {
        let program = self.seats.program().map(PathBuf::from);
        let (reactor, id) = (self.reactor.clone(), self.new_id());
        let reap = Box::new(move |group| reactor.send(Message::Reap(id, group)));
        // The keeper is chosen on the calling thread, as for any command.
        let sandbox = command.sandbox.as_ref();
        let keeper = |plan| self.seats.keeper(Some(plan), StartsIn::NamedDirectory);
        let sandbox = sandbox.map(|plan| SandboxTurn::of(id, keeper(plan)));
        let answer = if sandbox.is_some() { self.with_questions(id, ask, answer) } else { answer };
        let most = command.starts_at_once;
        let start = Box::new(|| detached::start(program, command, sandbox, reap, answer));
        self.orders.put(LaunchOrder::Detach(id, most, start));
    }

    /// Ends a command at any stage. `grace`: in place of its own.
    pub fn cancel(&self, handle: &Handle, grace: Option<Duration>) {
        handle.ticket.cancel();
        self.orders.release_cancelled();
        self.reactor.send(Message::Cancel(handle.id, grace));
    }

    /// Ends a command that runs as its own time limit does.
    pub fn expire(&self, id: u64) {
        self.reactor.send(Message::Expire(id));
    }

    /// Writes to a command's standard input.
    pub fn write(&self, id: u64, bytes: Vec<u8>, written: OnWritten) {
        self.reactor.send(Message::Write(id, bytes, written));
    }

    /// Closes a command's standard input, once all is written.
    pub fn end_input(&self, id: u64) {
        self.reactor.send(Message::EndInput(id));
    }

    /// Changes the size of a command's terminal. No effect without a terminal, or when the command is over.
    pub fn resize(&self, id: u64, size: Size) {
        self.reactor.send(Message::Resize(id, size));
    }

    /// Calls `answer` with how a command's terminal takes what is typed; None: it has none, or is over.
    pub fn typing(&self, id: u64, answer: Box<dyn FnOnce(Option<Typing>) + Send>) {
        self.reactor.send(Message::Typing(id, answer));
    }

    /// Signals a command's process group. `sent` is called with whether the command still ran.
    pub fn signal(&self, id: u64, signal: Signal, sent: Box<dyn FnOnce(bool) + Send>) {
        self.reactor.send(Message::Signal(id, signal, sent));
    }

    /// Calls `answer` with the output of a command so far; None when the command is over.
    pub fn snapshot(&self, id: u64, answer: Box<dyn FnOnce(Snapshot) + Send>) {
        self.reactor.send(Message::Snapshot(id, answer));
    }

    /// Calls `asked` with the members of a command that run: its leader, and processes started by it.
    pub fn members(&self, id: u64, asked: OnMembers) {
        self.reactor.send(Message::Members(id, asked));
    }

    /// Calls `answer` with the rules of a running command's sandbox, and the accesses denied since the last
    /// call; None when the command is over, or has no sandbox.
    pub fn sandbox(&self, id: u64, answer: Box<dyn FnOnce(Option<String>) + Send>) {
        self.reactor.send(Message::Sandbox(id, answer));
    }

    /// Answers a question about a program that is about to be executed: the number of it, of this keeper.
    pub fn decide(&self, keeper: u64, number: u64, answer: ExecAnswer) {
        self.reactor.send(Message::Decide(keeper, number, answer));
    }

    /// Calls `gone` when no member of a command is left. Must be called while the command runs.
    pub fn when_gone(&self, id: u64, gone: OnGone) {
        self.reactor.send(Message::WhenGone(id, gone));
    }

    /// Notes that a command's listener can take more output.
    pub fn resume(&self, id: u64) {
        self.reactor.send(Message::Resume(id));
    }

    /// Notes that a command's listener has left: it no longer makes the command wait.
    pub fn detach(&self, id: u64) {
        self.reactor.send(Message::Detach(id));
    }

    /// Ends all commands of an owner, and refuses to start more.
    pub fn dispose(&self, owner: &Arc<Owner>, grace: Duration, done: OnDisposed) {
        owner.dispose();
        self.orders.release_cancelled();
        self.reactor.send(Message::Dispose(owner.clone(), grace, done));
    }

    /// Makes a named pipe that only its owner may open, and opens it for reading; with `stays_open` for
    /// writing too, so that the stream has no end.
    pub fn named_pipe(&self, path: &CStr, stays_open: bool) -> Result<LocalPipe, Errno> {
        LocalPipe::make(path, stays_open, self.watch.clone(), self.reactor.clone())
    }

    /// Has `ask` called with the questions of a detached command, which `answer` tells to have been started.
    fn with_questions(&self, id: u64, ask: OnAsk, answer: OnDetached) -> OnDetached {
        self.reactor.send(Message::Detached(id, ask));
        let reactor = self.reactor.clone();
        Box::new(move |started| {
            if started.is_err() {
                reactor.send(Message::NotDetached(id));
            }
            answer(started);
        })
    }

    fn new_id(&self) -> u64 {
        self.watch.new_id()
    }
}
