//! Waits for locks of files, and what holds these locks.

use std::fs;
use std::io::Read;
use std::time::Instant;

use super::calls::Activity;
use super::descriptors;

/// The most bytes of the kernel's table of locks that are looked at.
const MOST_BYTES: u64 = 1024 * 1024;

/// A wait for a lock.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LockWait {
    /// The file; empty: not shown.
    pub path: Vec<u8>,
    /// The process that holds the lock. None: not shown, as in another container.
    pub holder: Option<i32>,
}

/// Returns the lock that a process which does this waits for. `until`: when to stop looking for what holds it.
pub fn awaited(pid: i32, activities: &[Activity], until: Instant) -> Option<LockWait> {
    let descriptor = activities.iter().find_map(|activity| match activity {
        Activity::Sleeps(call) if call.number == libc::SYS_flock || sets_lock(call) => {
            Some(call.arguments[0] as i32)
        }
        _ => None,
    })?;
    let path = descriptors::target(pid, descriptor).unwrap_or_default();
    let table = table();
    let holder = holder_in(&table, pid).filter(|holder| is_there(*holder));
    let holder = holder.or_else(|| holder_of(&path, &waiting_in(&table), until));
    Some(LockWait { path, holder })
}

fn sets_lock(call: &super::calls::SystemCall) -> bool {
    let command = call.arguments[1] as i32;
    call.number == libc::SYS_fcntl && [libc::F_SETLKW, libc::F_OFD_SETLKW].contains(&command)
}

fn table() -> String {
    let mut text = String::new();
    if let Ok(file) = fs::File::open("/proc/locks") {
        // What is not read is not known.
        let _ = file.take(MOST_BYTES).read_to_string(&mut text);
    }
    text
}

/// The entries of the table: number, whether it waits, process.
fn entries(table: &str) -> impl Iterator<Item = (&str, bool, i32)> {
    table.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace().peekable();
        let number = words.next()?;
        let waits = words.next_if_eq(&"->").is_some();
        // The kind, whether it is obeyed, and for what.
        Some((number, waits, words.nth(3)?.parse().ok()?))
    })
}

/// Returns the process that holds the lock that another one waits for.
fn holder_in(table: &str, waiting: i32) -> Option<i32> {
    let (number, ..) = entries(table).find(|(_, waits, pid)| *waits && *pid == waiting)?;
    let (.., holder) = entries(table).find(|(other, waits, _)| *other == number && !waits)?;
    (holder > 0).then_some(holder)
}

fn waiting_in(table: &str) -> Vec<i32> {
    entries(table).filter(|(_, waits, _)| *waits).map(|(.., pid)| pid).collect()
}

fn is_there(pid: i32) -> bool {
    crate::proc::stat(pid).is_some_and(|stat| stat.is_alive())
}

/// Returns a process that holds a lock of a file by a descriptor that it was handed: the table names the one
/// that took the lock, as `flock 9` of a shell does, and which may have ended since.
fn holder_of(path: &[u8], waiting: &[i32], until: Instant) -> Option<i32> {
    if !path.starts_with(b"/") {
        return None;
    }
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let mut others =
        pids.filter(|pid| !waiting.contains(pid)).take_while(|_| Instant::now() < until);
    others.find(|pid| {
        let open = descriptors::all(*pid).unwrap_or_default();
        let mut same = open.iter().filter(|(_, target)| target == path);
        same.any(|(number, _)| has_lock(*pid, *number))
    })
}

fn has_lock(pid: i32, descriptor: i32) -> bool {
    let told = fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).unwrap_or_default();
    told.lines().any(|line| line.starts_with("lock:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
1: FLOCK  ADVISORY  WRITE 500 08:02:77 0 EOF
1: -> FLOCK  ADVISORY  WRITE 600 08:02:77 0 EOF
2: POSIX  ADVISORY  WRITE 700 08:02:78 0 EOF
2: -> POSIX  ADVISORY  READ 800 08:02:78 0 0
3: OFDLCK ADVISORY  WRITE -1 08:02:79 0 EOF
3: -> OFDLCK ADVISORY  WRITE 900 08:02:79 0 EOF
broken
";

    #[test]
    fn the_holder_is_that_of_the_lock_that_is_waited_for() {
        assert_eq!(holder_in(TABLE, 600), Some(500));
        assert_eq!(holder_in(TABLE, 800), Some(700));
        // A lock of an open file has no process.
        assert_eq!(holder_in(TABLE, 900), None);
        assert_eq!(holder_in(TABLE, 500), None);
        assert_eq!(waiting_in(TABLE), [600, 800, 900]);
    }
}
