//! One live command: its descriptors, and the phase it is in.
//!
//! ```text
//! Starting ─▶ Running ──exit───────────────────────▶ Draining ─▶ Closing ─▶ Asking ─▶ (ended)
//!                └──deadline, cancel──▶ Ending ─over─▶┘           (spill)   (who is left)
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

/// A command that has been asked for.
pub struct LiveCommand {
    /// Unique in this host.
    pub id: u64,
    /// Who started it.
    pub owner: Arc<Owner>,
    /// Whether it was cancelled on its way here.
    pub ticket: Arc<Ticket>,
    /// Where its events go.
    pub sink: Arc<dyn Sink>,
    /// Whose cradle it is in.
    pub keeper: Tenancy,
    /// Its cradle; None: that has died, or has nothing more to do with it.
    pub cradle: Option<Cradle>,
    /// Its process id, and its group's and session's; 0: not known yet.
    pub pid: i32,
    /// Its cradle's process id; 0: not known yet.
    pub cradle_pid: i32,
    /// How its text begins: at most [`LABELLED`] bytes.
    pub text_start: Vec<u8>,
    /// The request, until it is answered.
    pub letter: Option<Arc<Letter>>,
    /// Who is to take it, until then.
    pub turn: Option<Turn>,
    /// Its launch.
    pub started: Instant,
    /// What it may take from its start.
    pub timeout: Option<Duration>,
    /// From SIGTERM to SIGKILL.
    pub grace: Duration,
    /// How its listener wants output.
    pub form: Form,
    /// Its output, whoever drains it.
    pub outputs: Vec<Output>,
    /// Its output pipes, while the reactor drains them.
    pub streams: Vec<Stream>,
    /// The file for all output.
    pub spill: Spilling,
    /// Its standard input, while it is open.
    pub input: Option<Input>,
    /// Whether its cradle goes where it goes, and so is of no use to another one.
    pub follow: bool,
    /// Where it was at its end.
    pub directory: Option<PathBuf>,
    /// Why it does not come after its host: see the outcome.
    pub priority_errno: i32,
    /// Its end of its terminal, kept open until it has ended.
    pub terminal: Option<OwnedFd>,
    /// Who waits to hear whether a signal was sent, in order.
    pub signals: VecDeque<Box<dyn FnOnce(bool) + Send>>,
    /// Those who are left, as they were told last.
    pub members: Vec<BackgroundProcess>,
    /// Whether these are all; the next ones are then told in their place.
    pub all_told: bool,
    /// What is known of those who are left.
    pub rest: Rest,
    /// Where it stands.
    pub phase: Phase,
    /// How many cradles were not fit to take it.
    pub unfit_cradles: u32,
    /// Of its cradle.
    pub silence: Silence,
}

/// What is known of those who are left when the leader has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// There may be some.
    Unknown,
    /// There is nobody.
    Gone,
    /// There are some who can't be ended.
    Unkillable,
    /// There may be some, and nobody can tell: the cradle was killed.
    Lost,
}

/// What becomes of its spill file.
#[derive(Debug)]
pub enum Spilling {
    /// None was asked for.
    No,
    /// It is to have one, now or once its output is long.
    Wanted(SpillTarget),
    /// The disk thread drains its output.
    OnDisk,
    /// The file is closed.
    Closed(SpillReport),
}

/// Where a command stands.
#[derive(Debug, Clone, Copy)]
pub enum Phase {
    /// It has been asked for.
    Starting {
        /// And is no longer wanted.
        cancelled: bool,
    },
    /// It runs.
    Running,
    /// It is being ended; its leader may have ended already.
    Ending(Cause, Option<CommandExit>),
    /// It has ended; its output may not have.
    Draining(CommandExit, Instant),
    /// Its output is complete; the spill file is being closed.
    Closing(CommandExit),
    /// Somebody it started may still run: who?
    Asking(CommandExit),
}

/// How it ended.
#[derive(Debug, Clone, Copy)]
pub struct CommandExit {
    /// What ended it.
    pub cause: Cause,
    /// Its status.
    pub status: Status,
    /// What it used.
    pub usage: Usage,
    /// How long it ran.
    pub wall: Duration,
    /// Whether SIGKILL was needed.
    pub forced: bool,
}

/// The longest label, in characters.
const LONGEST_LABEL: usize = 200;
/// As many bytes of a text are enough for it.
pub const LABELLED: usize = LONGEST_LABEL * 8;

impl LiveCommand {
    /// Its text in one line: so those of its processes are called that have no other name.
    pub fn label(&self) -> String {
        let words = String::from_utf8_lossy(&self.text_start);
        let line = words.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        line.chars().take(LONGEST_LABEL).collect()
    }

    /// These are left; `more`: others too, who are told next.
    pub fn add_members(&mut self, members: &[Member], label: &str, more: bool) {
        if self.all_told {
            self.members.clear();
        }
        self.members.extend(members.iter().map(|member| described(member.clone(), label)));
        self.all_told = !more;
    }

    /// Nobody can tell who of it is left: its own process may be.
    pub fn assume_leader_left(&mut self) {
        let member = BackgroundProcess { pid: self.pid, group: self.pid, command: self.label() };
        self.rest = Rest::Lost;
        self.members = Some(member).filter(|member| member.pid > 0).into_iter().collect();
    }

    /// Tells its cradle something; one that is gone need not know.
    pub fn tell(&self, order: Order) {
        if let Some(cradle) = &self.cradle {
            tell(&cradle.channel, order);
        }
    }

    /// Tells the listener of each output.
    pub fn tell_listeners(&self, tell: impl Fn(&mut Live)) {
        for output in &self.outputs {
            if let Some(live) = output.tap.lock().live.as_mut() {
                tell(live);
            }
        }
    }

    /// Whether nobody holds an output of its any more.
    pub fn outputs_ended(&self) -> bool {
        self.outputs.iter().all(|output| output.tap.lock().ended)
    }

    /// Whether its cradle was killed, and what it has left may still be told.
    pub fn is_lost(&self) -> bool {
        self.rest == Rest::Lost
    }

    /// Whether the command waits for its listener.
    pub fn is_paused(&self) -> bool {
        self.outputs.iter().any(|output| output.tap.lock().is_paused())
    }

    /// When output last came.
    pub fn last_data(&self) -> Instant {
        let last = self.outputs.iter().map(|output| output.tap.lock().last_data).max();
        last.unwrap_or(self.started)
    }
}

/// A process as listeners are told of it. `label`: its name, where it has no other.
pub fn described(member: Member, label: &str) -> BackgroundProcess {
    let command = match member.command {
        Some(words) => String::from_utf8_lossy(&words).into_owned(),
        None => label.to_owned(),
    };
    BackgroundProcess { pid: member.pid, group: member.group, command }
}
