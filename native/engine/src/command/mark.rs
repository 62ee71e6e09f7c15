//! The environment mark: `FORKLINE_MARK=<host>.<owner>.<command>` is in the environment of everything
//! that a command starts, for people who look at a process and wonder. Nothing that is done depends on it:
//! it names who may be left where nobody is there any more who could know.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::command::outcome::BackgroundProcess;

/// The name of the variable.
pub const NAME: &str = "FORKLINE_MARK";

/// Which processes: those of a host, of an owner in it, or of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark(String);

impl Mark {
    /// The mark of this host process; no other host, past or present, has it.
    pub fn of_host() -> &'static Mark {
        static HOST: OnceLock<Mark> = OnceLock::new();
        HOST.get_or_init(|| Mark(format!("{NAME}={}.", this_process())))
    }

    /// The mark of the detached command that this process, a keeper, has started. It names no
    /// host, since none may end it.
    pub fn of_detached() -> Mark {
        Mark(format!("{NAME}=detached-{}.", this_process()))
    }

    /// The mark of one command.
    pub fn of_command(owner: u64, command: u64) -> Mark {
        Mark(format!("{}{owner}.{command}.", Self::of_host().0))
    }

    /// As an entry of an environment.
    pub fn entry(&self) -> &str {
        &self.0
    }
}

/// Those who bear this mark and can be looked into: each process of this machine is asked, some
/// milliseconds.
pub fn bearers_of(mark: &Mark) -> Vec<BackgroundProcess> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter(|pid| bears(*pid, mark)).filter_map(described).collect()
}

/// Ends those who bear this mark, of whom nobody else knows: SIGKILL, until none is found, at most a second
/// or so.
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

/// The handle is of whoever has the number once it is there: so it is looked again who that is.
fn end_bearer(pid: i32, mark: &Mark) {
    // SAFETY: takes numbers only.
    let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as i32;
    if pidfd < 0 {
        return;
    }
    // SAFETY: just opened, and nobody else's.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    if bears(pid, mark) {
        let details = std::ptr::null::<libc::siginfo_t>();
        let pidfd = pidfd.as_raw_fd();
        // SAFETY: takes numbers, and no details of the signal.
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd, libc::SIGKILL, details, 0) };
    }
}

fn bears(pid: i32, mark: &Mark) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|entry| entry == mark.entry().as_bytes())
}

/// None: it has ended meanwhile.
fn described(pid: i32) -> Option<BackgroundProcess> {
    let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = arguments.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(&b' ');
    // SAFETY: takes a number only.
    let group = unsafe { libc::getpgid(pid) };
    let command = String::from_utf8_lossy(&line).chars().take(LONGEST).collect();
    (group > 0).then_some(BackgroundProcess { pid, group, command })
}

/// In characters.
const LONGEST: usize = 200;

/// A name that no other process, past or present, has.
fn this_process() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{:x}", std::process::id(), now.as_nanos())
}
