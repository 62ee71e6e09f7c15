//! The keeper of one detached command, in its own process: single-threaded and mostly asleep.

use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::null_mut;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::stdio::dup2_stdout;

use super::DetachedCommand;
use super::line::{End, completion_line};
use super::wire::{decode_command, encode_report};
use crate::errors::{LaunchError, Step};
use crate::family::Family;
use crate::group::Group;
use crate::invocation::Invocation;
use crate::keeper::end_family;
use crate::launch::{Place, Request, Stack, launch};
use crate::mark::Mark;
use crate::outcome::Status;
use crate::plumbing::descriptors;
use crate::proc;

/// The keeper's work: starts the command in `order`, tells stdout whether it runs, and keeps it to
/// its end.
pub fn keep_detached(order: File) {
    // What the host has launched, and waits for, ends here; its child is nobody's. It stays in the
    // session made at the launch, which has no terminal and which it can't get one for.
    // SAFETY: there is one thread, so the child has everything that its parent had.
    match unsafe { libc::fork() } {
        0 => {}
        -1 => {
            let error = LaunchError::new(Step::Clone, &io::Error::last_os_error(), "");
            let _ = report(&Err(error));
            return;
        }
        _ => return,
    }
    match prepare().and_then(|null| start(order, &null).map(|kept| (kept, null))) {
        Ok((kept, null)) => {
            let heard = report(&Ok(kept.group.number())).is_ok();
            // The host waits for the end of the report.
            let _ = dup2_stdout(null);
            if heard {
                kept.keep();
            } else {
                // The host has died meanwhile, so nobody will ever know how to stop the command.
                kept.end();
            }
        }
        Err(error) => drop(report(&Err(error))),
    }
}

fn report(started: &Result<i32, LaunchError>) -> io::Result<()> {
    let mut stdout = io::stdout();
    stdout.write_all(&encode_report(started))?;
    stdout.flush()
}

/// What must be so before there is a child.
fn prepare() -> Result<OwnedFd, LaunchError> {
    // Its orphans fall to us, so that the command's descent is never lost to a double fork.
    // SAFETY: takes numbers only.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    // It ends with its command, not by a signal that goes round to everybody, as when a service is
    // stopped: the command may take its time, and is to get its line.
    let held = signal_set(&[libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP]);
    // SAFETY: a mask that `signal_set` has initialised; it cannot fail with SIG_BLOCK.
    unsafe { libc::sigprocmask(libc::SIG_BLOCK, &held, null_mut()) };
    open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
        .map_err(descriptors("/dev/null"))
}

/// A command that runs.
struct Kept {
    group: Group,
    /// Ours alone: what the command does to its own descriptor (flags, position) does not matter.
    output: OwnedFd,
    born_after: u64,
    started: Instant,
    timeout: Duration,
    grace: Duration,
    mark: Mark,
}

fn start(mut order: File, null: &OwnedFd) -> Result<Kept, LaunchError> {
    let mut bytes = Vec::new();
    let read = order.read_to_end(&mut bytes).ok().and_then(|_| decode_command(&bytes));
    drop((order, bytes));
    let Some(command) = read else {
        let error = io::Error::from(Errno::BADMSG);
        return Err(LaunchError::new(Step::Keeper, &error, "forkline-keeper"));
    };
    let append = OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let fresh = append | OFlags::CREATE | OFlags::EXCL;
    let mode = Mode::RUSR | Mode::WUSR;
    let theirs = open(&command.output, fresh, mode).map_err(descriptors("the output file"))?;
    let output = open(&command.output, append, mode).map_err(descriptors("the output file"))?;
    let mark = Mark::of_detached();
    let DetachedCommand { shells, text, environment, directory, timeout, grace, .. } = command;
    let invocation = Invocation::new(&shells, &text, &environment, &mark, false)?;
    let request = Request {
        images: &invocation.images,
        environment: &invocation.environment,
        directory: directory.as_deref().map(Place::Path),
        stdio: [null.as_fd(), theirs.as_fd(), theirs.as_fd()],
        script: invocation.script.as_ref().map(AsFd::as_fd),
        slots: None,
        parent_death: None,
        terminal: false,
        holder: None,
    };
    let mut stack = Stack::new().map_err(descriptors("a stack"))?;
    let born_after = proc::ticks_now().saturating_sub(1);
    let started = Instant::now();
    let launched = launch(&request, &mut stack)
        .map_err(|failure| invocation.explain(&failure, directory.as_deref()))?;
    let Some(group) = Group::led_by(launched.pid) else {
        // The kernel does not hand out such pids.
        return Err(LaunchError::new(Step::Clone, &Errno::SRCH.into(), "a process"));
    };
    Ok(Kept { group, output, born_after, started, timeout, grace, mark })
}

impl Kept {
    /// Waits for its end, or brings it about; then writes the line.
    fn keep(self) {
        let end = match self.wait() {
            Some(status) => End::Itself(status),
            None => {
                self.end();
                End::TimedOut(self.timeout)
            }
        };
        // One write, so that nobody who still writes can come in between. A full disk, or a file
        // that is gone, leaves nobody to tell.
        let _ = File::from(self.output).write_all(completion_line(end).as_bytes());
    }

    /// None: its time was up. The leader is not reaped then, so its number stays its own.
    fn wait(&self) -> Option<Status> {
        let signals = signal_set(&[libc::SIGCHLD]);
        loop {
            // The clock first: orphans that end all the time must not put the deadline off.
            let left = self.timeout.saturating_sub(self.started.elapsed());
            if let Some(status) = self.reap() {
                return Some(status);
            }
            if left.is_zero() {
                return None;
            }
            let left = left.min(LONGEST_SLEEP);
            let time = libc::timespec {
                tv_sec: left.as_secs() as libc::time_t,
                tv_nsec: left.subsec_nanos().into(),
            };
            // SAFETY: both are initialised, and nobody wants the details of the signal.
            unsafe { libc::sigtimedwait(&signals, null_mut(), &time) };
        }
    }

    /// Takes everybody that has ended, adopted or not; the leader's status, once it is among them.
    fn reap(&self) -> Option<Status> {
        loop {
            let mut status = 0;
            // SAFETY: fills the integer.
            let pid = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) };
            if pid == 0 {
                return None;
            }
            if pid < 0 {
                // There is always the leader to wait for, until here.
                return Some(Status::Unknown);
            }
            if pid == self.group.number() {
                return Some(if libc::WIFSIGNALED(status) {
                    Status::Signaled(libc::WTERMSIG(status))
                } else {
                    Status::Exited(libc::WEXITSTATUS(status))
                });
            }
        }
    }

    fn end(&self) {
        let mut family = Family {
            groups: vec![self.group],
            mark: self.mark.clone(),
            known: Default::default(),
            asked: Default::default(),
            outlets: Vec::new(),
            born_after: self.born_after,
        };
        end_family(&mut family, self.grace);
    }
}

/// From one look at the clock to the next.
const LONGEST_SLEEP: Duration = Duration::from_secs(24 * 3600);

/// The numbers must be those of signals.
fn signal_set(numbers: &[libc::c_int]) -> libc::sigset_t {
    let mut signals = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises it; neither call can fail with a valid set and number.
    unsafe {
        libc::sigemptyset(signals.as_mut_ptr());
        for &number in numbers {
            libc::sigaddset(signals.as_mut_ptr(), number);
        }
        signals.assume_init()
    }
}
