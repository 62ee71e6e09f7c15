//! The `oom_score_adj` of a command in a sandbox, by which it is ended first when memory runs out. The
//! command can't set it: until its exec it shares memory that root owns.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::time::Duration;

use crate::members::Members;
use crate::wait::{self, Family};

/// Returns the errno if no command could be marked here. Landlock may forbid to write to `/proc` at all.
pub fn check(score: Option<i32>) -> Result<(), i32> {
    // The second file can be opened whatever user owns it.
    const OWN: [&str; 2] = ["/proc/self/oom_score_adj", "/proc/self/timerslack_ns"];
    if score.is_none() {
        return Ok(());
    }
    let open = |path: &str| OpenOptions::new().write(true).open(path).map(drop);
    let opened = open(OWN[0]).or_else(|_| open(OWN[1]));
    opened.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
}

/// Marks a command that has just been launched, and the processes that it may have started meanwhile.
///
/// `errno`: the result of the command's own attempt; 0: it is marked. `Err`: it can't be marked, and no
/// member of it is left.
pub fn mark(leader: i32, errno: i32, score: Option<i32>) -> Result<(), i32> {
    let (Some(score), true) = (score, errno != 0) else { return Ok(()) };
    let marked = set(leader, score).and_then(|()| mark_others(leader, score));
    let Err(error) = marked else { return Ok(()) };
    give_up(leader);
    Err(error.raw_os_error().unwrap_or(errno))
}

/// Marks the processes that were started before their parent was marked. Later ones inherit their
/// parent's mark.
fn mark_others(leader: i32, score: i32) -> io::Result<()> {
    const LOOKS: usize = 2;
    let members = Members::new(leader);
    for _ in 0..LOOKS {
        for member in members.all().iter().filter(|member| member.pid != leader) {
            match set(member.pid, score) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

fn set(pid: i32, score: i32) -> io::Result<()> {
    let mut file = open(pid)?;
    match file.write_all(score.to_string().as_bytes()) {
        // The process has ended already.
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        written => written,
    }
}

/// Opens the file. An exec returns to its waiting parent before the new memory belongs to the program's
/// user.
fn open(pid: i32) -> io::Result<File> {
    const SHORTEST: Duration = Duration::from_micros(100);
    // In total 0.4 seconds.
    const MOST_WAITS: u32 = 12;
    let path = format!("/proc/{pid}/oom_score_adj");
    for wait in 0..MOST_WAITS {
        match OpenOptions::new().write(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                std::thread::sleep(SHORTEST * (1 << wait));
            }
            opened => return opened,
        }
    }
    OpenOptions::new().write(true).open(&path)
}

/// Kills all members. Returns when they have been reaped.
fn give_up(leader: i32) {
    const SOON: Duration = Duration::from_millis(1);
    let members = Members::new(leader);
    loop {
        match wait::reap() {
            Family::Empty => return,
            Family::Change(_) => {}
            Family::Lives => {
                members.all().iter().for_each(|member| member.signal(libc::SIGKILL));
                std::thread::sleep(SOON);
            }
        }
    }
}
