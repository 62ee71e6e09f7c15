//! The threads that launch: each sleeps from clone to exec, which no other thread should.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use rustix::fs::{Mode, OFlags, open};

use crate::capture::Capture;
use crate::command::{Command, Form, Opening, SpillTarget, Streams};
use crate::errors::{LaunchError, Step};
use crate::group::Group;
use crate::input::Input;
use crate::keeper::Seat;
use crate::launch::{Launched, Request, Slots, Stack, launch};
use crate::live::Live;
use crate::mailbox::{Mailbox, Message};
use crate::mark::Mark;
use crate::outcome::Ended;
use crate::owner::{Owner, Ticket};
use crate::plumbing::{Plumbing, descriptors, script_file};
use crate::process::{Phase, Process, Spilling};
use crate::queue::Queue;
use crate::reap::own_peak;
use crate::roster::Roster;
use crate::shell::{Handover, hand_over, usual};
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
    pub fn new(reactor: Mailbox, roster: Arc<Roster>, keeper: Arc<Seat>) -> io::Result<Self> {
        let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        let slots = Slots::reserve(&null)?;
        Ok(Launcher { reactor, roster, keeper, stack: Stack::new()?, slots, null })
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
        let launched = self.launch(&order, &plumbing)?;
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
            terminal: plumbing.kept,
            phase: Phase::Running,
        }))
    }

    fn launch(&mut self, order: &Order, plumbing: &Plumbing) -> Result<Launched, LaunchError> {
        let command = &order.command;
        let (images, handover) = hand_over(&command.shells, &command.text);
        let script = match handover {
            Handover::Script(text) => {
                Some(script_file(text).map_err(descriptors("the script's file"))?)
            }
            _ => None,
        };
        let environment =
            environment(command, &Mark::of_command(order.owner.id, order.id), &handover);
        let stdin = plumbing.input.as_ref().map_or(self.null.as_fd(), |(reader, _)| reader.as_fd());
        let [stdout, stderr] = plumbing.writers().unwrap_or([self.null.as_fd(); 2]);
        let request = Request {
            images: &images,
            environment: &environment,
            directory: command.directory.as_ref(),
            stdio: [stdin, stdout, stderr],
            script: script.as_ref().map(AsFd::as_fd),
            slots: Some(&self.slots),
            parent_death: Some(libc::SIGTERM),
            terminal: matches!(command.streams, Streams::Terminal(_)),
        };
        launch(&request, &mut self.stack).map_err(|failure| {
            let subject = subject(command, &environment, failure.step, &failure.error);
            LaunchError::new(failure.step, &failure.error, subject)
        })
    }
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

/// The command's environment with what the engine adds; every entry ended by NUL.
fn environment(command: &Command, mark: &Mark, handover: &Handover) -> Vec<u8> {
    let mut entries = command.environment.clone();
    if !entries.is_empty() {
        entries.push(0);
    }
    entries.extend_from_slice(mark.entry().as_bytes());
    entries.push(0);
    if let Handover::Variable(text) = handover {
        entries.extend_from_slice(b"_=");
        entries.extend_from_slice(text);
        entries.push(0);
    }
    entries
}

/// The longest `NAME=value` the kernel takes, without its NUL.
const LONGEST_ENTRY: usize = 128 * 1024 - 1;

/// What a failed step was about, in words for the caller.
fn subject(command: &Command, environment: &[u8], step: Step, error: &io::Error) -> String {
    let shown = |path: &CStr| format!("'{}'", path.to_string_lossy());
    match (step, error.raw_os_error()) {
        (Step::Directory, _) => {
            let directory = command.directory.as_deref().map(CStr::to_string_lossy);
            directory.unwrap_or_default().into_owned()
        }
        (Step::Exec, Some(libc::E2BIG)) => {
            let long =
                environment.split(|byte| *byte == 0).find(|entry| entry.len() > LONGEST_ENTRY);
            match long {
                Some(entry) => {
                    let name = entry.split(|byte| *byte == b'=').next().unwrap_or_default();
                    let (name, length) = (String::from_utf8_lossy(name), entry.len());
                    format!(
                        "with environment variable {name} ({length} bytes; at most {LONGEST_ENTRY})"
                    )
                }
                None => format!("with an environment of {} bytes", environment.len()),
            }
        }
        (Step::Exec, _) => {
            let shells: Vec<_> = command.shells.iter().map(|path| shown(path)).collect();
            shells.join(" or ")
        }
        _ => String::new(),
    }
}
