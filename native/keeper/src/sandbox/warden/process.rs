//! The processes beside the sandbox: how the warden joins it, and how they end.

use std::io;
use std::os::fd::AsRawFd;

use crate::outside;
use crate::sandbox::privileges;
use crate::sandbox::warden::guarded::GuardedSandbox;

/// Ends a process beside the sandbox, which is a child of this process.
pub fn end(pid: i32) {
    // SAFETY: takes numbers; the child has not been waited for, so the number is not reused.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
        libc::waitpid(pid, std::ptr::null_mut(), 0);
    }
}

/// Enters the namespaces, keeps the privileges that are needed there, and makes the host's `/proc` the
/// working directory, through which processes and this process's descriptors are reached.
pub fn join(guarded: &GuardedSandbox) -> io::Result<()> {
    let done = |result: i64| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) };
    let network = if guarded.plan.network { 0 } else { libc::CLONE_NEWNET };
    let proc = outside::proc().ok_or(io::ErrorKind::NotFound)?;
    guarded.enter(libc::CLONE_NEWNS | network)?;
    // SAFETY: takes numbers only.
    unsafe { done(libc::fchdir(proc.as_raw_fd()).into())? };
    privileges::drop_to_warden(guarded.rights)?;
    privileges::close_to_others()?;
    // SAFETY: takes numbers only. A change of privileges would have cleared the signal.
    unsafe { done(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL).into())? };
    Ok(())
}
