//! One live command: its descriptors, and the phase it is in.
//!
//! ```text
//! Starting ─▶ Running ──exit───────────────────────▶ Draining ─▶ Closing ─▶ Asking ─▶ (ended)
//!                └──deadline, cancel──▶ Ending ─over─▶┘           (spill)   (members)
//! ```

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forkline_protocol::{Member, Order};

use crate::capture::live::Live;
use crate::command::outcome::{BackgroundProcess, Cause, SpillReport, Status, Usage};
use crate::command::owner::{Owner, Ticket};
use crate::command::sink::Sink;
use crate::command::{Form, SpillTarget};
use crate::drain::stream::{Output, Stream};
use crate::keeper::Turn;
use crate::keeper::cradles::Cradle;
use crate::keeper::tenancy::Tenancy;
use crate::reactor::state::input::Input;
use crate::reactor::state::silence::Silence;
use crate::request::letter::{Letter, tell};

/// A command whose request has been made.
pub struct LiveCommand {
    /// Unique in this host.
    pub id: u64,
    /// The owner that started it.
    pub owner: Arc<Owner>,
    /// The ticket, by which it may have been cancelled on its way here.
    pub ticket: Arc<Ticket>,
    /// The receiver of its events.
    pub sink: Arc<dyn Sink>,
    /// The keeper of its cradle.
    pub keeper: Tenancy,
    /// The cradle. None: the cradle has died, or has nothing more to do for the command.
    pub cradle: Option<Cradle>,
    /// The process id, which is also the id of its process group and session. 0: not known yet.
    pub pid: i32,
    /// The process id of its cradle. 0: not known yet.
    pub cradle_pid: i32,
    /// The start of its text, at most [`LABELLED`] bytes.
    pub text_start: Vec<u8>,
    /// The request, until it is answered.
    pub letter: Option<Arc<Letter>>,
    /// The claim on the keeper that is to take the request, until it is answered.
    pub turn: Option<Turn>,
    /// The time of its launch.
    pub started: Instant,
    /// The time at which the host has answered whether it may start. None: the host was not asked.
    pub allowed_at: Option<Instant>,
    /// The time that it may take from its start.
    pub timeout: Option<Duration>,
    /// The time from SIGTERM to SIGKILL.
    pub grace: Duration,
    /// The form in which its listener wants output.
    pub form: Form,
    /// The outputs, by whatever thread they are drained.
    pub outputs: Vec<Output>,
    /// The output pipes, while the reactor drains them.
    pub streams: Vec<Stream>,
    /// The state of its spill file.
    pub spill: Spilling,
    /// The standard input, while it is open.
    pub input: Option<Input>,
    /// Whether its cradle shares its working directory, and so can't be used for another command.
    pub follow: bool,
    /// The working directory at its end.
    pub directory: Option<PathBuf>,
    /// What it was seen to do when its time was over: see the outcome.
    pub reason: Option<String>,
    /// The errno of the failure to lower its priority: see the outcome.
    pub priority_errno: i32,
    /// The command's end of its terminal, kept open until the command has ended.
    pub terminal: Option<OwnedFd>,
    /// Callbacks for signals that were requested, in order; called with whether the signal was sent.
    pub signals: VecDeque<Box<dyn FnOnce(bool) + Send>>,
    /// The members that are left, as last reported.
    pub members: Vec<BackgroundProcess>,
    /// Whether the report of its members is complete; if so, the next report replaces it.
    pub all_told: bool,
    /// The knowledge of its members.
    pub rest: Rest,
    /// The phase.
    pub phase: Phase,
    /// The number of cradles that were not fit to take it.
    pub unfit_cradles: u32,
    /// The silence of its cradle.
    pub silence: Silence,
}

/// The knowledge of the members that are left when the leader has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// Some may be left.
    Unknown,
    /// None is left.
    Gone,
    /// Some are left that can't be ended.
    Unkillable,
    /// Some may be left, and there is nothing to ask: the cradle was killed.
    Lost,
}

