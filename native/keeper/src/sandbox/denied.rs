//! Sockets that a filter denies: whoever asks for one waits until it has been told here.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use crate::proc;

/// Where the kernel tells of them.
pub struct Denied {
    listener: OwnedFd,
}

/// As the kernel has it.
#[repr(C)]
struct Notice {
    id: u64,
    pid: u32,
    flags: u32,
    number: i32,
    architecture: u32,
    instruction: u64,
    arguments: [u64; 6],
}

#[repr(C)]
struct Reply {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
/// Descents are shorter than this, or somebody makes one meanwhile.
const LONGEST_DESCENT: usize = 1000;

impl Denied {
    pub fn new(listener: OwnedFd) -> Denied {
        Denied { listener }
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Takes the next one. `tell` is told who asked and for which family, before that one goes on.
    pub fn take(&self, tell: impl FnOnce(i32, u32)) {
        let listener = self.listener.as_raw_fd();
        // SAFETY: valid as zeros, as the kernel wants it.
        let mut notice: Notice = unsafe { MaybeUninit::zeroed().assume_init() };
        // SAFETY: fills the structure, whose size is in the number.
        if unsafe { libc::ioctl(listener, RECEIVE as _, &raw mut notice) } != 0 {
            return;
        }
        let [family, ..] = notice.arguments;
        tell(notice.pid as i32, family as u32);
        let reply = Reply { id: notice.id, value: 0, error: -libc::EAFNOSUPPORT, flags: 0 };
        // SAFETY: reads the structure. Who is gone needs no answer.
        unsafe { libc::ioctl(listener, SEND as _, &raw const reply) };
    }
}

/// Of these the one that a process descends from.
pub fn ancestor_among(pid: i32, mut is_one: impl FnMut(i32) -> bool) -> Option<i32> {
    let parent = |pid: &i32| proc::stat(*pid).map(|stat| stat.parent).filter(|pid| *pid > 1);
    std::iter::successors(Some(pid), parent).take(LONGEST_DESCENT).find(|pid| is_one(*pid))
}
