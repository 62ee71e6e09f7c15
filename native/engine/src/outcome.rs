//! How a command ended, and what is known of it.

use std::path::PathBuf;
use std::time::Duration;

use crate::capture::Captured;
use crate::errors::LaunchError;
use crate::text::Text;

/// The exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It exited with this code, 0 to 255.
    Exited(i32),
    /// This signal killed it.
    Signaled(i32),
    /// Somebody else reaped it (a host that ignores SIGCHLD makes the kernel do so).
    Unknown,
}

/// What ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It ended by itself.
    Itself,
    /// Its deadline passed.
    TimedOut,
    /// The caller ended it.
    Cancelled,
}

/// Everything that is known of a command that was started and has ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its process id, which was also its group's and session's.
    pub pid: i32,
    /// What ended it.
    pub cause: Cause,
    /// Its exit status.
    pub status: Status,
    /// Whether SIGKILL was needed to end it.
    pub forced: bool,
    /// From the start to the end of the command (not of the drain).
    pub wall: Duration,
    /// What it used.
    pub usage: Usage,
    /// The merged output, or stdout and stderr.
    pub captures: Vec<Captured<Text>>,
    /// What became of the spill file, if one was asked for.
    pub spill: Option<SpillReport>,
    /// What still runs.
    pub background: Vec<BackgroundProcess>,
    /// Where it was at its end, if it was followed and that can be told: see `Holder::directory`.
    pub directory: Option<PathBuf>,
}

/// Resources used by the command and the descendants it waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user code.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// The largest resident size of any one process, in bytes.
    pub peak: Peak,
}

/// A peak resident size.
///
/// A process that starts on its parent's memory (vfork) is charged the parent's peak by the
/// kernel; a smaller peak of its own can't be seen behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peak {
    /// Exactly this.
    Measured(u64),
    /// Not more than this, which is the host's own peak.
    AtMost(u64),
}

impl Default for Peak {
    fn default() -> Self {
        Peak::AtMost(0)
    }
}

/// A process that outlived its command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundProcess {
    /// Its id.
    pub pid: i32,
    /// Its process group: `kill -9 -- -<group>` stops the group.
    pub group: i32,
    /// Its command line, arguments separated by blanks.
    pub command: String,
}

/// What became of a spill file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpillReport {
    /// Bytes in the file.
    pub written: u64,
    /// Bytes of output that are not in the file.
    pub dropped: u64,
    /// Why, when that is not the quota.
    pub error: Option<i32>,
}

/// How a call to start a command ended.
#[derive(Debug, Clone)]
pub enum Ended {
    /// It ran.
    Ran(Box<Outcome>),
    /// It was cancelled before it was started; nothing ran.
    NeverStarted,
    /// It could not be started.
    Failed(LaunchError),
}
