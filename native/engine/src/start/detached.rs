//! Commands that outlive the host.
//!
//! Each has a keeper process of its own, which starts the command, waits for it, ends it when its time is up,
//! and writes its end under its output. Nothing ties either of them to the host: they are in sessions of
//! their own, have none of its descriptors, get no signal when it dies, and carry no mark that its engine or
//! its other keeper looks for.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use forkline_launch::{Place as Directory, Stack, Step};
use forkline_protocol::{
    Detached, ExecWords, Request, decode_report, memory_file, role, send, stream_pair,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::command::Priority;
use crate::command::errors::LaunchError;
use crate::command::mark::{Mark, end_bearers_of};
use crate::keeper::attributes;
use crate::keeper::program::{NAME, launch_keeper, no_keeper};
use crate::keeper::startup_stderr::{ProcessEnd, StartupStderr, describe_end};
use crate::os::pty::{Size, Terminal};
use crate::os::threads;
use crate::request::invocation::Invocation;
use crate::request::plumbing::descriptors;
use crate::request::shell::{TailExec, usual};
use crate::start::launcher::terminals_of;
use crate::start::seated::SandboxTurn;

/// A command that outlives the host, fully resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetachedCommand {
    /// The shell text.
    pub text: Vec<u8>,
    /// Paths of shells, tried in order until one exists. Empty: see `shell::usual`.
    pub shells: Vec<CString>,
    /// `NAME=value` entries separated by NUL, without `_` and the mark, which the engine sets.
    pub environment: Vec<u8>,
    /// The working directory. None: `/`.
    pub directory: Option<CString>,
    /// The file for its output, which must not exist. The keeper puts a record and a socket beside it.
    pub output: CString,
    /// The plan of its sandbox. None: no sandbox.
    pub sandbox: Option<Arc<[u8]>>,
    /// Whether its stdin is a pipe, which is written to through that socket.
    pub input: bool,
    /// Whether a line that tells its end is written under its output.
    pub line: bool,
    /// Its priority at the processor.
    pub priority: Priority,
    /// The permissions that its files do not get. None: those of the host.
    pub umask: Option<u32>,
    /// The most young commands beside which it is started. None: what is usual.
    pub starts_at_once: Option<u32>,
    /// The size of its terminal. None: it has no terminal.
    pub terminal: Option<Size>,
    /// The most bytes of output that are kept.
    pub quota: u64,
    /// The time that it may take from its start.
    pub timeout: Duration,
    /// The time from SIGTERM to SIGKILL.
    pub grace: Duration,
}

/// The most seconds that a keeper may take until it reports, unless the host is asked about its command.
const MOST_LOOKS: u64 = 30;

/// Called with the command's process id, which is also its group's, or with the reason why it could not be
/// started.
pub type OnDetached = Box<dyn FnOnce(Result<i32, LaunchError>) + Send>;

/// The command's process id; or the step of its start that failed, the errno, and the subject.
type StartReport = Result<i32, (Step, i32, String)>;

struct DetachedStart {
    program: Option<PathBuf>,
    command: DetachedCommand,
    sandbox: Option<Result<SandboxTurn, LaunchError>>,
    reap: Box<dyn Fn(i32) + Send>,
    answer: OnDetached,
}

/// Starts a command on a thread of its own, which waits for the command's keeper. `reap` is called with the
/// process group of that keeper.
pub(crate) fn start(
    program: Option<PathBuf>,
    command: DetachedCommand,
    sandbox: Option<Result<SandboxTurn, LaunchError>>,
    reap: Box<dyn Fn(i32) + Send>,
    answer: OnDetached,
) {
    let (sender, orders) = channel::<DetachedStart>();
    let spawned = threads::spawn("forkline-detach", move || {
        for DetachedStart { program, command, sandbox, reap, answer } in orders {
            let place = sandbox.as_ref().and_then(|place| place.as_ref().ok());
            let keeper = place.map(|place| place.keeper().clone());
            let started = start_now(program.as_deref(), command, sandbox, &*reap);
            if let (Some(keeper), Err(error)) = (keeper, &started) {
                keeper.launch_failed(error);
            }
            answer(started);
        }
    });
    match spawned {
        Ok(()) => {
            // The thread is waiting for this, so sending can't fail.
            let _ = sender.send(DetachedStart { program, command, sandbox, reap, answer });
        }
        Err(error) => answer(Err(LaunchError::new(Step::Keeper, &error, "a thread"))),
    }
}

