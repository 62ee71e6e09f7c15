//! The threads that launch: each sleeps from clone to exec, which no other thread should.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use rustix::fs::{Mode, OFlags, open};

use crate::capture::Capture;
use crate::command::{Command, Form, Opening, SpillTarget, Streams};
use crate::directory::Directory;
use crate::errors::{LaunchError, StartError, Step};
use crate::group::Group;
use crate::holder::Holder;
use crate::input::Input;
use crate::invocation::Invocation;
use crate::keeper::Seat;
use crate::launch::{Launched, Request, Slots, Stack, launch};
use crate::live::Live;
use crate::mailbox::{Mailbox, Message};
use crate::mark::Mark;
use crate::outcome::Ended;
use crate::owner::{Owner, Ticket};
use crate::plumbing::Plumbing;
use crate::process::{Phase, Process, Spilling};
use crate::queue::Queue;
use crate::reap::own_peak;
use crate::roster::Roster;
use crate::shell::usual;
use crate::sink::Sink;
use crate::stream::{Reserve, Tap};

/// A command on its way to be launched.
pub struct Order {
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
}

/// What one launching thread has for itself.
pub struct Launcher {
    reactor: Mailbox,
    roster: Arc<Roster>,
    keeper: Arc<Seat>,
    stack: Stack,
    slots: Slots,
    null: OwnedFd,
}

impl Launcher {
    /// Takes what launching needs, so that later shortages are told as a command's own.
    pub fn new(
        reactor: Mailbox,
        roster: Arc<Roster>,
        keeper: Arc<Seat>,
    ) -> Result<Self, StartError> {
        let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
            .map_err(StartError::in_action("opening /dev/null"))?;
        let slots = Slots::reserve(&null).map_err(StartError::in_action("dup"))?;
        let stack = Stack::new().map_err(StartError::in_action("mmap"))?;
        Ok(Launcher { reactor, roster, keeper, stack, slots, null })
    }

    /// Launches what is ordered, for as long as the process lives.
    pub fn run(&mut self, orders: &Queue<Order>) {
        loop {
            let order = orders.take();
            let (owner, sink) = (order.owner.clone(), order.sink.clone());
            let ended = match self.start(order) {
                Ok(Some(process)) => {
                    self.reactor.send(Message::Launched(Box::new(process)));
                    self.keeper.fill(&self.roster, &mut self.stack);
                    continue;
                }
                Ok(None) => Ended::NeverStarted,
                Err(error) => Ended::Failed(error),
            };
            sink.ended(ended);
            self.reactor.send(Message::LaunchFailed(owner));
        }
    }

    /// None: it was cancelled before anything was started.
    fn start(&mut self, mut order: Order) -> Result<Option<Process>, LaunchError> {
        if order.ticket.is_cancelled() || order.owner.is_disposed() {
            return Ok(None);
        }
        if order.command.shells.is_empty() {
            order.command.shells = usual(&order.command.environment);
        }
        let command = &order.command;
        let plumbing = Plumbing::new(command)?;
        let started = Instant::now();
        let born_after = crate::proc::ticks_now().saturating_sub(1);
        let holder = if command.follow { Some(Holder::new()) } else { None };
        let holder = holder.transpose().map_err(memory)?;
        let launched = self.launch(&order, &plumbing, holder.as_ref())?;
        let host_peak = own_peak();
        let Some(group) = Group::led_by(launched.pid) else {
            // The kernel does not hand out such pids.
            let error = io::Error::from_raw_os_error(libc::ESRCH);
            return Err(LaunchError::new(Step::Clone, &error, "a process"));
        };
        self.roster.add(group);
        let taps: Vec<_> =
            plumbing.outputs.iter().map(|_| Arc::new(Mutex::new(tap(command)))).collect();
        let outputs = plumbing.outputs.iter().zip(&taps);
        let outputs = outputs.map(|(pipe, tap)| pipe.output(tap.clone())).collect();
        let streams = plumbing.outputs.into_iter().zip(taps);
        Ok(Some(Process {
            id: order.id,
            owner: order.owner,
            ticket: order.ticket,
            sink: order.sink,
            group,
            pidfd: launched.pidfd,
            started,
            born_after,
            host_peak,
            timeout: command.timeout,
            grace: command.grace,
            form: command.listen.map_or(Form::Text, |listen| listen.form),
            outputs,
            streams: streams.map(|(pipe, tap)| pipe.stream(tap)).collect(),
            spill: command.spill.clone().map_or(Spilling::No, Spilling::Wanted),
            input: plumbing.input.map(|(_, writer)| Input::new(writer, &command.stdin)),
            holder,
            directory: None,
            terminal: plumbing.kept,
            phase: Phase::Running,
        }))
    }

    fn launch(
        &mut self,
        order: &Order,
        plumbing: &Plumbing,
        holder: Option<&Holder>,
    ) -> Result<Launched, LaunchError> {
        let command = &order.command;
        let mark = Mark::of_command(order.owner.id, order.id);
        let Command { shells, text, environment, follow, .. } = command;
        let invocation = Invocation::new(shells, text, environment, &mark, *follow)?;
        let stdin = plumbing.input.as_ref().map_or(self.null.as_fd(), |(reader, _)| reader.as_fd());
        let [stdout, stderr] = plumbing.writers().unwrap_or([self.null.as_fd(); 2]);
        let request = Request {
            images: &invocation.images,
            environment: &invocation.environment,
            directory: command.directory.as_ref().map(Directory::place),
            stdio: [stdin, stdout, stderr],
            script: invocation.script.as_ref().map(AsFd::as_fd),
            slots: Some(&self.slots),
            parent_death: Some(libc::SIGTERM),
            holder,
            terminal: matches!(command.streams, Streams::Terminal(_)),
        };
        launch(&request, &mut self.stack).map_err(|failure| {
            invocation.explain(&failure, command.directory.as_ref().map(Directory::name))
        })
    }
}

/// There is none left for what a command needs.
fn memory(error: io::Error) -> LaunchError {
    LaunchError::new(Step::Clone, &error, "a thread")
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
