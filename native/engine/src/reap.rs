//! The end of a process: its status and what it used, in one system call.

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use crate::outcome::{Peak, Status, Usage};

/// Reaps the process behind `pidfd`, which has ended; never any other child of the host.
///
/// `host_peak` is the host's own peak size in bytes, taken after the launch: see [`Peak`].
pub fn reap(pidfd: &OwnedFd, host_peak: u64) -> (Status, Usage) {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: waitid fills both structures, which are valid as zeros too. libc's wrapper
        // lacks the fifth argument, so the call is made directly.
        let result = unsafe {
            libc::syscall(
                libc::SYS_waitid,
                libc::P_PIDFD,
                pidfd.as_raw_fd(),
                info.as_mut_ptr(),
                libc::WEXITED | libc::WNOHANG,
                usage.as_mut_ptr(),
            )
        };
        if result == 0 {
            break;
        }
        if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return (Status::Unknown, Usage { peak: Peak::AtMost(host_peak), ..Usage::default() });
        }
    }
    // SAFETY: zeroed, then filled by the kernel.
    let (info, usage) = unsafe { (info.assume_init(), usage.assume_init()) };
    (status(&info), convert(&usage, host_peak))
}

fn status(info: &libc::siginfo_t) -> Status {
    // SAFETY: for a waited-for child the kernel fills the fields of SIGCHLD.
    let value = unsafe { info.si_status() };
    match info.si_code {
        libc::CLD_EXITED => Status::Exited(value),
        libc::CLD_KILLED | libc::CLD_DUMPED => Status::Signaled(value),
        _ => Status::Unknown,
    }
}

fn convert(usage: &libc::rusage, host_peak: u64) -> Usage {
    let peak = kibibytes(usage.ru_maxrss);
    Usage {
        user: duration(&usage.ru_utime),
        system: duration(&usage.ru_stime),
        peak: if peak > host_peak { Peak::Measured(peak) } else { Peak::AtMost(peak) },
    }
}

/// The largest resident size this process has had, in bytes.
pub fn own_peak() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: fills the structure, which is valid as zeros too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    kibibytes(usage.ru_maxrss)
}

fn kibibytes(count: libc::c_long) -> u64 {
    u64::try_from(count).unwrap_or(0) * 1024
}

fn duration(time: &libc::timeval) -> Duration {
    let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
    seconds + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}
