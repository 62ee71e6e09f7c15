//! Ports between a sandbox and its host, relayed by a process outside.
//!
//! The process has a thread in the host's network, and one in that of the sandbox. A socket belongs to the
//! network of the thread that makes it; none of the host's is ever given to a process inside, which could
//! make it reach any port of the host. What connects to a listener made by the one thread is relayed to
//! sockets made by the other: to *reach* ports, listeners are in the sandbox and connections in the host's
//! network; to *publish* them, the other way round.

pub mod ask;
mod closings;
mod copying;
mod inside;
mod known;
mod listening;
mod outside;
pub mod plan;
mod published;
pub mod record;
mod relay;
mod sockets;

use std::fs;
use std::io::{self, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::exit;

use forkline_protocol::pair;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::sandbox::ports::ask::RelayLine;
use crate::sandbox::ports::plan::PortPlan;
use crate::sandbox::privileges;
use crate::sandbox::warden::{self, GuardedSandbox};

/// The most connections at once that are relayed in one direction.
const MOST_CONNECTIONS: usize = 16 * 1024;
/// Descriptors that are not for connections: listeners, and what watches them.
const OTHER_DESCRIPTORS: usize = 320;

/// The relay's process, and the sockets to it.
pub struct PortRelay {
    pub pid: i32,
    /// The sockets are the warden's.
    pub line: RelayLine,
}

/// Starts the relay as a child of this process, with which it ends. Returns when it has made its listeners.
/// None: no ports are relayed.
pub fn start(guarded: &GuardedSandbox) -> io::Result<Option<PortRelay>> {
    if guarded.plan.ports.is_empty() {
        return Ok(None);
    }
    let (asks, their_asks) = pair()?;
    let (news, their_news) = pair()?;
    let (mut made, tell) = io::pipe()?;
    // SAFETY: takes nothing.
    let parent = unsafe { libc::getpid() };
    // SAFETY: there is one thread, so the child has everything that its parent had.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            drop((asks, news, made));
            let line = RelayLine { asks: their_asks, news: their_news };
            // Whoever waits is told by the end of the pipe.
            let _ = serve(guarded, parent, line, tell);
            exit(1)
        }
        pid => {
            drop((their_asks, their_news, tell));
            let mut answer = [0; 4];
            let error = match made.read_exact(&mut answer) {
                Ok(()) => i32::from_le_bytes(answer),
                Err(_) => libc::ECHILD,
            };
            if error == 0 {
                return Ok(Some(PortRelay { pid, line: RelayLine { asks, news } }));
            }
            warden::end(pid);
            Err(io::Error::from_raw_os_error(error))
        }
    }
}

/// Makes the listeners and relays connections, until the parent ends.
fn serve(
    guarded: &GuardedSandbox,
    parent: i32,
    line: RelayLine,
    mut tell: PipeWriter,
) -> io::Result<()> {
    close_others(&[line.asks.as_raw_fd(), line.news.as_raw_fd(), tell.as_raw_fd()])?;
    let most = raise_descriptors(&guarded.plan.ports);
    let begun = prepare(guarded, parent).and_then(|sandbox| {
        let (thread, entrances) =
            inside::start(sandbox, guarded.plan.ports.clone(), most, line.news)?;
        privileges::drop_all()?;
        outside::HostRelay::new(guarded.plan.ports.clone(), most, line.asks, thread, entrances)
    });
    let error = begun.as_ref().err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
    tell.write_all(&error.to_le_bytes())?;
    drop(tell);
    begun?.relay()
}

/// Enters the sandbox's user namespace, whose root may enter its network. Returns the keeper's pidfd.
fn prepare(guarded: &GuardedSandbox, parent: i32) -> io::Result<OwnedFd> {
    // SAFETY: takes numbers only.
    let keeper = done(unsafe { libc::syscall(libc::SYS_pidfd_open, guarded.keeper, 0) })?;
    // SAFETY: the descriptor was just opened; nothing else owns it.
    let keeper = unsafe { OwnedFd::from_raw_fd(keeper as i32) };
    if guarded.has_user_namespace {
        // SAFETY: takes numbers only; this process has one thread.
        done(unsafe { libc::setns(keeper.as_raw_fd(), libc::CLONE_NEWUSER) }.into())?;
    }
    privileges::close_to_others()?;
    // SAFETY: take numbers only. A change of privileges would have cleared the signal.
    unsafe {
        done(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL).into())?;
        if libc::getppid() != parent {
            return Err(io::ErrorKind::NotFound.into());
        }
    }
    Ok(keeper)
}

/// Closes all descriptors of the parent but these and the error output: the end of the others must show to
/// those who have their other ends.
fn close_others(kept: &[i32]) -> io::Result<()> {
    let entries = fs::read_dir("/proc/self/fd")?;
    let open: Vec<i32> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in open.into_iter().filter(|number| *number != 2 && !kept.contains(number)) {
        // SAFETY: takes a number; what owns the descriptor in the parent is not used here.
        unsafe { libc::close(number) };
    }
    Ok(())
}

/// Allows as many descriptors as this process may have. Returns the most connections for each direction.
fn raise_descriptors(plan: &PortPlan) -> usize {
    let Rlimit { maximum, current } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let allowed = getrlimit(Resource::Nofile)
        .current
        .or(current)
        .map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let directions = usize::from(!plan.reach.is_empty()) + usize::from(plan.publishes());
    // Each connection takes two.
    let most = allowed.saturating_sub(OTHER_DESCRIPTORS) / 2 / directions.max(1);
    most.clamp(16, MOST_CONNECTIONS)
}

fn done(result: i64) -> io::Result<i64> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