fn start_now(
    program: Option<&Path>,
    command: DetachedCommand,
    sandbox: Option<Result<SandboxTurn, LaunchError>>,
    reap_group: &dyn Fn(i32),
) -> Result<i32, LaunchError> {
    let program = program.ok_or_else(|| no_keeper(Errno::NOENT.into()))?;
    let sandbox = sandbox.transpose()?;
    let DetachedCommand { text, mut shells, environment, directory, .. } = command;
    if shells.is_empty() {
        shells = usual(&environment);
    }
    let mark = Mark::of_detached();
    let invocation = Invocation::new(&shells, &text, &environment, &mark, TailExec::Allowed)?;
    drop((text, environment));
    let mut attributes =
        sandbox.as_ref().map(SandboxTurn::attributes).transpose()?.unwrap_or_default();
    attributes.mask = command.umask.or(attributes.mask);
    if command.priority == Priority::Low {
        attributes.nice = attributes.nice.or_else(attributes::own_nice);
        attributes::lower(&mut attributes);
    }
    let order = Detached {
        request: Request {
            images: invocation.images.clone(),
            environment: invocation.environment.clone(),
            directory: directory.clone(),
            attributes,
            terminal: command.terminal.is_some(),
            announce: true,
            ..Request::default()
        },
        script: invocation.script_text()?,
        output: command.output,
        seated: sandbox.is_some(),
        input: command.input,
        line: command.line,
        quota: command.quota,
        timeout: command.timeout,
        grace: command.grace,
    };
    let order = memory_file(c"forkline-order", &order.encode())
        .map_err(descriptors("the keeper's order in memory (memfd_create)"))?;
    let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
        .map_err(descriptors("/dev/null"))?;
    let (reader, writer) = match command.terminal {
        Some(size) => line_with_terminal(size, sandbox.as_ref())?,
        None => pipe_with(PipeFlags::CLOEXEC).map_err(descriptors("the keeper's pipe"))?,
    };
    let channel = sandbox.as_ref().map(SandboxTurn::open).transpose()?;
    let stdio = [channel.as_ref().unwrap_or(&null).as_fd(), writer.as_fd()];
    let mut stack = Stack::new().map_err(descriptors("a stack"))?;
    // Without memory files, its standard error is lost.
    let stderr = StartupStderr::new().ok();
    let launched = launch_keeper(
        program,
        role::DETACH,
        Some(Directory::Path(c"/")),
        stdio,
        stderr.as_ref().map(StartupStderr::descriptor),
        Some(order.as_fd()),
        &mut stack,
    )?;
    let longest_ask = sandbox.as_ref().map_or(0, |place| place.longest_ask().as_secs());
    // With the host's copies open, the report would never end.
    drop((writer, channel));
    let answer = read_report(reader, launched, MOST_LOOKS + longest_ask);
    let end = reap(launched);
    reap_group(launched);
    if let (KeeperAnswer::Report(Err((Step::Keeper, ..))), Some(place)) = (&answer, &sandbox) {
        // The keeper could not use the cradle that was asked for; the sandbox may have been refused.
        place.refusal().map_or(Ok(()), Err)?;
    }
    match answer {
        KeeperAnswer::Report(Ok(pid)) => Ok(pid),
        KeeperAnswer::Report(Err((step, errno, word))) if ExecWords::is_one(&word) => {
            let mut error = invocation.explain(step, errno, directory.as_deref());
            error.deny(&[word]);
            Err(error)
        }
        KeeperAnswer::Report(Err((step, errno, subject))) if !subject.is_empty() => {
            Err(LaunchError { step, errno, subject, why: None })
        }
        KeeperAnswer::Report(Err((step, errno, _))) => {
            Err(invocation.explain(step, errno, directory.as_deref()))
        }
        // The launched process has handed over to a child, which starts the command and has reported nothing.
        KeeperAnswer::None if end == Some(ProcessEnd::Exit(0)) => {
            Err(lost(&mark, libc::ECONNABORTED, "was killed"))
        }
        KeeperAnswer::Hung => Err(lost(&mark, libc::ETIMEDOUT, "did not answer")),
        KeeperAnswer::None => {
            let how = describe_end(end, stderr.as_ref());
            let subject = format!("{NAME}, which ended while it started ({how})");
            Err(LaunchError { step: Step::Keeper, errno: libc::ECONNABORTED, subject, why: None })
        }
    }
}

