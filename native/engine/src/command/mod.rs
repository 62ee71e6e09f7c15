//! The description of a command: text, shells, environment, directory, stdio, limits.

pub mod directory;
pub mod errors;
pub mod mark;
pub mod outcome;
pub mod owner;
pub mod sink;

use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::capture::Limits;
use crate::capture::live::Overflow;
use crate::command::directory::Directory;
use crate::os::pty::Size;

/// One command, fully resolved: nothing in it is looked up again.
#[derive(Debug, Clone)]
pub struct Command {
    /// The shell text; or the words of a program that runs without a shell, each ended by NUL.
    pub text: Vec<u8>,
    /// Paths of shells, tried in order until one exists. Empty: see `shell::usual`.
    pub shells: Vec<CString>,
    /// `NAME=value` entries separated by NUL, without `_` and the mark, which the engine sets.
    pub environment: Vec<u8>,
    /// The working directory. None: the host's at the moment of the launch.
    pub directory: Option<Directory>,
    /// Whether the outcome has the shell's working directory at its end.
    pub follow: bool,
    /// Whether a caller waits to be told of the start.
    pub announce: bool,
    /// The priority of its processes.
    pub priority: Priority,
    /// The most young commands beside which it is started. None: what is usual.
    pub starts_at_once: Option<u32>,
    /// The permissions that its files do not get. None: those of the host.
    pub umask: Option<u32>,
    /// The plan of its sandbox, in the format that the keeper reads. None: no sandbox.
    pub sandbox: Option<Arc<[u8]>>,
    /// Paths of `cgroup.procs` of the control groups that it enters, two at most.
    pub groups: Vec<PathBuf>,
    /// Whether the kernel's OOM killer should choose its processes before all others.
    pub oom_victim: bool,
    /// CPU time that each of its processes may take, in seconds.
    pub cpu: Option<u64>,
    /// The input of the command.
    pub stdin: Stdin,
    /// The way in which stdout and stderr are captured.
    pub streams: Streams,
    /// The most bytes of each stream that are kept.
    pub limits: Limits,
    /// Delivery of output while the command runs. None: no listener.
    pub listen: Option<Listen>,
    /// A file that receives every byte of output.
    pub spill: Option<SpillTarget>,
    /// The time that the command may take from its start.
    pub timeout: Option<Duration>,
    /// The time from SIGTERM to SIGKILL.
    pub grace: Duration,
}

/// The CPU priority of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// The same priority as the host.
    Normal,
    /// A higher niceness than the host's, also for the autogroup of the command's session.
    Low,
}

/// The input of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// `/dev/null`: end of file at once.
    Null,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
    /// A pipe, to which the caller writes.
    Pipe,
}

/// The way in which stdout and stderr are captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// One pipe for both, which keeps their true order.
    Merged,
    /// A pipe for each.
    Separate,
    /// A terminal for both, and for the input, whatever [`Stdin`] says: bytes written to the command's input
    /// are typed into the terminal.
    Terminal(Size),
}

/// Delivery of output while the command runs.
#[derive(Debug, Clone, Copy)]
pub struct Listen {
    /// The policy for a slow listener.
    pub overflow: Overflow,
    /// Text (whole characters) or raw bytes.
    pub form: Form,
}

/// The form in which output is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Decoded text.
    Text,
    /// Exact bytes.
    Bytes,
}

/// A file for the whole output.
#[derive(Debug, Clone)]
pub struct SpillTarget {
    /// The path of the file; its mode is 0600.
    pub path: PathBuf,
    /// The most bytes that are written.
    pub max_bytes: u64,
    /// The time at which the file is opened.
    pub opening: Opening,
}

/// The time at which a spill file is opened. In any case it gets the output from the first byte on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// At the command's start; an existing file is emptied.
    AtStart,
    /// Once a stream is longer than this many bytes, or than the part of it that is kept. Until then there is
    /// no file. The path must not exist.
    After(u64),
}
