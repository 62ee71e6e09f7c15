//! The keeper of one detached command, in its own process: single-threaded and mostly asleep.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use forkline_launch::{Place, Request as Launch, Stack, Step, launch};
use forkline_protocol::{Detached, Status, encode_report, memory_file};

use crate::ending::Ending;
use crate::line::{End, completion_line};
use crate::members::Members;
use crate::quota::Quota;
use crate::room::Room;
use crate::signals;
use crate::wait::{self, Change, Family};

/// Where it failed, why, and on what; a launch's subject is for the host to tell.
type Failure = (Step, i32, String);

/// The keeper's work: starts the command in `order`, tells stdout whether it runs, and keeps it to
/// its end.
pub fn keep(order: File) {
    // What the host has launched, and waits for, ends here; its child is nobody's. It stays in the
    // session made at the launch, which has no terminal and which it can't get one for.
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
    // Its orphans fall to us, so that the command's descent is never lost to a double fork.
    // SAFETY: takes numbers only.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    let started = open_null().and_then(|null| start(order, &null).map(|kept| (kept, null)));
    match started {
        Ok((mut kept, null)) => {
            let heard = report(&Ok(kept.leader)).is_ok();
            // The host waits for the end of the report.
            // SAFETY: takes numbers only.
            unsafe { libc::dup2(null.as_raw_fd(), 1) };
            drop(null);
            if heard {
                kept.keep();
            } else {
                // The host has died meanwhile, so nobody will ever know how to stop the command.
                kept.end();
            }
        }
        Err(failure) => drop(report(&Err(failure))),
    }
}

fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

fn report(started: &Result<i32, Failure>) -> io::Result<()> {
    let mut stdout = io::stdout();
    stdout.write_all(&encode_report(started))?;
    stdout.flush()
}

fn descriptors(subject: &str) -> impl Fn(io::Error) -> Failure {
    move |error| (Step::Descriptors, error.raw_os_error().unwrap_or(0), subject.to_owned())
}

fn open_null() -> Result<File, Failure> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null");
    null.map_err(descriptors("/dev/null"))
}

/// A command that runs.
struct Kept {
    leader: i32,
    /// Its status, once it has been reaped.
    ended: Option<Status>,
    /// Ours alone: what the command does to its own descriptor (flags, position) does not matter.
    output: File,
    quota: Quota,
    /// For the line, when the disk is full by then.
    room: Option<Room>,
    members: Members,
    started: Instant,
    timeout: Duration,
    grace: Duration,
}

fn start(mut order: File, null: &File) -> Result<Kept, Failure> {
    let mut bytes = Vec::new();
    let read = order.read_to_end(&mut bytes).ok().and_then(|_| Detached::decode(&bytes));
    drop((order, bytes));
    let Some(Detached { request, script, output, quota, timeout, grace }) = read else {
        return Err((Step::Keeper, libc::EBADMSG, "forkline-keeper".to_owned()));
    };
    let path = Path::new(std::ffi::OsStr::from_bytes(output.as_bytes()));
    let append = || {
        let mut options = OpenOptions::new();
        options.append(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        options
    };
    let of_output = descriptors("the output file");
    let theirs = append().create_new(true).open(path).map_err(&of_output)?;
    let output = append().open(path).map_err(&of_output)?;
    let room = Room::beside(path);
    let script = script.as_deref().map(|text| memory_file(c"forkline-script", text)).transpose();
    let script = script.map_err(descriptors("the script's file"))?;
    let launch_request = Launch {
        images: &request.images,
        environment: &request.environment,
        directory: request.path().map(Place::Path),
        stdio: [null.as_fd(), theirs.as_fd(), theirs.as_fd()],
        script: script.as_ref().map(AsFd::as_fd),
        parent_death: None,
        terminal: false,
        share_directory: false,
        attributes: None,
        reset: signals::NOT_DEFAULT,
    };
    let mut stack = Stack::new().map_err(descriptors("a stack"))?;
    let started = Instant::now();
    let leader = launch(&launch_request, &mut stack).map_err(|failure| {
        (failure.step, failure.error.raw_os_error().unwrap_or(0), String::new())
    })?;
    let (members, quota) = (Members::new(leader), Quota::new(quota));
    Ok(Kept { leader, ended: None, output, quota, room, members, started, timeout, grace })
}

impl Kept {
    /// Waits for its end, or brings it about; then writes the line.
    fn keep(&mut self) {
        let end = match self.wait() {
            Some(status) => End::Itself(status),
            None => {
                self.end();
                End::TimedOut(self.timeout)
            }
        };
        self.quota.hold(&self.output);
        let line = completion_line(end, self.quota.line().as_deref());
        // One write, so that nobody who still writes can come in between; so its room is there
        // before it is known to be needed.
        if let Some(room) = self.room.take() {
            room.release();
        }
        // A file that is gone leaves nobody to tell.
        let _ = self.output.write_all(line.as_bytes());
    }

    /// None: its time was up.
    fn wait(&mut self) -> Option<Status> {
        loop {
            // The clock first: orphans that end all the time must not put the deadline off.
            let left = self.timeout.saturating_sub(self.started.elapsed());
            self.reap();
            if self.ended.is_some() {
                return self.ended;
            }
            if left.is_zero() {
                return None;
            }
            let next_look = self.quota.hold(&self.output);
            signals::wait([None], Some(left.min(next_look)));
        }
    }

    /// Takes everybody that has ended, adopted or not; whether nobody is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait::next() {
                Family::Change(Change::Ended(ended)) if ended.pid == self.leader => {
                    self.ended = Some(ended.status);
                }
                Family::Change(_) => {}
                Family::Lives => return false,
                Family::Empty => {
                    self.ended.get_or_insert(Status::Unknown);
                    return true;
                }
            }
        }
    }

    fn end(&mut self) {
        let mut ending = Ending::new(self.grace, Instant::now());
        while !self.reap() {
            let now = Instant::now();
            ending.somebody_ended(&self.members, now);
            let leader = self.ended.is_none().then_some(self.leader);
            if ending.act(&self.members, leader, now) {
                return;
            }
            let next_look = self.quota.hold(&self.output);
            let left = ending.due().saturating_duration_since(Instant::now());
            signals::wait([None], Some(left.min(next_look)));
        }
    }
}
