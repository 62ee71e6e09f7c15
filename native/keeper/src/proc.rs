//! Processes as `/proc` shows them, for names and for signalling; nothing is proven by it.

use std::ffi::CStr;
use std::fs::{self, File};
use std::io::Read;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::time::Duration;

/// A process at one moment. `(pid, started)` identifies it for ever; the pid alone may be reused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    pub pid: i32,
    pub parent: i32,
    pub group: i32,
    /// Whether it has a controlling terminal.
    pub terminal: bool,
    /// `R`, `S`, `Z`, ...
    pub state: u8,
    /// Whether the process is exiting; its arguments are gone already.
    pub exiting: bool,
    pub threads: u32,
    /// The start time, in clock ticks since boot.
    pub started: u64,
}

/// The longest chain of parents; one that seems longer is changing meanwhile.
pub const LONGEST_DESCENT: usize = 1000;

/// The kernel's flag for an exiting process, in the ninth field.
const PF_EXITING: u64 = 0x4;

impl Stat {
    /// Returns whether the process still runs.
    pub fn is_alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x') && !self.exiting
    }
}

/// Returns how many units of [`Stat::started`] a second has.
pub fn ticks_a_second() -> u64 {
    // SAFETY: takes a number.
    unsafe { libc::sysconf(libc::_SC_CLK_TCK) as u64 }
}

/// Returns the time in the unit of [`Stat::started`].
pub fn ticks() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &mut time) };
    let a_second = ticks_a_second();
    time.tv_sec as u64 * a_second + time.tv_nsec as u64 * a_second / 1_000_000_000
}

/// Returns whether `/proc` shows processes by the ids of this PID namespace: it may be empty, or another
/// namespace's.
pub fn shows_own_pids() -> bool {
    fs::read_link("/proc/self").is_ok_and(|own| own.as_os_str() == &*std::process::id().to_string())
}

/// Returns a number above all process ids. First called while files can be opened.
pub fn pid_limit() -> i32 {
    static BEYOND: OnceLock<i32> = OnceLock::new();
    // The most that any kernel allows.
    const MOST: i32 = 4 * 1024 * 1024;
    let told = || fs::read_to_string("/proc/sys/kernel/pid_max").ok()?.trim().parse().ok();
    *BEYOND.get_or_init(|| told().unwrap_or(MOST))
}

/// Returns a process. None: it is gone or not shown.
pub fn stat(pid: i32) -> Option<Stat> {
    let mut line = [0; LONGEST_STAT];
    let length = read_stat(pid, &mut line)?;
    parse_stat(pid, line.get(..length)?)
}

