//! What commands have of the thread that asks for them, as it is when they are launched.

use std::fs::File;
use std::io;
use std::sync::OnceLock;

use forkline_launch::{Attributes, Limit, limits, processors};
use rustix::io::Errno;

use crate::keeper::status::{number_in, read};

/// By so much commands that come after their host are nicer: they get a tenth of its share.
const BEHIND: i32 = 10;

/// The nicest there is.
const NICEST: i32 = 19;

/// The host's limits; of one of its threads umask, niceness, processors and bounding set. The error: the
/// thread is gone, and what it was denied can't be told.
///
/// `behind`: a command comes after its host at the processor.
pub fn of_thread(thread: i32, behind: bool) -> io::Result<Attributes> {
    // SAFETY: takes numbers. The call itself counts from 40 down to 1, so that errors can be told.
    let priority = unsafe { libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, thread) };
    let nice = (priority > 0).then_some(20 - priority as i32);
    let nicer = |nice: i32| if behind { NICEST.min(nice + BEHIND) } else { nice };
    let session_nice = behind.then(|| nicer(own_session_nice()));
    let status = status_of(thread)?;
    let mask = number_in(&status, "Umask:", 8).map(|mask| mask as u32);
    let bounding = number_in(&status, "CapBnd:", 16);
    Ok(Attributes {
        limits: limits(),
        mask,
        nice: if behind { Some(nicer(nice.unwrap_or(0))) } else { nice },
        session_nice,
        affinity: processors(thread),
        oom_score: None,
        bounding,
    })
}

/// A process that has taken so much processor time gets SIGXCPU; and SIGKILL if that does not end it.
pub fn limit_cpu(attributes: &mut Attributes, seconds: u64) {
    const LONGER: u64 = 2;
    let is_cpu = |limit: &&mut Limit| limit.resource == libc::RLIMIT_CPU as i32;
    let Some(limit) = attributes.limits.iter_mut().find(is_cpu) else { return };
    limit.soft = limit.soft.min(seconds);
    limit.hard = limit.hard.min(seconds + LONGER);
}

/// Where memory runs out for all, the kernel ends this command, or what it has started, before anybody
/// who has less.
pub fn sacrifice(attributes: &mut Attributes) {
    const MOST: i32 = 1000;
    attributes.oom_score = Some(MOST);
}

/// That of the host's session, as in `/autogroup-17 nice 0`.
fn own_session_nice() -> i32 {
    let told = std::fs::read_to_string("/proc/self/autogroup").unwrap_or_default();
    told.rsplit(' ').next().and_then(|nice| nice.trim().parse().ok()).unwrap_or(0)
}

/// The kernel has no call that tells the umask and changes nothing, which other threads would notice.
/// Empty: `/proc` shows nobody's.
fn status_of(thread: i32) -> io::Result<Vec<u8>> {
    static MAIN: OnceLock<Option<File>> = OnceLock::new();
    let main = MAIN.get_or_init(|| File::open("/proc/self/status").ok()).as_ref();
    let Some(main) = main else { return Ok(Vec::new()) };
    if thread == std::process::id() as i32 {
        return Ok(read(main, 4096));
    }
    let status = std::fs::read(format!("/proc/self/task/{thread}/status"));
    status.map_err(|_| Errno::SRCH.into())
}
