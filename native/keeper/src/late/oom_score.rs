//! A command that is to be ended before anybody else where memory runs out, but could not say so itself:
//! in a sandbox it shares, until its exec, a memory whose owner is root.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::time::Duration;

use crate::members::Members;
use crate::wait::{self, Family};

/// That a command could be marked here; else the errno. Landlock may forbid to write to `/proc` at all.
pub fn check(score: Option<i32>) -> Result<(), i32> {
    // Anybody may open the second one, whoever its owner is.
    const OWN: [&str; 2] = ["/proc/self/oom_score_adj", "/proc/self/timerslack_ns"];
    if score.is_none() {
        return Ok(());
    }
    let open = |path: &str| OpenOptions::new().write(true).open(path).map(drop);
    let opened = open(OWN[0]).or_else(|_| open(OWN[1]));
    opened.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
}

/// Marks a command that has just been launched, and whom it may have started meanwhile.
///
/// `errno`: why it has not done so itself; 0: it has. `Err`: it can't be had, and nobody of it is left.
pub fn mark(leader: i32, errno: i32, score: Option<i32>) -> Result<(), i32> {
    let (Some(score), true) = (score, errno != 0) else { return Ok(()) };
    let marked = set(leader, score).and_then(|()| mark_others(leader, score));
    let Err(error) = marked else { return Ok(()) };
    give_up(leader);
    Err(error.raw_os_error().unwrap_or(errno))
}

/// Those started before their parent was marked. Whoever is started afterwards has its parent's.
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
        // It has ended already.
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(()),
        written => written,
    }
}

/// An exec wakes who waits for it before the new memory belongs to the program's user.
fn open(pid: i32) -> io::Result<File> {
    const SHORTEST: Duration = Duration::from_micros(100);
    // 0.4 s in all.
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

/// Returns when they have been reaped.
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
