//! The launcher thread, which prepares requests of commands and sends them. Operations that can take long (a
//! shell on a dead network, a full socket) hold up no other thread.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::capture::Capture;
use crate::capture::live::Live;
use crate::command::errors::{LaunchError, Step};
use crate::command::mark::Mark;
use crate::command::outcome::Ended;
use crate::command::{Command, Form, Opening, SpillTarget, Streams};
use crate::drain::stream::{Reserve, Tap};
use crate::keeper::attributes;
use crate::keeper::cradles::Cradle;
use crate::keeper::lifeline::AGAIN;
use crate::keeper::program::no_keeper;
use crate::keeper::seats::Seats;
use crate::keeper::tenancy::Tenancy;
use crate::keeper::{Keeper, Turn};
use crate::reactor::mailbox::{Mailbox, Message};
use crate::reactor::state::command::{LABELLED, LiveCommand, Phase, Rest, Spilling};
use crate::reactor::state::input::Input;
use crate::reactor::state::silence::Silence;
use crate::request::admission::Admission;
use crate::request::invocation::Invocation;
use crate::request::letter::{Delivery, Letter};
use crate::request::order::{CradleChoice, LaunchOrder, NewCommand};
use crate::request::plumbing::Plumbing;
use crate::request::shell::{TailExec, usual};

/// The time after which the reactor is woken for requests that it has not been told of: a keeper that never
/// answers must be noticed.
const UNSEEN: Duration = Duration::from_secs(1);

/// The longest wait for a new sandbox, which takes some milliseconds to set up: a keeper that never answers
/// must not hold up other commands for longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// The state of the thread.
pub struct Launcher {
    reactor: Mailbox,
    seats: Arc<Seats>,
    null: OwnedFd,
}

impl Launcher {
    /// Makes the state. `null`: the null device.
    pub fn new(reactor: Mailbox, seats: Arc<Seats>, null: OwnedFd) -> Self {
        Launcher { reactor, seats, null }
    }

    /// Carries out orders, for as long as the process lives.
    pub fn run(&self, orders: &Admission) {
        let mut unseen: Option<Instant> = None;
        loop {
            match orders.take(unseen.map(|since| since + UNSEEN)) {
                Some(LaunchOrder::Start(start)) => {
                    let id = start.id;
                    if !self.start(*start) {
                        orders.ended(id);
                    }
                    unseen = unseen.or_else(|| Some(Instant::now()));
                }
                Some(LaunchOrder::Detach(_, _, start)) => start(),
                Some(LaunchOrder::SendAgain(id, letter, gone, of)) => {
                    if let Err(error) = self.send_again(id, &letter, &gone, of) {
                        self.reactor.send(Message::NotSent(id, error));
                    }
                }
                None => {
                    self.reactor.ring();
                    unseen = None;
                }
            }
        }
    }

    /// Returns whether the command is on its way.
    fn start(&self, order: NewCommand) -> bool {
        let (owner, sink) = (order.owner.clone(), order.sink.clone());
        let keeper = order.keeper.as_ref().ok().map(|turn| turn.keeper().clone());
        let ended = match self.prepare(order) {
            Ok(Some(process)) => {
                self.send(process);
                return true;
            }
            Ok(None) => Ended::NeverStarted,
            Err(error) => {
                // This comes before the caller is told, so that the caller's next command gets another
                // keeper.
                keeper.iter().for_each(|keeper| keeper.launch_failed(&error));
                Ended::Failed(error)
            }
        };
        sink.ended(ended);
        self.reactor.send(Message::LaunchFailed(owner));
        false
    }

    fn send(&self, process: LiveCommand) {
        let (id, keeper) = (process.id, process.keeper.clone());
        let (cradle, letter) = (process.cradle.clone(), process.letter.clone());
        // This comes first, since the answer may come at once.
        self.reactor.leave(Message::Sent(Box::new(process)));
        if let (Some(cradle), Some(letter)) = (cradle, letter) {
            self.deliver(id, &letter, &cradle);
        }
        // This comes last, since only the next command needs it.
        keeper.prepare();
    }

    fn send_again(
        &self,
        id: u64,
        letter: &Letter,
        gone: &Keeper,
        of: CradleChoice,
    ) -> Result<(), LaunchError> {
        let (turn, cradle) = self.cradle_of(self.seats.keeper_in_place_of(gone)?, of)?;
        self.reactor.send(Message::SentAgain(id, turn, cradle.clone()));
        self.deliver(id, letter, &cradle);
        Ok(())
    }

