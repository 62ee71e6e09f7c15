//! Properties that other processes of the same user can change: limits, shares of processors and disk,
//! and how early the process is ended when memory runs out. A command can change them for its own parent,
//! and the next command there would inherit them.

use std::fs::File;
use std::os::unix::fs::FileExt;

use forkline_launch::{Attributes, Limit, bounding_set, limits, processors};

/// The condition of a process, to be compared later.
#[derive(Debug, Clone)]
pub struct Condition {
    /// The attributes that its children inherit.
    pub own: Attributes,
    scheduling: [u64; 4],
    disk: libc::c_long,
    /// The `oom_score_adj`; None: not shown.
    score: Option<Vec<u8>>,
}

/// The file with the calling process's `oom_score_adj`. It is kept open, since opening costs more than
/// reading, and a process that has reached its limit of descriptors could not open it.
pub struct Score(Option<File>);

impl Score {
    /// Opens the file.
    pub fn open() -> Score {
        Score(File::open("/proc/self/oom_score_adj").ok())
    }

    fn read(&self) -> Option<Vec<u8>> {
        let mut text = [0; 16];
        let length = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        text.get(..length).map(<[u8]>::to_vec)
    }
}

impl Condition {
    /// Returns the calling process's condition.
    pub fn now() -> Condition {
        // SAFETY: takes numbers; there is one thread, so no file is made in between.
        let mask = unsafe {
            let mask = libc::umask(0o077);
            libc::umask(mask);
            mask
        };
        Condition {
            own: Attributes {
                limits: limits(),
                mask: Some(mask),
                nice: Some(nice()),
                session_nice: None,
                affinity: processors(0),
                oom_score: None,
                bounding: Some(bounding_set()),
            },
            scheduling: scheduling(),
            disk: disk(),
            score: Score::open().read(),
        }
    }

    /// Returns the first property of the calling process that has changed, in words. Takes a few
    /// microseconds.
    pub fn first_change(&self, score: &Score) -> Option<String> {
        let now = limits();
        if let Some(limit) = self.own.limits.iter().find(|limit| !now.contains(limit)) {
            return Some(format!("its limit {}", name(limit)));
        }
        let score = score.read();
        let others = [
            (self.own.nice != Some(nice()), "its nice value"),
            (self.own.affinity != processors(0), "its processors"),
            (self.scheduling != scheduling(), "its scheduling policy"),
            (self.disk != disk(), "its priority at the disk"),
            (score.is_some() && self.score.is_some() && score != self.score, "its oom_score_adj"),
        ];
        others.into_iter().find(|(is_changed, _)| *is_changed).map(|(_, what)| what.to_owned())
    }
}

fn name(limit: &Limit) -> String {
    const NAMES: [&str; 16] = [
        "CPU",
        "FSIZE",
        "DATA",
        "STACK",
        "CORE",
        "RSS",
        "NPROC",
        "NOFILE",
        "MEMLOCK",
        "AS",
        "LOCKS",
        "SIGPENDING",
        "MSGQUEUE",
        "NICE",
        "RTPRIO",
        "RTTIME",
    ];
    let name = usize::try_from(limit.resource).ok().and_then(|number| NAMES.get(number));
    name.map_or_else(|| limit.resource.to_string(), |name| format!("RLIMIT_{name}"))
}

fn nice() -> i32 {
    // SAFETY: takes numbers; a priority of -1 can't be told from an error, of which there is none.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}

/// Returns policy, flags, priority and clamps. (The nice value is compared elsewhere, and the kernel
/// changes the other fields by itself.)
fn scheduling() -> [u64; 4] {
    // The kernel's layout: size and policy, flags, nice value and priority, three more numbers, clamps.
    let mut told = [0u64; 7];
    let size = size_of_val(&told);
    // SAFETY: fills at most as many bytes as it is told; any bytes are numbers.
    unsafe { libc::syscall(libc::SYS_sched_getattr, 0, told.as_mut_ptr(), size, 0) };
    let [size_and_policy, flags, nice_and_priority, _, _, _, clamps] = told;
    [size_and_policy, flags, nice_and_priority, clamps]
}

fn disk() -> libc::c_long {
    const IOPRIO_WHO_PROCESS: libc::c_int = 1;
    // SAFETY: takes numbers only.
    unsafe { libc::syscall(libc::SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0) }
}

#[cfg(test)]
pub mod tests {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::*;

    /// Held by each test that reads or sets limits of this process, which all tests share.
    pub fn limits_to_itself() -> MutexGuard<'static, ()> {
        static LIMITS: Mutex<()> = Mutex::new(());
        LIMITS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[test]
    fn a_condition_is_unchanged_until_a_limit_changes() {
        let _limits = limits_to_itself();
        let (mut condition, score) = (Condition::now(), Score::open());
        assert_eq!(condition.first_change(&score), None);
        let files = |limit: &&mut Limit| limit.resource == libc::RLIMIT_NOFILE as i32;
        condition.own.limits.iter_mut().find(files).unwrap().soft += 1;
        assert_eq!(condition.first_change(&score), Some("its limit RLIMIT_NOFILE".to_owned()));
    }

    type Alteration = fn(&mut Condition);

    #[test]
    fn each_change_of_a_condition_is_named() {
        let _limits = limits_to_itself();
        let score = Score::open();
        let changes: [(Alteration, &str); 5] = [
            (|condition| condition.own.nice = Some(nice() + 1), "its nice value"),
            (|condition| condition.own.affinity.push(0), "its processors"),
            (|condition| condition.scheduling[0] ^= 1, "its scheduling policy"),
            (|condition| condition.disk ^= 1, "its priority at the disk"),
            (|condition| condition.score = Some(b"another\n".to_vec()), "its oom_score_adj"),
        ];
        for (change, what) in changes {
            let mut condition = Condition::now();
            change(&mut condition);
            // A score that is not shown can't have changed.
            let is_shown = what != "its oom_score_adj" || score.read().is_some();
            assert_eq!(condition.first_change(&score), is_shown.then(|| what.to_owned()));
        }
    }
}
