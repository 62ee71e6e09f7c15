//! The system calls that the threads of a process sleep in.

use std::fs;

/// The most threads of one process that are looked at.
const MOST_THREADS: usize = 64;

/// A system call that a thread sleeps in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemCall {
    pub thread: i32,
    pub number: i64,
    /// The first three arguments.
    pub arguments: [u64; 3],
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    /// The thread runs, or waits for a processor.
    Runs,
    /// The thread sleeps in this call.
    Sleeps(SystemCall),
}

/// Returns what the threads of a process do, the first thread first. None: not shown; the kernel shows it to
/// the process's own user at most.
pub fn activities(pid: i32) -> Option<Vec<Activity>> {
    let first = activity(pid, pid)?;
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten().take(MOST_THREADS);
    let threads = threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok());
    let others = threads.filter(|thread| *thread != pid).filter_map(|thread| activity(pid, thread));
    Some(std::iter::once(first).chain(others).collect())
}

fn activity(pid: i32, thread: i32) -> Option<Activity> {
    let line = fs::read_to_string(format!("/proc/{pid}/task/{thread}/syscall")).ok()?;
    parse(thread, &line)
}

/// Parses a line such as `0 0x0 0x7ffd1000 0x400 …`, or `running`.
fn parse(thread: i32, line: &str) -> Option<Activity> {
    let mut words = line.split_ascii_whitespace();
    let first = words.next()?;
    if first == "running" {
        return Some(Activity::Runs);
    }
    let number = first.parse().ok()?;
    let mut argument = || {
        let word = words.next()?;
        u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok()
    };
    // Outside a system call, as after a fault, two addresses follow a number of -1.
    let arguments = [argument()?, argument()?, argument().unwrap_or(0)];
    Some(Activity::Sleeps(SystemCall { thread, number, arguments }))
}

impl SystemCall {
    /// Returns whether a process that takes its input, or passes it on, sleeps in this call.
    pub fn is_for_data(&self) -> bool {
        DATA.contains(&self.number)
    }
}

/// Calls that wait for descriptors, or read or write them.
const DATA: &[i64] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_sendfile,
    libc::SYS_copy_file_range,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_io_uring_enter,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_select,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_parsed() {
        let call = SystemCall { thread: 7, number: 0, arguments: [3, 0x7ffd, 0x400] };
        assert_eq!(
            parse(7, "0 0x3 0x7ffd 0x400 0x0 0x0 0x0 0x1 0x2\n"),
            Some(Activity::Sleeps(call))
        );
        assert_eq!(parse(7, "running\n"), Some(Activity::Runs));
        assert_eq!(parse(7, "-1 0x7ffd 0x400\n").map(|_| ()), Some(()));
        assert_eq!(parse(7, ""), None);
    }

    #[test]
    fn a_sleeping_child_is_seen_in_its_call() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as i32;
        let mut seen = activities(pid);
        for _ in 0..200 {
            match &seen {
                Some(all) if !matches!(all.first(), Some(Activity::Sleeps(call)) if !call.is_for_data()) =>
                {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                    seen = activities(pid);
                }
                _ => break,
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // None: this kernel does not show it.
        let is_asleep = |all: Vec<Activity>| matches!(all.as_slice(), [Activity::Sleeps(call)] if !call.is_for_data());
        assert!(seen.is_none_or(is_asleep));
    }
}
