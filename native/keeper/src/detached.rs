//! The keeper of one detached command: a process of its own, single-threaded and mostly asleep.

mod client;
mod clients;
mod crew;
mod denials;
mod failure;
mod input;
mod output;
mod record;
mod store;
mod streams;
mod task;
mod terminal;

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Instant;

use forkline_launch::{Launch, Place, Stack, Step, launch_and_tell};
use forkline_protocol::{Descriptors, Detached, Request, encode_report, memory_file};

use crate::host;
use crate::proc;
use crate::signals;
use crate::wait;
use clients::Clients;
use crew::Crew;
use crew::children::ChildCrew;
use crew::seated::CradleCrew;
use failure::{DetachedFailure, descriptors};
use input::StdinPipe;
use output::OutputFile;
use record::Record;
use streams::CommandStreams;
use task::Task;
use terminal::KeptTerminal;

/// Does the keeper's work: starts the command in `order`, reports to stdout whether it runs, and keeps it
/// until its end.
pub fn keep(order: File) {
    let watched = host::parent_pidfd();
    // The process that the host has launched ends here, and the host waits for it; the child is not the
    // host's. It stays in the session made at the launch, which has no terminal and can't get one.
    // SAFETY: there is one thread, so the child has everything that its parent had.
    match unsafe { libc::fork() } {
        0 => {}
        -1 => {
            let _ = report(&Err((Step::Clone, last_errno(), String::new())));
            return;
        }
        _ => return,
    }
    signals::prepare();
    proc::pid_limit();
    // Orphans of the command become children of this process, so a double fork does not hide them.
    let able = signals::check().and_then(|()| wait::check()).and_then(|()| wait::adopt_orphans());
    let denied = |(errno, call)| (Step::Keeper, errno, format!("forkline-keeper: {call}"));
    let null = able.map_err(denied).and_then(|()| open_null());
    let started = null.and_then(|null| start(order, watched, &null).map(|task| (task, null)));
    match started {
        Ok((task, null)) => {
            let heard = report(&Ok(task.leader())).is_ok();
            // The host waits for the end of the report.
            // SAFETY: takes numbers only.
            unsafe {
                libc::dup2(null.as_raw_fd(), 1);
                libc::dup2(null.as_raw_fd(), 2);
            }
            drop(null);
            // Otherwise the host has died meanwhile, so no process has been told how to stop the command.
            if heard { task.keep() } else { task.give_up() }
        }
        Err(failure) => drop(report(&Err(failure))),
    }
}

fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

fn report(started: &Result<i32, DetachedFailure>) -> io::Result<()> {
    let mut stdout = io::stdout();
    stdout.write_all(&encode_report(started))?;
    stdout.flush()
}

fn open_null() -> Result<File, DetachedFailure> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null");
    null.map_err(descriptors("/dev/null"))
}

fn start(mut order: File, host: Option<OwnedFd>, null: &File) -> Result<Task, DetachedFailure> {
    let mut bytes = Vec::new();
    let read = order.read_to_end(&mut bytes).ok().and_then(|_| Detached::decode(&bytes));
    drop((order, bytes));
    let Some(order) = read else {
        return Err((Step::Keeper, libc::EBADMSG, "forkline-keeper".to_owned()));
    };
    let path = Path::new(std::ffi::OsStr::from_bytes(order.output.as_bytes()));
    let on_terminal = order.request.terminal;
    let (output, mut theirs) = OutputFile::create(path, order.quota, order.line, order.seated)
        .map_err(descriptors("the output file"))?;
    let mut record = Record::beside(path).map_err(descriptors("its record"))?;
    // Without a socket the command can still be kept, and its record be read.
    let clients = Clients::listen(path);
    let mut terminal = None;
    let (input, stdin) = if on_terminal {
        // SAFETY: descriptor 1 is open until the report is over.
        let host = unsafe { BorrowedFd::borrow_raw(1) };
        let (received, keys, slave) =
            KeptTerminal::receive(host).map_err(descriptors("its terminal"))?;
        theirs = slave.try_clone().map_err(descriptors("its terminal"))?;
        terminal = Some(received);
        (Some(keys), Some(slave))
    } else {
        let pipe = order.input.then(StdinPipe::open).transpose();
        pipe.map_err(descriptors("the pipe to its stdin"))?.unzip()
    };
    let script = order.script.as_deref().map(|text| memory_file(c"forkline-script", text));
    let script =
        script.transpose().map_err(descriptors("the script's file in memory (memfd_create)"))?;
    let plumbing = CommandFiles { null, stdin, output: theirs, script };
    let started = Instant::now();
    let crew: Box<dyn Crew> = match order.seated {
        true => Box::new(seat(&order.request, host, &plumbing, path)?),
        false => Box::new(launch_here(&order.request, &plumbing)?),
    };
    drop(plumbing);
    record.started(crew.leader());
    Ok(Task::new(
        &order,
        crew,
        started,
        CommandStreams { output, input, terminal },
        record,
        clients,
    ))
}

/// The descriptors that a command gets.
struct CommandFiles<'a> {
    null: &'a File,
    stdin: Option<File>,
    output: File,
    script: Option<OwnedFd>,
}

fn launch_here(request: &Request, plumbing: &CommandFiles) -> Result<ChildCrew, DetachedFailure> {
    let CommandFiles { null, stdin, output, script } = plumbing;
    let stdio = [stdin.as_ref().unwrap_or(null).as_fd(), output.as_fd(), output.as_fd()];
    let launch_request = Launch {
        environment: &request.environment,
        directory: request.path().map(Place::Path),
        script: script.as_ref().map(AsFd::as_fd),
        terminal: request.terminal,
        reset: signals::NOT_DEFAULT,
        attributes: Some(&request.attributes),
        ..Launch::plain(&request.images, stdio)
    };
    let mut stack = Stack::new().map_err(descriptors("a stack"))?;
    let launched = launch_and_tell(&launch_request, &mut stack).map_err(|failure| {
        (failure.step, failure.error.raw_os_error().unwrap_or(0), String::new())
    })?;
    Ok(ChildCrew::new(launched, request))
}

/// Has the cradle at the other end of descriptor 0 launch the command.
fn seat(
    request: &Request,
    host: Option<OwnedFd>,
    plumbing: &CommandFiles,
    output: &Path,
) -> Result<CradleCrew, DetachedFailure> {
    // SAFETY: the engine puts it there, and nothing else here uses it.
    let channel = unsafe { OwnedFd::from_raw_fd(0) };
    // Moves the channel away from the standard descriptors.
    let channel = channel.try_clone().map_err(descriptors("a channel"))?;
    let descriptors = Descriptors {
        stdin: plumbing.stdin.as_ref().map(AsFd::as_fd),
        stdout: plumbing.output.as_fd(),
        stderr: None,
        directory: None,
        script: plumbing.script.as_ref().map(AsFd::as_fd),
        body: None,
        group: None,
        other_group: None,
    };
    CradleCrew::start(channel, host, request, descriptors, output)
}
