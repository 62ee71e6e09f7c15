//! Whether processes can be held until it is certain what they have executed.

use std::io;
use std::ptr::null_mut;

/// Seizes a process as the warden will. The error is EPERM where the kernel (Yama's `ptrace_scope` 3) or a filter of a
/// container forbids it.
pub fn check() -> io::Result<()> {
    // SAFETY: like fork: there is one thread. The child does nothing but wait.
    let pid = unsafe { libc::fork() };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    if pid == 0 {
        loop {
            // SAFETY: takes nothing.
            unsafe { libc::pause() };
        }
    }
    let nothing = null_mut::<libc::c_void>();
    // SAFETY: takes numbers only.
    let seized = match unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, nothing, nothing) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    };
    // SAFETY: takes numbers; it is our child, which has not been waited for.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
        libc::waitpid(pid, null_mut(), libc::__WALL);
    }
    seized
}
