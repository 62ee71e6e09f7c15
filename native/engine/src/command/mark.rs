//! The environment mark: `FORKLINE_MARK=<host>.<owner>.<command>` is in the environment of every process of a
//! command, to tell people whose it is. No other mechanism depends on it. It is used only to find processes
//! of a command when no keeper or cradle is left that knows them.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::command::outcome::BackgroundProcess;

/// The name of the variable.
pub const NAME: &str = "FORKLINE_MARK";

/// A set of processes: those of a host, of an owner in it, or of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark(String);

impl Mark {
    /// Returns the mark of this host process, which no other host has or had.
    pub fn of_host() -> &'static Mark {
        static HOST: OnceLock<Mark> = OnceLock::new();
        HOST.get_or_init(|| Mark(format!("{NAME}={}.", this_process())))
    }

    /// Returns the mark of the detached command that this process, a keeper, has started. The mark names no
    /// host, since no host may end the command.
    pub fn of_detached() -> Mark {
        Mark(format!("{NAME}=detached-{}.", this_process()))
    }

    /// Returns the mark of one command.
    pub fn of_command(owner: u64, command: u64) -> Mark {
        Mark(format!("{}{owner}.{command}.", Self::of_host().0))
    }

    /// Returns the mark as an entry of an environment.
    pub fn entry(&self) -> &str {
        &self.0
    }
}

/// Finds the processes with this mark whose environment can be read. All processes of the machine are looked
/// at, which takes some milliseconds.
pub fn bearers_of(mark: &Mark) -> Vec<BackgroundProcess> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter(|pid| bears(*pid, mark)).filter_map(described).collect()
}

/// Ends the processes with this mark, which no keeper knows: SIGKILL, until none is found, for a second or so
/// at most.
pub fn end_bearers_of(mark: &Mark) {
    const LOOKS: u32 = 20;
    const AGAIN: Duration = Duration::from_millis(50);
    for _ in 0..LOOKS {
        let bearers = bearers_of(mark);
        if bearers.is_empty() {
            return;
        }
        bearers.iter().for_each(|bearer| end_bearer(bearer.pid, mark));
        std::thread::sleep(AGAIN);
    }
}

/// Ends one process. The mark is checked after the pidfd is open, since the process id may have been reused
/// before that.
fn end_bearer(pid: i32, mark: &Mark) {
    // SAFETY: takes numbers only.
    let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as i32;
    if pidfd < 0 {
        return;
    }
    // SAFETY: the descriptor was just opened, and nothing else owns it.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    if bears(pid, mark) {
        let details = std::ptr::null::<libc::siginfo_t>();
        let pidfd = pidfd.as_raw_fd();
        // SAFETY: takes numbers, and a null pointer for the signal's details.
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd, libc::SIGKILL, details, 0) };
    }
}

fn bears(pid: i32, mark: &Mark) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|entry| entry == mark.entry().as_bytes())
}

/// Describes a process. None: it has ended meanwhile.
fn described(pid: i32) -> Option<BackgroundProcess> {
    let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = arguments.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(&b' ');
    // SAFETY: takes a number only.
    let group = unsafe { libc::getpgid(pid) };
    let command = String::from_utf8_lossy(&line).chars().take(LONGEST).collect();
    (group > 0).then_some(BackgroundProcess { pid, group, command })
}

/// The longest command line that is kept, in characters.
const LONGEST: usize = 200;

/// Returns a name that no other process has or had.
fn this_process() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{:x}", std::process::id(), now.as_nanos())
}
