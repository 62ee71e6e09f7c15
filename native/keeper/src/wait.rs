//! Waiting for children. Only ECHILD proves that no child is left.
//!
//! Where `waitid` is denied, as by an old container's filter, `wait4` is used. It can't look at a child
//! that has ended without reaping it, so the status is kept until it is asked for.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use forkline_protocol::Status;

use crate::proc;

thread_local! {
    static REAPED: RefCell<VecDeque<EndedChild>> = const { RefCell::new(VecDeque::new()) };
}

/// A child that has ended, and has been reaped.
#[derive(Debug, Clone, Copy)]
pub struct EndedChild {
    pub pid: i32,
    pub status: Status,
    /// CPU time of the child and the children that it waited for, in microseconds: in user code, in the
    /// kernel.
    pub cpu: [u64; 2],
    /// The largest resident size, in bytes.
    pub peak: u64,
}

/// A change of a child's state.
#[derive(Debug, Clone, Copy)]
pub enum ChildChange {
    Ended(EndedChild),
    /// The child was stopped; told once.
    Stopped(i32),
}

/// The answer to a question for children.
#[derive(Debug, Clone, Copy)]
pub enum Family {
    Change(ChildChange),
    /// Children are left, and all of them live.
    Lives,
    /// No child is left.
    Empty,
}

/// Whether any child or adopted descendant is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remaining {
    Some,
    None,
}

/// Reaps a child that has ended, if there is one.
pub fn reap() -> Family {
    take(libc::WEXITED)
}

/// Reaps a child that has ended, or tells of one that was stopped. `before` is called before the child is
/// reaped, while no other process can have its number; not where `waitid` is denied.
pub fn reap_or_stopped(before: impl FnOnce(i32)) -> Family {
    let reaped = || REAPED.with_borrow_mut(VecDeque::pop_front);
    if let Some(ended) = reaped() {
        return Family::Change(ChildChange::Ended(ended));
    }
    match wait(libc::P_ALL, 0, libc::WEXITED | libc::WNOWAIT) {
        Family::Change(ChildChange::Ended(ended)) => {
            before(ended.pid);
            match reaped() {
                Some(ended) => Family::Change(ChildChange::Ended(ended)),
                None => wait(libc::P_PID, ended.pid, libc::WEXITED),
            }
        }
        // Children that have ended meanwhile do not count for the second question.
        Family::Lives => match wait(libc::P_ALL, 0, libc::WSTOPPED) {
            Family::Empty => Family::Lives,
            family => family,
        },
        family => family,
    }
}

/// Checks whether this kernel allows waiting for children. The error is the errno, and the call that was
/// denied.
pub fn check() -> Result<(), (i32, &'static str)> {
    let errno = |result: libc::c_long| {
        let error = io::Error::last_os_error();
        error.raw_os_error().filter(|errno| result != 0 && *errno != libc::ECHILD)
    };
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    let (nothing, no_usage) = (null_mut::<libc::siginfo_t>(), null_mut::<libc::rusage>());
    // SAFETY: fills nothing, and reaps no child.
    let refused =
        errno(unsafe { libc::syscall(libc::SYS_waitid, libc::P_ALL, 0, nothing, flags, no_usage) });
    let Some(refused) = refused else { return Ok(()) };
    // SAFETY: fills nothing; this process has no child yet.
    let other = errno(unsafe { libc::wait4(-1, null_mut(), libc::WNOHANG, no_usage) }.into());
    other.map_or(Ok(()), |_| Err((refused, "waitid")))
}

/// Makes this process the child subreaper: orphans among its descendants become its children. The error
/// is the errno, and the call.
pub fn adopt_orphans() -> Result<(), (i32, &'static str)> {
    // SAFETY: takes numbers only.
    match unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) } {
        0 => Ok(()),
        _ => Err((io::Error::last_os_error().raw_os_error().unwrap_or(0), "prctl")),
    }
}

/// Forgets statuses of the parent's children, after a fork.
pub fn forget_reaped() {
    REAPED.with_borrow_mut(VecDeque::clear);
}

fn take(flags: i32) -> Family {
    match REAPED.with_borrow_mut(VecDeque::pop_front) {
        Some(ended) => Family::Change(ChildChange::Ended(ended)),
        None => wait(libc::P_ALL, 0, flags),
    }
}

