//! What to run: text, shells, environment, directory, stdio, limits.

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

/// One command, fully resolved: nothing in here is looked up again.
#[derive(Debug, Clone)]
pub struct Command {
    /// The shell text; or the words of a program that runs without a shell, each ended by NUL.
    pub text: Vec<u8>,
    /// Paths of shells, tried in order until one exists. None given: see `shell::usual`.
    pub shells: Vec<CString>,
    /// `NAME=value` entries separated by NUL; without `_` and the mark, which are the engine's.
    pub environment: Vec<u8>,
    /// The working directory; None is the host's at the moment of the launch.
    pub directory: Option<Directory>,
    /// Whether the outcome tells where it was at its end.
    pub follow: bool,
    /// Whether anybody waits for its start.
    pub announce: bool,
    /// Its priority at the processor.
    pub priority: Priority,
    /// The sandbox that it is to run in, as the keeper reads it; None: none.
    pub sandbox: Option<Arc<[u8]>>,
    /// `cgroup.procs` of the control groups that it is to enter, two at most.
    pub groups: Vec<PathBuf>,
    /// Whether the kernel's OOM killer is to end it before all other processes.
    pub oom_victim: bool,
    /// Processor time that each of its processes may take, in seconds.
    pub cpu: Option<u64>,
    /// What the command reads.
    pub stdin: Stdin,
    /// Where its output goes.
    pub streams: Streams,
    /// How much of each stream is kept.
    pub limits: Limits,
    /// Whether and how output is delivered while it runs.
    pub listen: Option<Listen>,
    /// A file that receives every byte of output.
    pub spill: Option<SpillTarget>,
    /// The time it may take from its start.
    pub timeout: Option<Duration>,
    /// From SIGTERM to SIGKILL.
    pub grace: Duration,
}

/// A command's priority at the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// That of the host.
    Normal,
    /// Nicer than the host, in an autogroup of its own that is nicer too.
    Low,
}

/// What a command reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// `/dev/null`: end of file at once.
    Null,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
    /// A pipe that the caller writes to.
    Pipe,
}

/// How stdout and stderr are captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// One pipe for both: their true order is kept.
    Merged,
    /// A pipe each.
    Separate,
    /// A terminal for both, and for the input too, whatever [`Stdin`] says: what is written to the
    /// command's input is typed into it.
    Terminal(Size),
}

/// Delivery of output while the command runs.
#[derive(Debug, Clone, Copy)]
pub struct Listen {
    /// What a slow listener costs.
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
    /// Where it is; mode 0600.
    pub path: PathBuf,
    /// Not a byte more than this is written.
    pub max_bytes: u64,
    /// When it comes into being.
    pub opening: Opening,
}

/// When a spill file is opened. Whenever that is, it has the output from the first byte on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// At the command's start; a file that is there is emptied.
    AtStart,
    /// Once a stream is longer than so many bytes, or than what is kept of it; until then there is
    /// no file. It must not exist.
    After(u64),
}
