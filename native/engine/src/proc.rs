//! Processes as `/proc` shows them.

use std::fs;
use std::io;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use rustix::fs::Stat as Stat64;

/// A process at one moment. `(pid, started)` names it for ever; the pid alone may be reused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Its id.
    pub pid: i32,
    /// Its parent.
    pub parent: i32,
    /// Its process group.
    pub group: i32,
    /// Its session.
    pub session: i32,
    /// Whether it still runs: neither a zombie nor dead.
    pub alive: bool,
    /// Whether it has nothing left to do but to end; its arguments are gone already.
    pub exiting: bool,
    /// When it was started, in clock ticks since boot.
    pub started: u64,
}

/// The kernel's flag for it, in the ninth field.
const PF_EXITING: u64 = 0x4;

/// Now, in the unit of [`Stat::started`].
pub fn ticks_now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let per_second = rustix::param::clock_ticks_per_second();
    let nanoseconds = now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs();
    nanoseconds / (1_000_000_000 / per_second.max(1))
}

/// Every process there is. An error means that they can't be seen, not that there is none.
pub fn all() -> io::Result<Vec<Stat>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        if let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) {
            found.extend(stat(pid)?);
        }
    }
    Ok(found)
}

/// One process; None when it is gone.
pub fn stat(pid: i32) -> io::Result<Option<Stat>> {
    let path = format!("/proc/{pid}/stat");
    let file = open(path.as_str(), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    // One read, where `fs::read` needs five calls: hundreds are looked at, one after the other.
    // The kernel hands out the whole line at once; it is some 300 bytes long.
    let mut line = [0; 2048];
    match file.and_then(|file| rustix::io::read(file, &mut line)) {
        Ok(length) => Ok(line.get(..length).and_then(|line| parse_stat(pid, line))),
        // It ended before the open, or between the open and the read.
        Err(Errno::NOENT | Errno::SRCH) => Ok(None),
        // Out of descriptors or memory: it may well live.
        Err(error) => Err(error.into()),
    }
}

/// The second field is the name in parentheses, and may itself contain blanks and parentheses.
fn parse_stat(pid: i32, line: &[u8]) -> Option<Stat> {
    let name_end = memchr::memrchr(b')', line)?;
    let rest = std::str::from_utf8(line.get(name_end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    // From field 6 on, the flags are field 9, and the start time is field 22.
    let flags: u64 = fields.nth(2)?.parse().ok()?;
    let started = fields.nth(12)?.parse().ok()?;
    let exiting = flags & PF_EXITING != 0;
    let alive = !matches!(state, "Z" | "X" | "x");
    Some(Stat { pid, parent, group, session, alive, exiting, started })
}

/// The environment it was started with, NUL-separated; None when we may not read it.
pub fn environment(pid: i32) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{pid}/environ")).ok()
}

/// Where output goes: what is the same for all that hold it, and for nobody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlet {
    /// A pipe, by its inode.
    Pipe(u64),
    /// A terminal, by the file system it is in and its inode there: in another container there is
    /// another `/dev/pts/0`.
    Terminal(u64, u64),
}

impl Outlet {
    /// Of a terminal that is open.
    pub fn terminal(file: &Stat64) -> Outlet {
        Outlet::Terminal(file.st_dev, file.st_ino)
    }
}

/// The pipes and terminals it has as stdout and stderr.
pub fn outlets(pid: i32) -> impl Iterator<Item = Outlet> {
    [1, 2].into_iter().filter_map(move |descriptor| {
        let path = format!("/proc/{pid}/fd/{descriptor}");
        let target = fs::read_link(&path).ok()?;
        let target = target.to_str()?;
        if target.starts_with("/dev/pts/") {
            // Of nothing else: a file may be on a dead network.
            return Some(Outlet::terminal(&rustix::fs::stat(path).ok()?));
        }
        target.strip_prefix("pipe:[")?.strip_suffix(']')?.parse().ok().map(Outlet::Pipe)
    })
}

/// Its command line, at most 200 characters; its name when it has none.
pub fn command_line(pid: i32) -> String {
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = arguments.split(|byte| *byte == 0).filter(|argument| !argument.is_empty());
    let words: Vec<_> = line.map(String::from_utf8_lossy).collect();
    if words.is_empty() {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        return format!("[{}]", name.trim_end());
    }
    words.join(" ").chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_blanks_does_not_shift_the_fields() {
        let line = b"7 (a) b (c)) S 1 2 3 0 -1 4194308 0 0 0 0 0 0 0 0 20 0 1 0 99 0";
        let stat = parse_stat(7, line);
        let expected = Stat {
            pid: 7,
            parent: 1,
            group: 2,
            session: 3,
            alive: true,
            exiting: true,
            started: 99,
        };
        assert_eq!(stat, Some(expected));
    }

    #[test]
    fn this_process_is_seen_alive() {
        let own = stat(std::process::id() as i32).unwrap();
        assert!(own.is_some_and(|own| own.alive));
    }
}
