//! What commands have of the host, as it is when they are asked for.

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use forkline_launch::{Attributes, Limit};

/// Resources with a limit; the kernel numbers them from 0.
const LIMITS: i32 = 16;

/// The host's limits and umask, and its main thread's niceness and processors.
pub fn of_host() -> Attributes {
    let host = std::process::id() as i32;
    let mut affinity = vec![0; 128];
    // SAFETY: fills as much of the buffer as it says.
    let length = unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, host, affinity.len(), affinity.as_mut_ptr())
    };
    affinity.truncate(usize::try_from(length).unwrap_or(0));
    // SAFETY: takes numbers; a priority of -1 can't be told from an error, of which there is none.
    let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, host as libc::id_t) };
    Attributes { limits: limits(), mask: mask(), nice: Some(nice), affinity }
}

fn limits() -> Vec<Limit> {
    let limit = |resource: i32| {
        let mut limit = MaybeUninit::<libc::rlimit>::zeroed();
        // SAFETY: fills the structure, which is valid as zeros too.
        let (result, limit) =
            unsafe { (libc::getrlimit(resource as _, limit.as_mut_ptr()), limit.assume_init()) };
        (result == 0).then_some(Limit { resource, soft: limit.rlim_cur, hard: limit.rlim_max })
    };
    (0..LIMITS).filter_map(limit).collect()
}

/// The kernel has no call that tells it and changes nothing, which other threads would notice.
fn mask() -> Option<u32> {
    static STATUS: OnceLock<Option<File>> = OnceLock::new();
    let file = STATUS.get_or_init(|| File::open("/proc/self/status").ok()).as_ref()?;
    let mut start = [0; 256];
    let length = file.read_at(&mut start, 0).ok()?;
    let text = String::from_utf8_lossy(start.get(..length)?);
    let line = text.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
}
