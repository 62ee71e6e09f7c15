//! The thread that makes requests of commands, and sends them. What can take long (a shell on a dead
//! network, a socket that is full) holds nobody else up.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::attributes;
use crate::capture::Capture;
use crate::command::{Command, Form, Opening, SpillTarget};
use crate::errors::{LaunchError, Step};
use crate::input::Input;
use crate::invocation::Invocation;
use crate::keeper::{Keeper, Turn, no_keeper};
use crate::live::Live;
use crate::mailbox::{Mailbox, Message};
use crate::mark::Mark;
use crate::message::{Letter, channel};
use crate::outcome::Ended;
use crate::owner::{Owner, Ticket};
use crate::plumbing::Plumbing;
use crate::process::{Phase, Process, Rest, Spilling};
use crate::queue::Queue;
use crate::seat::Seat;
use crate::shell::usual;
use crate::sink::Sink;
use crate::stream::{Reserve, Tap};

/// What the thread is to send.
pub enum Order {
    /// A command.
    Start(Box<Start>),
    /// A request that the keeper it went to did not take, with a new channel's other end.
    Again(u64, Arc<Letter>, OwnedFd, Turn),
}

/// A command on its way to be launched.
pub struct Start {
    /// Its id.
    pub id: u64,
    /// What to run.
    pub command: Command,
    /// Who wants it.
    pub owner: Arc<Owner>,
    /// Whether it is still wanted.
    pub ticket: Arc<Ticket>,
    /// Where its events go.
    pub sink: Arc<dyn Sink>,
    /// Which thread has asked for it.
    pub thread: i32,
    /// Who runs it.
    pub keeper: Result<Turn, LaunchError>,
}

/// What the thread has.
pub struct Launcher {
    reactor: Mailbox,
    seat: Arc<Seat>,
    null: OwnedFd,
}

impl Launcher {
    /// `null`: the null device.
    pub fn new(reactor: Mailbox, seat: Arc<Seat>, null: OwnedFd) -> Self {
        Launcher { reactor, seat, null }
    }

    /// Sends what is ordered, for as long as the process lives.
    pub fn run(&self, orders: &Queue<Order>) {
        loop {
            match orders.take() {
                Order::Start(start) => self.start(*start),
                Order::Again(id, letter, channel, gone) => {
                    let keeper = self.seat.keeper_in_place_of(&gone);
                    if let Err(error) =
                        keeper.and_then(|keeper| deliver(&letter, &channel, &keeper))
                    {
                        self.reactor.send(Message::NotSent(id, error));
                    }
                }
            }
        }
    }

    fn start(&self, order: Start) {
        let (owner, sink) = (order.owner.clone(), order.sink.clone());
        let ended = match self.send(order) {
            Ok(Some(process)) => {
                self.reactor.send(Message::Sent(Box::new(process)));
                return;
            }
            Ok(None) => Ended::NeverStarted,
            Err(error) => Ended::Failed(error),
        };
        sink.ended(ended);
        self.reactor.send(Message::LaunchFailed(owner));
    }

    /// None: it was cancelled before anything was sent.
    fn send(&self, mut order: Start) -> Result<Option<Process>, LaunchError> {
        if order.ticket.is_cancelled() || order.owner.is_disposed() {
            return Ok(None);
        }
        let keeper = order.keeper?;
        if order.command.shells.is_empty() {
            order.command.shells = usual(&order.command.environment);
        }
        let command = &order.command;
        let mark = Mark::of_command(order.owner.id, order.id);
        let Command { shells, text, environment, follow, .. } = command;
        let invocation = Invocation::new(shells, text, environment, &mark, *follow)?;
        let plumbing = Plumbing::new(command)?;
        let (ours, theirs) = channel().map_err(descriptors)?;
        let (mut outputs, mut streams, mut writers) = (Vec::new(), Vec::new(), Vec::new());
        for pipe in plumbing.outputs {
            let tap = Arc::new(Mutex::new(tap(command)));
            outputs.push(pipe.output(tap.clone()));
            let (stream, writer) = pipe.split(tap);
            streams.push(stream);
            writers.push(writer);
        }
        if writers.is_empty() {
            writers.push(self.null.try_clone().map_err(descriptors)?);
        }
        let (reader, input) = plumbing.input.unzip();
        let is_born_here = keeper.identity.has_birthplace();
        let attributes = attributes::of_thread(order.thread).map_err(no_keeper)?;
        let letter = Letter::new(command, invocation, reader, writers, attributes, is_born_here)?;
        let letter = Arc::new(letter);
        let started = Instant::now();
        deliver(&letter, &theirs, &keeper)?;
        Ok(Some(Process {
            id: order.id,
            owner: order.owner,
            ticket: order.ticket,
            sink: order.sink,
            channel: ours,
            pid: 0,
            cradle: 0,
            label: label(&command.text),
            sending: Some((letter, keeper)),
            started,
            timeout: command.timeout,
            grace: command.grace,
            form: command.listen.map_or(Form::Text, |listen| listen.form),
            outputs,
            streams,
            spill: command.spill.clone().map_or(Spilling::No, Spilling::Wanted),
            input: input.map(|writer| Input::new(writer, &command.stdin)),
            directory: None,
            terminal: plumbing.kept,
            signals: Default::default(),
            members: Vec::new(),
            rest: Rest::Unknown,
            phase: Phase::Starting { cancelled: false },
        }))
    }
}

fn descriptors<E: Into<io::Error>>(error: E) -> LaunchError {
    LaunchError::new(Step::Descriptors, &error.into(), "a channel")
}

/// For how long a keeper may be unable to take a request that is full of descriptors.
const AGAIN: Duration = Duration::from_millis(1);
/// From one look at a keeper that takes nothing to the next.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Waits as long as it must.
fn deliver(letter: &Letter, channel: &OwnedFd, keeper: &Keeper) -> Result<(), LaunchError> {
    loop {
        // It has died, or been replaced, while we waited; whoever sent it hears that nobody took it.
        let Some(socket) = keeper.requests() else { return Ok(()) };
        let Err(error) = letter.send(socket.as_fd(), channel.as_fd()) else { return Ok(()) };
        match error.raw_os_error() {
            Some(libc::EAGAIN) => {
                let mut watched = [PollFd::new(&*socket, PollFlags::OUT)];
                let _ = poll(&mut watched, Some(&LOOK));
                keeper.go_on();
            }
            // So many descriptors are on their way already, of all of this user's processes.
            Some(libc::ETOOMANYREFS | libc::ENOBUFS | libc::ENOMEM) => std::thread::sleep(AGAIN),
            Some(libc::EPIPE | libc::ECONNRESET | libc::ENOTCONN) => return Ok(()),
            _ => return Err(no_keeper(error)),
        }
    }
}

/// The command's text in one line, for those of its processes that have no other name.
fn label(text: &[u8]) -> String {
    const LONGEST: usize = 200;
    let start = text.get(..LONGEST * 8).unwrap_or(text);
    let words = String::from_utf8_lossy(start);
    let line = words.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(LONGEST).collect()
}

fn tap(command: &Command) -> Tap {
    let live = command.listen.map(|listen| Live::new(listen.overflow, listen.form == Form::Text));
    let capture = Some(Capture::new(command.limits));
    let reserve = match &command.spill {
        Some(SpillTarget { opening: Opening::After(limit), .. }) => Reserve::InCapture(*limit),
        _ => Reserve::No,
    };
    Tap { capture, live, reserve, last_data: Instant::now(), ended: false }
}
