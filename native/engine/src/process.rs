//! One live command: its descriptors, and the phase it is in.
//!
//! ```text
//! Running ──exit──────────────────────────▶ Draining ─▶ Closing ─▶ Surveying ─▶ (ended)
//!    └──deadline, cancel──▶ Ending ──gone──▶┘           (spill)    (who is left)
//! ```

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::command::{Form, SpillTarget};
use crate::family::Family;
use crate::group::Group;
use crate::holder::Holder;
use crate::input::Input;
use crate::live::Live;
use crate::mark::Mark;
use crate::outcome::{Cause, SpillReport, Status, Usage};
use crate::owner::{Owner, Ticket};
use crate::proc::Outlet;
use crate::sink::{Label, Sink};
use crate::stream::{Stream, Tap};
use crate::termination::{Termination, Verdict};

/// A command that has been launched.
pub struct Process {
    /// Unique in this host.
    pub id: u64,
    /// Who started it.
    pub owner: Arc<Owner>,
    /// Whether it was cancelled on its way here.
    pub ticket: Arc<Ticket>,
    /// Where its events go.
    pub sink: Arc<dyn Sink>,
    /// Its own group, session and pid, until it is reaped.
    pub group: Group,
    /// Readable once it has ended.
    pub pidfd: OwnedFd,
    /// Just before its launch.
    pub started: Instant,
    /// The same, as `/proc` counts time.
    pub born_after: u64,
    /// The host's peak size just after the launch, in bytes.
    pub host_peak: u64,
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
    /// What keeps its working directory, if it is followed.
    pub holder: Option<Holder>,
    /// Where it was at its end.
    pub directory: Option<PathBuf>,
    /// Its end of its terminal, kept open until it has ended.
    pub terminal: Option<OwnedFd>,
    /// Where it stands.
    pub phase: Phase,
}

/// One of its outputs.
pub struct Output {
    /// Which.
    pub label: Label,
    /// What was captured.
    pub tap: Arc<Mutex<Tap>>,
    /// By which its holders are known.
    pub outlet: Outlet,
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
pub enum Phase {
    /// It runs.
    Running,
    /// It is being ended.
    Ending(Cause, Termination),
    /// It has ended; its output may not have.
    Draining(Exit, Instant),
    /// Its output is complete; the spill file is being closed.
    Closing(Exit),
    /// Somebody it started may still run: who?
    Surveying(Exit),
}

/// How it ended.
#[derive(Debug, Clone, Copy)]
pub struct Exit {
    /// What ended it.
    pub cause: Cause,
    /// Its status.
    pub status: Status,
    /// What it used.
    pub usage: Usage,
    /// How long it ran.
    pub wall: Duration,
    /// What became of its family.
    pub verdict: Verdict,
}

impl Process {
    /// Its family, as far as it can be told now.
    pub fn family(&self) -> Family {
        Family {
            groups: vec![self.group],
            mark: Mark::of_command(self.owner.id, self.id),
            known: Default::default(),
            asked: Default::default(),
            outlets: self.outputs.iter().map(|output| output.outlet).collect(),
            born_after: self.born_after,
        }
    }

    /// Whether its leader has ended, reaped or not.
    pub fn has_exited(&self) -> bool {
        let mut watched = [PollFd::new(&self.pidfd, PollFlags::IN)];
        poll(&mut watched, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
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
