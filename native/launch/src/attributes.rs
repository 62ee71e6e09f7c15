//! Attributes of programs that differ from their caller's.

use std::ffi::c_int;

/// A set of signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signals(u64);

impl Signals {
    /// All signals.
    pub const ALL: Signals = Signals(u64::MAX);

    /// The signals of these numbers, which are from 1 to 64.
    pub const fn of<const N: usize>(numbers: [c_int; N]) -> Signals {
        let (mut bits, mut left) = (0, numbers.as_slice());
        while let [number, rest @ ..] = left {
            bits |= 1 << (*number - 1);
            left = rest;
        }
        Signals(bits)
    }

    /// The set as bits: signal number n is bit n - 1.
    pub(crate) fn bits(self) -> u64 {
        self.0
    }
}

/// Attributes that a program gets in place of its caller's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Limits of resources.
    pub limits: Vec<Limit>,
    /// The umask: permissions that new files do not get.
    pub mask: Option<u32>,
    /// The nice value.
    pub nice: Option<i32>,
    /// The nice value of the session, for kernels that distribute processors by session first
    /// (autogroup).
    pub session_nice: Option<i32>,
    /// The processors that the program may run on, as a mask; empty: the caller's.
    pub affinity: Vec<u8>,
    /// The `oom_score_adj` of the program and of all it starts: the process with the highest one is ended
    /// first when memory runs out.
    pub oom_score: Option<i32>,
    /// The bounding set: capabilities that a program can gain, as bits by number. The caller's
    /// capabilities outside the set are dropped; a program that can't drop one does not run.
    pub bounding: Option<u64>,
}

/// A resource limit, as setrlimit(2) takes it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The resource's number.
    pub resource: c_int,
    /// The limit in force.
    pub soft: u64,
    /// The most that the limit in force may be raised to.
    pub hard: u64,
}

/// Returns the calling process's limits.
pub fn limits() -> Vec<Limit> {
    /// The number of resources; the kernel numbers them from 0.
    const RESOURCES: c_int = 16;
    let limit = |resource: c_int| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: fills the structure.
        let result = unsafe { libc::getrlimit(resource as _, &mut limit) };
        (result == 0).then_some(Limit { resource, soft: limit.rlim_cur, hard: limit.rlim_max })
    };
    let mut limits = Vec::with_capacity(RESOURCES as usize);
    limits.extend((0..RESOURCES).filter_map(limit));
    limits
}

/// Returns the processors that a thread may run on, as a mask; 0: the calling thread. Empty: not known.
pub fn processors(thread: c_int) -> Vec<u8> {
    let mut mask = vec![0; 128];
    // SAFETY: fills at most as many bytes as it is told that the buffer has.
    let length = unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, thread, mask.len(), mask.as_mut_ptr())
    };
    mask.truncate(usize::try_from(length).unwrap_or(0));
    mask
}

/// Returns the calling thread's bounding set of capabilities. Asks for each capability, which takes some
/// microseconds.
pub fn bounding_set() -> u64 {
    // SAFETY: takes numbers only.
    let is_in = |number: u64| unsafe { libc::prctl(libc::PR_CAPBSET_READ, number, 0, 0, 0) };
    let answers = (0..64).map(|number| (number, is_in(number)));
    let known = answers.take_while(|(_, answer)| *answer >= 0);
    known.filter(|(_, answer)| *answer == 1).fold(0, |set, (number, _)| set | 1 << number)
}
