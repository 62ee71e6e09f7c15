//! The processes that a process descends from, up to the one that forkline has started.

use std::fs;
use std::os::unix::ffi::OsStringExt;

use crate::proc::LONGEST_DESCENT;
use crate::sandbox::warden::caller::link_of;
use crate::sandbox::warden::exec::program::catalogue::last_name;

/// The most ancestors that are named.
const MOST: usize = 32;
const SHELLS: [&[u8]; 9] =
    [b"sh", b"bash", b"dash", b"ash", b"zsh", b"ksh", b"mksh", b"fish", b"busybox"];

/// A process and its ancestors, the nearest first: ids, and the paths of their programs.
pub struct Ancestry(pub Vec<(i32, Vec<u8>)>);

impl Ancestry {
    /// `cradle`: the process above all of them.
    pub fn of(pid: i32, cradle: Option<i32>) -> Ancestry {
        let mut all = Vec::new();
        let mut next = Some(pid);
        for _ in 0..LONGEST_DESCENT {
            let Some(pid) = next.filter(|pid| *pid > 1 && Some(*pid) != cradle) else { break };
            let program = link_of(&format!("{pid}/exe")).unwrap_or_default();
            all.push((pid, program.into_os_string().into_vec()));
            if all.len() == MOST {
                break;
            }
            next = parent(pid);
        }
        Ancestry(all)
    }

    /// Returns the name of the program that is at work: the nearest that is no shell.
    pub fn worker(&self) -> &[u8] {
        let names = self.0.iter().map(|(_, program)| last_name(program));
        let mut workers = names.filter(|name| !SHELLS.contains(name));
        workers.next().unwrap_or_default()
    }
}

/// Returns the parent of a process. The working directory is the host's `/proc`.
pub fn parent(pid: i32) -> Option<i32> {
    crate::proc::parent_in(&fs::read(format!("{pid}/stat")).ok()?)
}

/// Returns the process that a thread belongs to.
pub fn leader(thread: i32) -> i32 {
    let status = fs::read_to_string(format!("{thread}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(thread)
}