/// Makes the line on which the keeper reports, with the terminal of its command on the way to it.
fn line_with_terminal(
    size: Size,
    sandbox: Option<&SandboxTurn>,
) -> Result<(OwnedFd, OwnedFd), LaunchError> {
    let directory = sandbox.and_then(|place| terminals_of(place.keeper()));
    let opened = Terminal::open(size, directory).map_err(descriptors("a terminal"))?;
    let (ours, theirs) = stream_pair().map_err(descriptors("the keeper's socket"))?;
    let ends = [opened.master.as_fd(), opened.slave.as_fd()];
    send(ours.as_fd(), [b"t", b""], &ends).map_err(descriptors("the keeper's socket"))?;
    Ok((ours, theirs))
}

/// Ends the processes that may run of a command whose keeper is gone. Returns the error that tells of it.
fn lost(mark: &Mark, errno: i32, how: &str) -> LaunchError {
    end_bearers_of(mark);
    let subject = format!("the command, whose keeper {how},");
    LaunchError { step: Step::Lost, errno, subject, why: None }
}

/// The result of waiting for a keeper's report.
enum KeeperAnswer {
    /// The report.
    Report(StartReport),
    /// The keeper ended without one.
    None,
    /// The keeper reported nothing for half a minute or longer, and was killed.
    Hung,
}

/// Reads a keeper's report. `launched`: the process id of the keeper, which is not reaped yet.
fn read_report(reader: OwnedFd, launched: i32, most_looks: u64) -> KeeperAnswer {
    const LOOK: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
    let (mut bytes, mut looks) = (Vec::new(), 0);
    let mut reader = File::from(reader);
    loop {
        let ready = poll(&mut [PollFd::new(&reader, PollFlags::IN)], Some(&LOOK));
        let mut part = [0; 4096];
        match ready {
            Ok(0) => {
                looks += 1;
                // The keeper's child is in the group too. The group's id can't be reused until the keeper is
                // reaped.
                let signal = if looks < most_looks { libc::SIGCONT } else { libc::SIGKILL };
                // SAFETY: takes numbers only.
                unsafe { libc::kill(-launched, signal) };
                if looks >= most_looks {
                    return KeeperAnswer::Hung;
                }
            }
            Ok(_) => match reader.read(&mut part) {
                Ok(0) => {
                    return decode_report(&bytes).map_or(KeeperAnswer::None, KeeperAnswer::Report);
                }
                Ok(length) => bytes.extend_from_slice(part.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return KeeperAnswer::None,
            },
            Err(_) => {}
        }
    }
}

/// Reaps the launched process, which has handed over to a child that then has no relation to the host. None:
/// its end can't be found out.
fn reap(pid: i32) -> Option<ProcessEnd> {
    let mut status = 0;
    loop {
        // SAFETY: fills the integer; the process id belongs to our child until it is reaped here.
        match unsafe { libc::waitpid(pid, &mut status, libc::__WALL) } {
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            -1 => return None,
            _ if libc::WIFEXITED(status) => {
                return Some(ProcessEnd::Exit(libc::WEXITSTATUS(status)));
            }
            _ => return Some(ProcessEnd::Signal(libc::WTERMSIG(status))),
        }
    }
}