/// Returns whether there is no child, alive or not.
pub fn has_no_child() -> bool {
    matches!(wait(libc::P_ALL, 0, libc::WEXITED | libc::WNOWAIT), Family::Empty)
}

/// Returns whether this number is that of a child which has not been reaped. Such a number is not reused.
pub fn is_own(pid: i32) -> bool {
    pid > 1 && !matches!(wait(libc::P_PID, pid, libc::WEXITED | libc::WNOWAIT), Family::Empty)
}

fn wait(kind: libc::idtype_t, pid: i32, flags: i32) -> Family {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    let keep = flags & libc::WNOWAIT != 0;
    let usage_of = if keep { null_mut() } else { usage.as_mut_ptr() };
    let flags = flags | libc::WNOHANG | libc::__WALL;
    // SAFETY: waitid fills both structures, which are valid as zeros too. libc's wrapper lacks the fifth
    // argument, so the system call is made directly.
    let result =
        unsafe { libc::syscall(libc::SYS_waitid, kind, pid, info.as_mut_ptr(), flags, usage_of) };
    if result != 0 {
        return match io::Error::last_os_error().raw_os_error() {
            Some(libc::ECHILD) => Family::Empty,
            _ => wait_without_looking(kind, pid, flags),
        };
    }
    // SAFETY: zeroed, then filled by the kernel.
    let (info, usage) = unsafe { (info.assume_init(), usage.assume_init()) };
    // SAFETY: for a child the kernel fills the fields of SIGCHLD; they are zeros when there is none.
    let (pid, value) = unsafe { (info.si_pid(), info.si_status()) };
    if pid == 0 {
        return Family::Lives;
    }
    let status = match info.si_code {
        libc::CLD_EXITED => Status::Exited(value),
        libc::CLD_KILLED | libc::CLD_DUMPED => Status::Signaled(value),
        libc::CLD_STOPPED | libc::CLD_TRAPPED => return Family::Change(ChildChange::Stopped(pid)),
        _ => Status::Unknown,
    };
    Family::Change(ChildChange::Ended(ended(pid, status, &usage)))
}

/// Waits by `wait4`. If a child is only to be looked at, it is looked up in `/proc`, as long as it is
/// shown: a child that is reaped can't be signalled any more.
fn wait_without_looking(kind: libc::idtype_t, pid: i32, flags: i32) -> Family {
    let is_look = flags & libc::WNOWAIT != 0;
    let is_ours = |stat: proc::Stat| stat.parent == std::process::id() as i32;
    if is_look && kind == libc::P_PID && proc::stat(pid).is_some_and(is_ours) {
        return Family::Lives;
    }
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    let who = if kind == libc::P_PID { pid } else { -1 };
    let stopped = if flags & libc::WSTOPPED != 0 { libc::WUNTRACED } else { 0 };
    let options = libc::WNOHANG | libc::__WALL | stopped;
    // SAFETY: fills the number, and the structure, which is valid as zeros too.
    let (found, usage) = unsafe {
        let found = libc::wait4(who, &mut status, options, usage.as_mut_ptr());
        (found, usage.assume_init())
    };
    if found <= 0 {
        let error = io::Error::last_os_error();
        let none = found < 0 && error.raw_os_error() == Some(libc::ECHILD);
        // Any other error means that the kernel refuses the call, and proves nothing.
        return if none { Family::Empty } else { Family::Lives };
    }
    if libc::WIFSTOPPED(status) {
        return Family::Change(ChildChange::Stopped(found));
    }
    let status = match libc::WIFEXITED(status) {
        true => Status::Exited(libc::WEXITSTATUS(status)),
        false => Status::Signaled(libc::WTERMSIG(status)),
    };
    let ended = ended(found, status, &usage);
    if is_look {
        REAPED.with_borrow_mut(|reaped| reaped.push_back(ended));
    }
    match kind {
        libc::P_PID => Family::Empty,
        _ => Family::Change(ChildChange::Ended(ended)),
    }
}

fn ended(pid: i32, status: Status, usage: &libc::rusage) -> EndedChild {
    let cpu = [microseconds(&usage.ru_utime), microseconds(&usage.ru_stime)];
    let peak = u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024;
    EndedChild { pid, status, cpu, peak }
}

fn microseconds(time: &libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000 + u64::try_from(time.tv_usec).unwrap_or(0)
}

#[cfg(test)]
mod tests;
