//! What commands have of the thread that asks for them, as it is when they are launched.

use std::fs::File;
use std::io;
use std::sync::OnceLock;

use forkline_launch::{Attributes, Limit, limits, processors};
use rustix::io::Errno;

use crate::command::Priority;
use crate::keeper::status::{EXPECTED_STATUS, number_in, read};

/// By so much commands that come after their host are nicer: they get a tenth of its share.
const LOW_PRIORITY_NICE: i32 = 10;

/// The nicest there is.
const NICEST: i32 = 19;

/// The host's limits; of one of its threads umask, niceness, processors and bounding set. The error: the
/// thread is gone, and what it was denied can't be told.
///
/// `priority`: that of the command.
pub fn of_thread(thread: i32, priority: Priority) -> io::Result<Attributes> {
    let nice = nice_of(thread);
    let status = status_of(thread)?;
    let mask = number_in(&status, "Umask:", 8).map(|mask| mask as u32);
    let bounding = number_in(&status, "CapBnd:", 16);
    let mut attributes = Attributes {
        limits: limits(),
        mask,
        nice,
        session_nice: None,
        affinity: processors(thread),
        oom_score: None,
        bounding,
    };
    if priority == Priority::Low {
        lower(&mut attributes);
    }
    Ok(attributes)
}

/// Gives a command a tenth of its host's share of the processors, where both want them.
pub fn lower(attributes: &mut Attributes) {
    let nicer = |nice: i32| NICEST.min(nice + LOW_PRIORITY_NICE);
    attributes.nice = Some(nicer(attributes.nice.unwrap_or(0)));
    attributes.session_nice = Some(nicer(own_session_nice()));
}

/// The nice value of a thread, 0 for the calling one; None: the thread is gone.
fn nice_of(thread: i32) -> Option<i32> {
    // SAFETY: takes numbers only. The call itself counts from 40 down to 1, so that errors can be told.
    let priority = unsafe { libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, thread) };
    (priority > 0).then_some(20 - priority as i32)
}

/// The nice value of the calling thread.
pub fn own_nice() -> Option<i32> {
    nice_of(0)
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
pub fn prefer_as_oom_victim(attributes: &mut Attributes) {
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
        return Ok(read(main, EXPECTED_STATUS));
    }
    let status = std::fs::read(format!("/proc/self/task/{thread}/status"));
    status.map_err(|_| Errno::SRCH.into())
}
