//! The descriptors of a launch: pipes for output and input, or a terminal for both, and the script's file.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use forkline_protocol::memory_file;
use parking_lot::Mutex;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::command::errors::{LaunchError, Step};
use crate::command::sink::Label;
use crate::command::{Command, Stdin, Streams};
use crate::drain::stream::{Output, SHORT_OF_PIPE, SHORT_OF_TERMINAL, Stream, Tap};
use crate::os::pty::{Size, Terminal};

/// Both ends of a command's pipes.
pub struct Plumbing {
    /// One pipe for merged output, otherwise two: stdout's and stderr's.
    pub outputs: Vec<Pipe>,
    /// The reading and the writing end of stdin.
    pub input: Option<(OwnedFd, OwnedFd)>,
    /// The command's end of its terminal, kept open until the command has ended. Otherwise a command that
    /// closes its terminal, and opens `/dev/tty` later, would end its output in between.
    pub kept: Option<OwnedFd>,
}

/// An output pipe, or a terminal in its place.
pub struct Pipe {
    label: Label,
    reader: OwnedFd,
    writer: OwnedFd,
    short_read: usize,
}

impl Plumbing {
    /// Makes the pipes of a command. `terminals`: the directory of its sandbox's pseudo-terminals.
    pub fn new(command: &Command, terminals: Option<BorrowedFd>) -> Result<Self, LaunchError> {
        let labels: &[Label] = match command.streams {
            Streams::Merged => &[Label::Merged],
            Streams::Separate => &[Label::Stdout, Label::Stderr],
            Streams::Terminal(size) => {
                return Plumbing::terminal(size, terminals).map_err(descriptors("a terminal"));
            }
        };
        let pipes = labels.iter().map(|label| Pipe::new(*label));
        let outputs = pipes.collect::<io::Result<_>>().map_err(descriptors("an output pipe"))?;
        let input = match &command.stdin {
            Stdin::Null => None,
            Stdin::Bytes(_) | Stdin::Pipe => {
                Some(input_pipe().map_err(descriptors("an input pipe"))?)
            }
        };
        Ok(Plumbing { outputs, input, kept: None })
    }

    /// Makes a terminal in place of all pipes.
    fn terminal(size: Size, directory: Option<BorrowedFd>) -> io::Result<Self> {
        let Terminal { master, slave } = Terminal::open(size, directory)?;
        // Reading and writing are watched separately, and an epoll set can watch a descriptor only once.
        let input = (slave.try_clone()?, master.try_clone()?);
        let kept = Some(slave.try_clone()?);
        let (label, short_read) = (Label::Merged, SHORT_OF_TERMINAL);
        let output = Pipe { label, reader: master, writer: slave, short_read };
        Ok(Plumbing { outputs: vec![output], input: Some(input), kept })
    }
}

impl Pipe {
    fn new(label: Label) -> io::Result<Self> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        // Only the host's end is non-blocking: programs don't expect EAGAIN from stdout.
        fcntl_setfl(&reader, OFlags::NONBLOCK)?;
        Ok(Pipe { label, reader, writer, short_read: SHORT_OF_PIPE })
    }

    /// Returns the part from which the result will be made.
    pub fn output(&self, tap: Arc<Mutex<Tap>>) -> Output {
        Output { label: self.label, tap }
    }

    /// Returns the stream to drain, and the command's end.
    pub fn split(self, tap: Arc<Mutex<Tap>>) -> (Stream, OwnedFd) {
        let Pipe { label, reader, writer, short_read } = self;
        (Stream { descriptor: reader, label, tap, short_read }, writer)
    }
}

fn input_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    fcntl_setfl(&writer, OFlags::NONBLOCK)?;
    Ok((reader, writer))
}

/// Makes a memory file with the command's text, positioned at its start.
pub fn script_file(text: &[u8]) -> io::Result<OwnedFd> {
    memory_file(c"forkline-script", text)
}

/// Returns a function that makes a launch error of a shortage of descriptors.
pub fn descriptors<E: Into<io::Error>>(subject: &'static str) -> impl Fn(E) -> LaunchError {
    move |error| LaunchError::new(Step::Descriptors, &error.into(), subject)
}
