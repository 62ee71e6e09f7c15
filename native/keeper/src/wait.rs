//! Waiting for children. ECHILD is the only proof that nobody is left.

use std::io;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use forkline_protocol::Status;

/// A child that has ended, and been reaped.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    pub pid: i32,
    pub status: Status,
    /// CPU time of it and of those it waited for, in microseconds: in user code, in the kernel.
    pub cpu: [u64; 2],
    /// In bytes.
    pub peak: u64,
}

/// What has happened to a child.
#[derive(Debug, Clone, Copy)]
pub enum Change {
    Ended(Ended),
    /// It was stopped, and this is told once.
    Stopped(i32),
}

/// What there is to be told of the children.
#[derive(Debug, Clone, Copy)]
pub enum Family {
    Change(Change),
    /// All that are left live.
    Lives,
    /// There is none: nobody is left.
    Empty,
}

/// Reaps one that has ended, if there is any.
pub fn next() -> Family {
    wait(libc::P_ALL, 0, libc::WEXITED)
}

/// The same, and tells of those that were stopped.
pub fn next_or_stopped() -> Family {
    wait(libc::P_ALL, 0, libc::WEXITED | libc::WSTOPPED)
}

/// Whether there is no child, living or not.
pub fn nobody_is_left() -> bool {
    matches!(wait(libc::P_ALL, 0, libc::WEXITED | libc::WNOWAIT), Family::Empty)
}

/// Whether this number is that of a child which has not been reaped. Then it can't be another's.
pub fn is_own(pid: i32) -> bool {
    pid > 1 && !matches!(wait(libc::P_PID, pid, libc::WEXITED | libc::WNOWAIT), Family::Empty)
}

fn wait(kind: libc::idtype_t, pid: i32, flags: i32) -> Family {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    let keep = flags & libc::WNOWAIT != 0;
    let usage_of = if keep { null_mut() } else { usage.as_mut_ptr() };
    let flags = flags | libc::WNOHANG | libc::__WALL;
    // SAFETY: waitid fills both structures, which are valid as zeros too. libc's wrapper lacks the
    // fifth argument, so the call is made directly.
    let result =
        unsafe { libc::syscall(libc::SYS_waitid, kind, pid, info.as_mut_ptr(), flags, usage_of) };
    if result != 0 {
        let none = io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD);
        // Anything else is a call that the kernel would not take, and proves nothing.
        return if none { Family::Empty } else { Family::Lives };
    }
    // SAFETY: zeroed, then filled by the kernel.
    let (info, usage) = unsafe { (info.assume_init(), usage.assume_init()) };
    // SAFETY: for a child the kernel fills the fields of SIGCHLD; zeros when there is none.
    let (pid, value) = unsafe { (info.si_pid(), info.si_status()) };
    if pid == 0 {
        return Family::Lives;
    }
    let status = match info.si_code {
        libc::CLD_EXITED => Status::Exited(value),
        libc::CLD_KILLED | libc::CLD_DUMPED => Status::Signaled(value),
        libc::CLD_STOPPED | libc::CLD_TRAPPED => return Family::Change(Change::Stopped(pid)),
        _ => Status::Unknown,
    };
    let cpu = [microseconds(&usage.ru_utime), microseconds(&usage.ru_stime)];
    let peak = u64::try_from(usage.ru_maxrss).unwrap_or(0) * 1024;
    Family::Change(Change::Ended(Ended { pid, status, cpu, peak }))
}

fn microseconds(time: &libc::timeval) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000 + u64::try_from(time.tv_usec).unwrap_or(0)
}
