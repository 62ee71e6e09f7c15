//! The processes that a process descends from, up to the one that forkline has started.

use std::os::unix::ffi::OsStringExt;

use crate::cradle::roster;
use crate::outside;
use crate::sandbox::warden::caller::link_of;
use crate::sandbox::warden::exec::program::catalogue::last_name;

/// The most ancestors that are named.
const MOST: usize = 32;
const SHELLS: [&[u8]; 9] =
    [b"sh", b"bash", b"dash", b"ash", b"zsh", b"ksh", b"mksh", b"fish", b"busybox"];

/// A process and those that it descends from, the nearest first, without the cradle.
#[derive(Default)]
pub struct Ancestry {
    pids: Vec<i32>,
    /// The cradle of its command. None: it is of none.
    pub cradle: Option<i32>,
}

impl Ancestry {
    /// `keeper`: the parent of all cradles. All ids are the host's.
    pub fn of(pid: i32, keeper: i32) -> Ancestry {
        let mut pids = outside::descent(pid, keeper).unwrap_or_default();
        let cradle = pids.pop_if(|pid| roster::is_cradle(*pid));
        Ancestry { pids, cradle }
    }

    /// Returns the parent of the process. None: it is not known, or is no cradle and above all.
    pub fn parent(&self) -> Option<i32> {
        self.pids.get(1).copied().or(self.cradle)
    }

    /// Returns the name of the program that is at work: the nearest that is no shell; empty if there is none.
    /// `skipped`: how many processes are passed over.
    pub fn worker(&self, skipped: usize) -> Vec<u8> {
        let programs = self.pids.iter().skip(skipped).take(MOST).map(|pid| program(*pid));
        let mut names = programs.map(|program| last_name(&program).to_owned());
        names.find(|name| !SHELLS.contains(&&**name)).unwrap_or_default()
    }

    /// Returns the ids and the paths of the programs.
    pub fn programs(&self) -> Vec<(i32, Vec<u8>)> {
        self.pids.iter().take(MOST).map(|pid| (*pid, program(*pid))).collect()
    }
}

/// The working directory is the host's `/proc`.
fn program(pid: i32) -> Vec<u8> {
    link_of(&format!("{pid}/exe")).unwrap_or_default().into_os_string().into_vec()
}
