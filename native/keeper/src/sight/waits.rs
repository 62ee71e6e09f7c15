//! The descriptors that a sleeping process waits to read from.

use std::fs;

use super::calls::{Activity, SystemCall};
use super::{descriptors, memory};

/// The most descriptors of one call that are looked at.
const MOST: usize = 64;

/// What a process waits for.
#[derive(Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Keys of a terminal.
    Terminal,
    /// Data on its stdin, which is this pipe or socket.
    Stdin(Vec<u8>),
}

/// Returns the input that a process which does this waits for. None: none, or it is not shown, or it may as well wait for
/// something else, such as the network.
pub fn awaited(pid: i32, activities: &[Activity]) -> Option<Awaited> {
    activities.iter().find_map(|activity| match activity {
        Activity::Runs => None,
        Activity::Sleeps(call) => awaited_in(pid, call),
    })
}

fn awaited_in(pid: i32, call: &SystemCall) -> Option<Awaited> {
    let (numbers, is_read) = reads(pid, call)?;
    let targets: Vec<(i32, Vec<u8>)> = numbers
        .into_iter()
        .filter_map(|number| Some((number, descriptors::target(pid, number)?)))
        .collect();
    // A program that waits for a socket too may wait for that alone.
    let has_other = targets.iter().any(|(number, target)| {
        *number != 0 && target.starts_with(b"socket:") || target.starts_with(b"pidfd")
    });
    if has_other && !is_read {
        return None;
    }
    if targets.iter().any(|(_, target)| is_terminal(target)) {
        return Some(Awaited::Terminal);
    }
    let (_, target) = targets.into_iter().find(|(number, _)| *number == 0)?;
    (target.starts_with(b"pipe:") || target.starts_with(b"socket:"))
        .then_some(Awaited::Stdin(target))
}

fn is_terminal(target: &[u8]) -> bool {
    let is_numbered = target
        .strip_prefix(b"/dev/pts/")
        .is_some_and(|rest| !rest.is_empty() && rest.iter().all(u8::is_ascii_digit));
    is_numbered || target.starts_with(b"/dev/tty") || target == b"/dev/console"
}

/// Returns the descriptors that a call waits to read from, and whether it is a read. None: it waits for
/// something else.
fn reads(pid: i32, call: &SystemCall) -> Option<(Vec<i32>, bool)> {
    let [first, second, _] = call.arguments;
    let number = call.number;
    if number == libc::SYS_read || number == libc::SYS_readv {
        return Some((vec![first as i32], true));
    }
    if is_poll(number) {
        return Some((polled(pid, first, second), false));
    }
    if is_select(number) {
        return Some((selected(pid, first, second), false));
    }
    is_epoll(number).then(|| (in_epoll(pid, first as i32), false))
}

fn is_poll(number: i64) -> bool {
    #[cfg(target_arch = "x86_64")]
    if number == libc::SYS_poll {
        return true;
    }
    number == libc::SYS_ppoll
}

fn is_select(number: i64) -> bool {
    #[cfg(target_arch = "x86_64")]
    if number == libc::SYS_select {
        return true;
    }
    number == libc::SYS_pselect6
}

fn is_epoll(number: i64) -> bool {
    #[cfg(target_arch = "x86_64")]
    if number == libc::SYS_epoll_wait {
        return true;
    }
    number == libc::SYS_epoll_pwait || number == libc::SYS_epoll_pwait2
}

/// The descriptors of an array of `struct pollfd`: the descriptor, and 16 bits of what is waited for.
fn polled(pid: i32, address: u64, count: u64) -> Vec<i32> {
    let mut bytes = vec![0; (count.min(MOST as u64) as usize) * 8];
    let read = memory::read(pid, address, &mut bytes).unwrap_or(0);
    let entries = bytes.get(..read).unwrap_or_default().chunks_exact(8);
    let in_entry = |entry: &[u8]| {
        let descriptor = i32::from_ne_bytes(entry.first_chunk().copied()?);
        let events = i16::from_ne_bytes(entry.get(4..)?.first_chunk().copied()?);
        (descriptor >= 0 && events & libc::POLLIN != 0).then_some(descriptor)
    };
    entries.filter_map(in_entry).collect()
}

/// The descriptors of a set of bits, of which the first `count` matter.
fn selected(pid: i32, count: u64, address: u64) -> Vec<i32> {
    if address == 0 {
        return Vec::new();
    }
    let mut bytes = vec![0; count.min(1024).div_ceil(64) as usize * 8];
    let read = memory::read(pid, address, &mut bytes).unwrap_or(0);
    let words = bytes.get(..read).unwrap_or_default().chunks_exact(8);
    let words = words.filter_map(|word| Some(u64::from_ne_bytes(*word.first_chunk()?)));
    let bits = words.enumerate().flat_map(|(index, word)| {
        (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| index as i32 * 64 + bit)
    });
    bits.filter(|bit| (*bit as u64) < count).take(MOST).collect()
}

/// The descriptors that an epoll waits for, as its own lines tell.
fn in_epoll(pid: i32, epoll: i32) -> Vec<i32> {
    let told = fs::read_to_string(format!("/proc/{pid}/fdinfo/{epoll}")).unwrap_or_default();
    let in_line = |line: &str| {
        let mut words = line.strip_prefix("tfd:")?.split_ascii_whitespace();
        let descriptor = words.next()?.parse().ok()?;
        let events = words.find_map(|word| i64::from_str_radix(word, 16).ok())?;
        (events & i64::from(libc::EPOLLIN) != 0).then_some(descriptor)
    };
    told.lines().filter_map(in_line).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sight::calls::activities;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    /// What a program waits for, once it does. None: not within the time, or not shown here.
    fn awaited_by(program: &str) -> Option<Awaited> {
        let mut command = Command::new("python3");
        command.args(["-c", program]).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child: Child = command.spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        let mut found = None;
        let pid = child.id() as i32;
        while found.is_none() && Instant::now() < until {
            found = activities(pid).and_then(|does| awaited(pid, &does));
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        found
    }

    #[test]
    fn a_wait_for_stdin_is_seen_in_whatever_call() {
        let programs = [
            "import sys; sys.stdin.read()",
            "import select; select.select([0], [], [], 60)",
            "import select; p = select.poll(); p.register(0, 1); p.poll(60000)",
            "import select; p = select.epoll(); p.register(0, 1); p.poll(60)",
        ];
        if activities(std::process::id() as i32).is_none() {
            return;
        }
        for program in programs {
            assert!(matches!(awaited_by(program), Some(Awaited::Stdin(_))), "{program}");
        }
    }

    #[test]
    fn a_terminal_is_known_by_its_name() {
        for name in [&b"/dev/pts/12"[..], b"/dev/tty", b"/dev/tty1", b"/dev/console"] {
            assert!(is_terminal(name));
        }
        for name in [&b"/dev/pts/ptmx"[..], b"/dev/null", b"/dev/pts/"] {
            assert!(!is_terminal(name));
        }
    }
}
