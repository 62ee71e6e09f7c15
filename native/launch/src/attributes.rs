//! What a program has of its own, and what it has of its caller.

use std::ffi::c_int;

/// Some signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signals(u64);

impl Signals {
    /// All there are.
    pub const ALL: Signals = Signals(u64::MAX);

    /// These. Their numbers are from 1 to 64.
    pub const fn of<const N: usize>(numbers: [c_int; N]) -> Signals {
        let (mut bits, mut left) = (0, numbers.as_slice());
        while let [number, rest @ ..] = left {
            bits |= 1 << (*number - 1);
            left = rest;
        }
        Signals(bits)
    }

    /// Number n is bit n - 1.
    pub(crate) fn bits(self) -> u64 {
        self.0
    }
}

/// What a program is given in place of its caller's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Limits of its resources.
    pub limits: Vec<Limit>,
    /// Permissions that new files do not get.
    pub mask: Option<u32>,
    /// Its nice value.
    pub nice: Option<i32>,
    /// The nice value of its session, where the kernel shares out processors by session first.
    pub session_nice: Option<i32>,
    /// The processors it may run on, as a mask; empty: the caller's.
    pub affinity: Vec<u8>,
    /// Its `oom_score_adj`, and that of all it starts: who has more is ended first when memory runs out.
    pub oom_score: Option<i32>,
    /// The capabilities that a program can give it at most, by number, as bits. Those of its caller that
    /// are not among them are taken from it, and it does not run if they can't be.
    pub bounding: Option<u64>,
}

/// A limit, as setrlimit(2) takes it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Of which resource.
    pub resource: c_int,
    /// In force.
    pub soft: u64,
    /// What it may be raised to.
    pub hard: u64,
}

/// The calling process's limits.
pub fn limits() -> Vec<Limit> {
    /// The kernel numbers resources from 0.
    const RESOURCES: c_int = 16;
    let limit = |resource: c_int| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: fills the structure.
        let result = unsafe { libc::getrlimit(resource as _, &mut limit) };
        (result == 0).then_some(Limit { resource, soft: limit.rlim_cur, hard: limit.rlim_max })
    };
    (0..RESOURCES).filter_map(limit).collect()
}

/// The processors that a thread may run on, as a mask; 0: the calling thread. Empty: not known.
pub fn processors(thread: c_int) -> Vec<u8> {
    let mut mask = vec![0; 128];
    // SAFETY: fills as much of the buffer as it says.
    let length = unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, thread, mask.len(), mask.as_mut_ptr())
    };
    mask.truncate(usize::try_from(length).unwrap_or(0));
    mask
}

/// The capabilities that a program can give the calling thread at most, asked for one by one: some
/// microseconds.
pub fn bounding_set() -> u64 {
    // SAFETY: takes numbers only.
    let is_in = |number: u64| unsafe { libc::prctl(libc::PR_CAPBSET_READ, number, 0, 0, 0) };
    let answers = (0..64).map(|number| (number, is_in(number)));
    let known = answers.take_while(|(_, answer)| *answer >= 0);
    known.filter(|(_, answer)| *answer == 1).fold(0, |set, (number, _)| set | 1 << number)
}
