//! What others can change of a process that is theirs: its limits, its share of the processors and of the
//! disk, how soon it is ended where memory runs out. A command can do that to its own parent, and whatever
//! runs there next would have it.

use std::fs::File;
use std::os::unix::fs::FileExt;

use forkline_launch::{Attributes, Limit, bounding_set, limits, processors};

/// How a process is, for it to be compared later.
#[derive(Debug, Clone)]
pub struct Condition {
    /// What its children get unless they are told otherwise.
    pub own: Attributes,
    scheduling: [u64; 4],
    disk: libc::c_long,
    /// Its `oom_score_adj`; None: not shown.
    score: Option<Vec<u8>>,
}

/// Where the calling process finds its own score: kept open, since a path costs more than what is in it,
/// and a process without descriptors could not look.
pub struct Score(Option<File>);

impl Score {
    /// The calling process's.
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
    /// The calling process's.
    pub fn now() -> Condition {
        // SAFETY: takes numbers; there is one thread, so nobody makes a file in between.
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

    /// What of the calling process is no longer so, in words: a few microseconds.
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

/// Policy, flags, priority and clamps. (Its nice value is known, and what else there is the kernel changes
/// by itself.)
fn scheduling() -> [u64; 4] {
    // As the kernel lays it out: size and policy, flags, nice value and priority, three times, clamps.
    let mut told = [0u64; 7];
    let size = size_of_val(&told);
    // SAFETY: fills at most as much as it is told there is room for; any bytes are numbers.
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
mod tests {
    use super::*;

    #[test]
    fn a_process_is_as_it_was_until_a_limit_of_its_is_another() {
        let (mut condition, score) = (Condition::now(), Score::open());
        assert_eq!(condition.first_change(&score), None);
        let files = |limit: &&mut Limit| limit.resource == libc::RLIMIT_NOFILE as i32;
        condition.own.limits.iter_mut().find(files).unwrap().soft += 1;
        assert_eq!(condition.first_change(&score), Some("its limit RLIMIT_NOFILE".to_owned()));
    }

    type Alteration = fn(&mut Condition);

    #[test]
    fn whatever_others_have_changed_of_a_process_is_named() {
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
            // Where no score is shown, none can be another.
            let is_shown = what != "its oom_score_adj" || score.read().is_some();
            assert_eq!(condition.first_change(&score), is_shown.then(|| what.to_owned()));
        }
    }
}