/// Returns the time that a process has used of processors, in ticks, and its state.
pub fn used_ticks(pid: i32) -> Option<(u64, u8)> {
    let mut line = [0; LONGEST_STAT];
    let length = read_stat(pid, &mut line)?;
    let line = line.get(..length)?;
    let name_end = line.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(line.get(name_end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    // Field 14 is the time in user code, and field 15 that in the kernel.
    let (user, system): (u64, u64) = (fields.nth(10)?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((user + system, state))
}

/// Returns how long the first thread of a process has waited for a processor; zero: not shown.
pub fn queued(pid: i32) -> Duration {
    let told = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    let waited = told.split_ascii_whitespace().nth(1).and_then(|word| word.parse().ok());
    Duration::from_nanos(waited.unwrap_or(0))
}

/// The kernel returns the whole line at once, which is some 300 bytes long.
const LONGEST_STAT: usize = 2048;

fn read_stat(pid: i32, line: &mut [u8]) -> Option<usize> {
    File::open(format!("/proc/{pid}/stat")).ok()?.read(line).ok()
}

/// Returns the parent in a line of `/proc/PID/stat`.
pub fn parent_in(line: &[u8]) -> Option<i32> {
    parse_stat(0, line).map(|stat| stat.parent)
}

/// Returns the process group in a line of `/proc/PID/stat`.
pub fn group_in(line: &[u8]) -> Option<i32> {
    parse_stat(0, line).map(|stat| stat.group)
}

/// Parses a line of `/proc/PID/stat`. The second field is the name in parentheses, which may itself
/// contain blanks and parentheses.
fn parse_stat(pid: i32, line: &[u8]) -> Option<Stat> {
    let name_end = line.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(line.get(name_end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = *fields.next()?.as_bytes().first()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    // From field 6 on: the terminal is field 7, the flags are field 9, the threads field 20, and the start
    // time is field 22.
    let terminal = fields.nth(1)? != "0";
    let flags: u64 = fields.nth(1)?.parse().ok()?;
    let threads = fields.nth(10)?.parse().ok()?;
    let started = fields.nth(1)?.parse().ok()?;
    let exiting = flags & PF_EXITING != 0;
    Some(Stat { pid, parent, group, terminal, state, exiting, threads, started })
}

/// Returns the children of a process with this many threads. None: this kernel does not list them.
pub fn children(pid: i32, threads: u32) -> Option<Vec<i32>> {
    if threads <= 1 {
        return children_of_thread(pid, pid);
    }
    let mut all = Vec::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let thread = thread.file_name().to_str().and_then(|name| name.parse().ok());
        all.extend(thread.and_then(|thread| children_of_thread(pid, thread)).unwrap_or_default());
    }
    Some(all)
}

fn children_of_thread(pid: i32, thread: i32) -> Option<Vec<i32>> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")).ok()?;
    Some(list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect())
}

/// Returns all processes that are shown.
pub fn all() -> Option<Vec<Stat>> {
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Some(pids.filter_map(stat).collect())
}

/// Returns the arguments, each ended by NUL; empty when there are none, or they are not shown.
pub fn arguments(pid: i32) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

/// Returns the name, at most 15 characters.
pub fn name(pid: i32) -> Option<Vec<u8>> {
    let mut name = fs::read(format!("/proc/{pid}/comm")).ok()?;
    name.pop_if(|last| *last == b'\n');
    Some(name)
}

/// Returns the directory of this process, which is the command's too if both share it. A removed one has
/// ` (deleted)` after its name. Empty: not known.
pub fn own_directory() -> Vec<u8> {
    use std::os::unix::ffi::OsStringExt;
    let path = std::fs::read_link("/proc/self/cwd").or_else(|_| std::env::current_dir());
    path.map(|path| path.into_os_string().into_vec()).unwrap_or_default()
}

/// Sets the name of the calling process that `ps` shows.
pub fn set_own_name(name: &CStr) {
    // SAFETY: takes numbers, and a name that ends with NUL.
    unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
}

/// Returns the time of the monotonic clock, which the host shares, in nanoseconds.
pub fn monotonic() -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: fills the structure, which is valid as zeros too.
    let time = unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC, time.as_mut_ptr());
        time.assume_init()
    };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_blanks_does_not_shift_the_fields() {
        let line = b"7 (a) b (c)) S 1 2 3 0 -1 4194308 0 0 0 0 0 0 0 0 20 0 5 0 99 0";
        let expected = Stat {
            pid: 7,
            parent: 1,
            group: 2,
            terminal: false,
            state: b'S',
            exiting: true,
            threads: 5,
            started: 99,
        };
        assert_eq!(parse_stat(7, line), Some(expected));
    }

    #[test]
    fn this_process_is_seen_alive_with_its_children() {
        let own = std::process::id() as i32;
        assert!(shows_own_pids() && stat(own).is_some_and(|own| own.is_alive()));
        assert!(stat(own).is_some_and(|own| (1..=ticks()).contains(&own.started)));
        let mut child = std::process::Command::new("sleep").arg("10").spawn().unwrap();
        let seen = children(own, 2);
        assert!(seen.is_none_or(|seen| seen.contains(&(child.id() as i32))));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
