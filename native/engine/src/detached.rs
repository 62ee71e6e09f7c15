//! Commands that outlive the host.
//!
//! Each has a keeper process of its own, which starts it, waits for it, ends it when its time is up,
//! and writes how it ended under its output. Nothing ties either of them to the host: they are in
//! sessions of their own, have none of its descriptors, get no signal when it dies, and carry no mark
//! that its engine or its other keeper looks for.

mod line;
mod supervisor;
mod wire;

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{WaitId, WaitIdOptions, waitid};

use crate::errors::{LaunchError, Step};
use crate::keeper::launch_keeper;
use crate::launch::Stack;
use crate::mailbox::{Mailbox, Message};
use crate::plumbing::{descriptors, memory_file};
use crate::shell::usual;
use crate::threads;

pub use supervisor::keep_detached;

/// The keeper's role, as its first argument.
pub const DETACH: &str = "detach";

/// A command that outlives the host, fully resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetachedCommand {
    /// The shell text.
    pub text: Vec<u8>,
    /// Paths of shells, tried in order until one exists. None given: see `shell::usual`.
    pub shells: Vec<CString>,
    /// `NAME=value` entries separated by NUL; without `_` and the mark, which are the engine's.
    pub environment: Vec<u8>,
    /// The working directory; None is `/`.
    pub directory: Option<CString>,
    /// The file for its output; must not exist.
    pub output: CString,
    /// The time it may take from its start.
    pub timeout: Duration,
    /// From SIGTERM to SIGKILL.
    pub grace: Duration,
}

/// Told the command's process id, which is also its group's, or why it could not be started.
pub type Answer = Box<dyn FnOnce(Result<i32, LaunchError>) + Send>;

struct Order {
    program: Option<PathBuf>,
    command: DetachedCommand,
    reactor: Mailbox,
    answer: Answer,
}

/// Starts a command on a thread made for it: the launching threads must not wait for a keeper.
pub(crate) fn start(
    program: Option<PathBuf>,
    command: DetachedCommand,
    reactor: Mailbox,
    answer: Answer,
) {
    let (sender, orders) = channel::<Order>();
    let spawned = threads::spawn("forkline-detach", move || {
        for Order { program, command, reactor, answer } in orders {
            let started = start_now(program.as_deref(), command);
            reactor.send(Message::Orphaned);
            answer(started);
        }
    });
    match spawned {
        Ok(()) => {
            // The thread waits for it, so it is there to take it.
            let _ = sender.send(Order { program, command, reactor, answer });
        }
        Err(error) => answer(Err(LaunchError::new(Step::Keeper, &error, "a thread"))),
    }
}

fn start_now(program: Option<&Path>, mut command: DetachedCommand) -> Result<i32, LaunchError> {
    let no_keeper = |error: io::Error| LaunchError::new(Step::Keeper, &error, "forkline-keeper");
    let program = program.ok_or_else(|| no_keeper(Errno::NOENT.into()))?;
    if command.shells.is_empty() {
        command.shells = usual(&command.environment);
    }
    let order = memory_file("forkline-order", &wire::encode_command(&command))
        .map_err(descriptors("the keeper's order"))?;
    drop(command);
    let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
        .map_err(descriptors("/dev/null"))?;
    let (reader, writer) =
        pipe_with(PipeFlags::CLOEXEC).map_err(descriptors("the keeper's pipe"))?;
    let stdio = [null.as_fd(), writer.as_fd(), null.as_fd()];
    let mut stack = Stack::new().map_err(descriptors("a stack"))?;
    let launched =
        launch_keeper(program, &[DETACH], stdio, order.as_fd(), &mut stack).map_err(no_keeper)?;
    // Ours would keep the report from ending.
    drop(writer);
    let report = read_report(reader);
    reap(&launched.pidfd);
    report.unwrap_or_else(|| Err(no_keeper(io::Error::from(Errno::SRCH))))
}

/// None: the keeper ended without a word.
fn read_report(reader: OwnedFd) -> Option<Result<i32, LaunchError>> {
    let mut bytes = Vec::new();
    File::from(reader).read_to_end(&mut bytes).ok()?;
    wire::decode_report(&bytes)
}

/// The process that was launched has left its work to a child, so that it is nobody's in particular.
fn reap(pidfd: &OwnedFd) {
    let wait = || waitid(WaitId::PidFd(pidfd.as_fd()), WaitIdOptions::EXITED);
    while wait().err() == Some(Errno::INTR) {}
}