/// The state of a command's spill file.
#[derive(Debug)]
pub enum Spilling {
    /// No file was asked for.
    No,
    /// A file is to be opened, now or once the output is long.
    Wanted(SpillTarget),
    /// The disk thread drains its output.
    OnDisk,
    /// The file is closed.
    Closed(SpillReport),
}

/// The phase of a command.
#[derive(Debug, Clone, Copy)]
pub enum Phase {
    /// The request is on the way.
    Starting {
        /// Whether it has been cancelled.
        cancelled: bool,
    },
    /// The command runs.
    Running,
    /// The command is being ended. The leader may have ended already.
    Ending(Cause, Option<CommandExit>),
    /// The command has ended; its output may not be complete until this time.
    Draining(CommandExit, Instant),
    /// The output is complete; the spill file is being closed.
    Closing(CommandExit),
    /// Members may still run; the cradle is asked for them.
    Asking(CommandExit),
}

/// The end of a command.
#[derive(Debug, Clone, Copy)]
pub struct CommandExit {
    /// The reason for its end.
    pub cause: Cause,
    /// The exit status.
    pub status: Status,
    /// The resources that it used.
    pub usage: Usage,
    /// The time it ran.
    pub wall: Duration,
    /// Whether SIGKILL was needed.
    pub forced: bool,
}

/// The longest label, in characters.
const LONGEST_LABEL: usize = 200;
/// The number of bytes of a text that are enough for a label.
pub const LABELLED: usize = LONGEST_LABEL * 8;

impl LiveCommand {
    /// Returns its text in one line, which names those of its processes that have no other name.
    pub fn label(&self) -> String {
        let words = String::from_utf8_lossy(&self.text_start);
        let line = words.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        line.chars().take(LONGEST_LABEL).collect()
    }

    /// Adds members that are left. `more`: whether the report continues.
    pub fn add_members(&mut self, members: &[Member], label: &str, more: bool) {
        if self.all_told {
            self.members.clear();
        }
        self.members.extend(members.iter().map(|member| described(member.clone(), label)));
        self.all_told = !more;
    }

    /// Assumes that the leader is left, since nothing can tell which members are.
    pub fn assume_leader_left(&mut self) {
        let member = BackgroundProcess { pid: self.pid, group: self.pid, command: self.label() };
        self.rest = Rest::Lost;
        self.members = Some(member).filter(|member| member.pid > 0).into_iter().collect();
    }

    /// Sends an order to its cradle, if there is one.
    pub fn tell(&self, order: Order) {
        if let Some(cradle) = &self.cradle {
            tell(&cradle.channel, order);
        }
    }

    /// Calls `tell` with the queue of each output's listener.
    pub fn tell_listeners(&self, tell: impl Fn(&mut Live)) {
        for output in &self.outputs {
            if let Some(live) = output.tap.lock().live.as_mut() {
                tell(live);
            }
        }
    }

    /// Returns whether no process has any of its outputs open.
    pub fn outputs_ended(&self) -> bool {
        self.outputs.iter().all(|output| output.tap.lock().ended)
    }

    /// Returns whether its cradle was killed, and the keeper's report of the processes left may still come.
    pub fn is_lost(&self) -> bool {
        self.rest == Rest::Lost
    }

    /// Returns whether a command in a sandbox was cancelled before it was known to run.
    pub fn is_withdrawn(&self) -> bool {
        matches!(self.phase, Phase::Starting { cancelled: true }) && self.keeper.sandbox.is_some()
    }

    /// Returns whether the command waits for its listener.
    pub fn is_paused(&self) -> bool {
        self.outputs.iter().any(|output| output.tap.lock().is_paused())
    }

    /// Returns the time at which output last came.
    pub fn last_data(&self) -> Instant {
        let last = self.outputs.iter().map(|output| output.tap.lock().last_data).max();
        last.unwrap_or(self.started)
    }
}

/// Describes a member for listeners. `label`: its command line, if the member has none.
pub fn described(member: Member, label: &str) -> BackgroundProcess {
    let command = match member.command {
        Some(words) => String::from_utf8_lossy(&words).into_owned(),
        None => label.to_owned(),
    };
    BackgroundProcess { pid: member.pid, group: member.group, command }
}
