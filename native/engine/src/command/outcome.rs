//! The outcome of a command.

use std::path::PathBuf;
use std::time::Duration;

use crate::capture::Captured;
use crate::capture::text::Text;
use crate::command::errors::LaunchError;

pub use forkline_protocol::Status;

/// The reason why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The command ended by itself.
    Itself,
    /// The command's deadline passed.
    TimedOut,
    /// The caller ended the command.
    Cancelled,
}

/// All that is known of a command that was started and has ended.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The process id, which was also the id of its process group and session.
    pub pid: i32,
    /// The reason why it ended.
    pub cause: Cause,
    /// What it was seen to do when its time was over, as in `terminal pid=7 command=vi`.
    pub reason: Option<String>,
    /// The exit status.
    pub status: Status,
    /// Whether SIGKILL was needed.
    pub forced: bool,
    /// The time from the start to the end of the command (not of the drain).
    pub wall: Duration,
    /// Resources that it used.
    pub usage: Usage,
    /// The merged output, or stdout and stderr.
    pub captures: Vec<Captured<Text>>,
    /// The report of the spill file, if one was asked for.
    pub spill: Option<SpillReport>,
    /// Processes that still run.
    pub background: Vec<BackgroundProcess>,
    /// The working directory at its end, if `follow` was set and the directory is known: see
    /// `Exit::directory` of the protocol.
    pub directory: Option<PathBuf>,
    /// The errno of the failure to lower its priority. 0: there was none.
    pub priority_errno: i32,
    /// Each rule of its sandbox and the means by which it was enforced, as in `write=namespace tmp=none`;
    /// then what was denied, as far as the kernel tells, as in `socket=40`.
    pub sandbox: Option<String>,
}

/// Resources used by the command and the descendants it waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user code.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// The largest resident size of any one process, in bytes. The kernel can't report less than that of the
    /// cradle itself.
    pub peak: u64,
}

/// A process that outlived its command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundProcess {
    /// The process id.
    pub pid: i32,
    /// The process group: `kill -9 -- -<group>` stops the group.
    pub group: i32,
    /// The command line, arguments separated by blanks.
    pub command: String,
}

/// The report of a spill file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpillReport {
    /// Bytes in the file.
    pub written: u64,
    /// Bytes of output that are not in the file.
    pub dropped: u64,
    /// The errno of what limited the file, unless that was the quota.
    pub error: Option<i32>,
    /// More than the errno tells, if known.
    pub why: Option<String>,
}

/// The end of a call to start a command.
#[derive(Debug, Clone)]
pub enum Ended {
    /// The command ran.
    Ran(Box<Outcome>),
    /// The command was cancelled before it was started; no process ran.
    NeverStarted,
    /// The command could not be started.
    Failed(LaunchError),
}
