//! How a command ended, and what is known of it.

use std::path::PathBuf;
use std::time::Duration;

use crate::capture::Captured;
use crate::capture::text::Text;
use crate::command::errors::LaunchError;

pub use forkline_protocol::Status;

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
    /// Where it was at its end, if it was followed and that can be told: see `Exit::directory` of the protocol.
    pub directory: Option<PathBuf>,
    /// The errno of why it has not come after its host at the processor; 0: it has, or was not to.
    pub priority_errno: i32,
    /// Each line of its sandbox, and by what it was kept, as in `write=namespace tmp=none`; then what
    /// it was denied, as far as the kernel tells, as in `socket=40`.
    pub sandbox: Option<String>,
}

/// Resources used by the command and the descendants it waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user code.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// The largest resident size of any one process, in bytes; a cradle's own is the least that the
    /// kernel can tell.
    pub peak: u64,
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
    /// What that does not tell.
    pub why: Option<String>,
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
