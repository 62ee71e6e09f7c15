//! Attributes that commands inherit from the thread that requests them, read at their launch.

use std::fs::File;
use std::io;
use std::sync::OnceLock;

use forkline_launch::{Attributes, Limit, limits, processors};
use rustix::io::Errno;

use crate::command::Priority;
use crate::keeper::status::{EXPECTED_STATUS, number_in, read};

/// The niceness that a low-priority command has above its host's: it gets a tenth of the host's share.
const LOW_PRIORITY_NICE: i32 = 10;

/// The highest niceness.
const NICEST: i32 = 19;

/// Reads the host's limits, and umask, niceness, CPU affinity and bounding set of one of its threads. Fails
/// if the thread is gone, since its bounding set is then unknown.
///
/// `priority`: the priority of the command.
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

/// Limits CPU time: a process that reaches it gets SIGXCPU, and SIGKILL if that does not end it.
pub fn limit_cpu(attributes: &mut Attributes, seconds: u64) {
    const LONGER: u64 = 2;
    let is_cpu = |limit: &&mut Limit| limit.resource == libc::RLIMIT_CPU as i32;
    let Some(limit) = attributes.limits.iter_mut().find(is_cpu) else { return };
    limit.soft = limit.soft.min(seconds);
    limit.hard = limit.hard.min(seconds + LONGER);
}

/// Sets the score by which the kernel's OOM killer chooses this command, or processes it has started, before
/// any with a lower score.
pub fn prefer_as_oom_victim(attributes: &mut Attributes) {
    const MOST: i32 = 1000;
    attributes.oom_score = Some(MOST);
}

/// Returns the niceness of the host's session, read from a line such as `/autogroup-17 nice 0`.
fn own_session_nice() -> i32 {
    let told = std::fs::read_to_string("/proc/self/autogroup").unwrap_or_default();
    told.rsplit(' ').next().and_then(|nice| nice.trim().parse().ok()).unwrap_or(0)
}

/// Reads the status of a thread: the system call that returns the umask changes it too, which other threads
/// would notice. Empty: there is no `/proc`.
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