    /// Takes a cradle of this keeper, or of its successor.
    fn cradle_of(&self, mut turn: Turn, of: CradleChoice) -> Result<(Turn, Cradle), LaunchError> {
        loop {
            let cradle = match of {
                CradleChoice::Any => turn.cradle(),
                CradleChoice::New => turn.new_cradle(),
            };
            if let Some(cradle) = cradle.map_err(descriptors)? {
                return Ok((turn, cradle));
            }
            turn = self.seats.keeper_in_place_of(&turn)?;
        }
    }

    /// Sends the request, waiting as long as necessary.
    fn deliver(&self, id: u64, letter: &Letter, cradle: &Cradle) {
        loop {
            let error = match letter.send(cradle.channel.as_fd()) {
                Ok(Delivery::Withdrawn) => return self.reactor.send(Message::NotWanted(id)),
                Ok(_) => return,
                Err(error) => error,
            };
            match error.raw_os_error() {
                // Too many descriptors are in transit, counted over all processes of this user.
                Some(libc::EAGAIN | libc::ETOOMANYREFS | libc::ENOBUFS | libc::ENOMEM) => {
                    std::thread::sleep(AGAIN);
                }
                Some(libc::EPIPE | libc::ECONNRESET | libc::ENOTCONN) => {
                    return self.reactor.send(Message::NotTaken(id));
                }
                _ => return self.reactor.send(Message::NotSent(id, no_keeper(error))),
            }
        }
    }

    /// Prepares a command. None: it was cancelled before anything was sent.
    fn prepare(&self, mut order: NewCommand) -> Result<Option<LiveCommand>, LaunchError> {
        if order.is_cancelled() {
            return Ok(None);
        }
        let turn = order.keeper?;
        if order.command.shells.is_empty() {
            order.command.shells = usual(&order.command.environment);
        }
        let command = &order.command;
        let mark = Mark::of_command(order.owner.id, order.id);
        let Command { shells, text, environment, follow, .. } = command;
        let tail_exec = if *follow { TailExec::Forbidden } else { TailExec::Allowed };
        let invocation = Invocation::new(shells, text, environment, &mark, tail_exec)?;
        let on_terminal = matches!(command.streams, Streams::Terminal(_));
        let plumbing = Plumbing::new(command, on_terminal.then(|| terminals_of(&turn)).flatten())?;
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
        let starts_in = turn.identity.starts_in();
        let attributes = attributes::of_thread(order.thread, command.priority);
        let mut attributes = attributes.map_err(no_keeper)?;
        attributes.mask = command.umask.or(attributes.mask);
        if let Some(seconds) = command.cpu {
            attributes::limit_cpu(&mut attributes, seconds);
        }
        if command.oom_victim {
            attributes::prefer_as_oom_victim(&mut attributes);
        }
        let letter = Letter::new(command, invocation, reader, writers, attributes, starts_in)?;
        let (turn, cradle) = self.cradle_of(turn, CradleChoice::Any)?;
        Ok(Some(LiveCommand {
            id: order.id,
            owner: order.owner,
            ticket: order.ticket,
            sink: order.sink,
            keeper: Tenancy::of(turn.keeper()),
            cradle: Some(cradle),
            pid: 0,
            cradle_pid: 0,
            text_start: text_start(&command.text),
            letter: Some(Arc::new(letter)),
            turn: Some(turn),
            started: Instant::now(),
            allowed_at: None,
            timeout: command.timeout,
            grace: command.grace,
            form: command.listen.map_or(Form::Text, |listen| listen.form),
            outputs,
            streams,
            spill: command.spill.clone().map_or(Spilling::No, Spilling::Wanted),
            input: input.map(|writer| Input::new(writer, &command.stdin)),
            follow: command.follow,
            directory: None,
            reason: None,
            priority_errno: 0,
            terminal: plumbing.kept,
            signals: Default::default(),
            members: Vec::new(),
            all_told: true,
            rest: Rest::Unknown,
            phase: Phase::Starting { cancelled: false },
            unfit_cradles: 0,
            silence: Silence::default(),
        }))
    }
}

/// Returns the directory in which the terminal of a command is to be opened. None: the host's.
pub(super) fn terminals_of(keeper: &Keeper) -> Option<BorrowedFd<'_>> {
    let sandbox = keeper.sandbox.as_ref()?;
    // The keeper reports its terminals, if any, before it greets.
    let until = Instant::now() + PATIENCE;
    while keeper.fault().is_some() && !keeper.is_gone() && Instant::now() < until {
        std::thread::sleep(AGAIN);
    }
    sandbox.terminals.get().map(AsFd::as_fd)
}

fn descriptors<E: Into<io::Error>>(error: E) -> LaunchError {
    LaunchError::new(Step::Descriptors, &error.into(), "a channel")
}

/// Returns the part of a text from which its label is made.
fn text_start(text: &[u8]) -> Vec<u8> {
    text.get(..LABELLED).unwrap_or(text).to_vec()
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
