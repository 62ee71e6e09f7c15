//! A process that is held from its call until it has executed a program, and before that program's first
//! instruction.
//!
//! The path and the arguments of a call are in the caller's memory, which another thread may change after they were
//! judged. What counts is what the kernel has taken: the process is seized as by a debugger, its call continues, and it
//! stops once, with the new program in place.

use std::fs;
use std::io;
use std::ptr::null_mut;

use crate::sandbox::warden::caller::{field, read_status};

// Their type differs between C libraries.
const SEIZE: i64 = libc::PTRACE_SEIZE as i64;
const INTERRUPT: i64 = libc::PTRACE_INTERRUPT as i64;
const DETACH: i64 = libc::PTRACE_DETACH as i64;

/// The process is killed if this process ends while it is held.
const OPTIONS: i32 = libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_EXITKILL;

/// A seized thread. The calling thread alone may use it.
pub struct HeldCaller {
    thread: i32,
}

/// What has become of a call that continued.
pub enum CallEnd {
    /// The process of this id executes a program, and is stopped before its first instruction.
    Executed(i32),
    /// The call has failed, or the process has ended; it is no longer held.
    Over,
}

impl HeldCaller {
    /// Seizes a thread. The error is EPERM if another process traces it.
    pub fn seize(thread: i32) -> io::Result<HeldCaller> {
        trace(SEIZE, thread, OPTIONS).map(|()| HeldCaller { thread })
    }

    /// Waits for the end of the call, which has just continued.
    pub fn wait(self) -> CallEnd {
        // Stops a thread whose call fails; one that executes a program stops before. Its number is that of its process
        // by then, so an error does not mean that it is gone.
        let _ = trace(INTERRUPT, self.thread, 0);
        loop {
            let mut status = 0;
            // SAFETY: fills the integer. Only what this thread has seized is waited for.
            let pid = unsafe { libc::waitpid(-1, &mut status, libc::__WALL | libc::__WNOTHREAD) };
            if pid < 0 {
                if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
                    continue;
                }
                return CallEnd::Over;
            }
            if !libc::WIFSTOPPED(status) {
                return CallEnd::Over;
            }
            let event = status >> 16;
            if event == libc::PTRACE_EVENT_EXEC {
                return CallEnd::Executed(pid);
            }
            // A signal that was about to be delivered goes with it; a stop is none.
            let signal = if event == 0 { libc::WSTOPSIG(status) } else { 0 };
            release(pid, signal);
            return CallEnd::Over;
        }
    }
}

/// Returns whether a thread of this process holds a thread. The working directory is the host's `/proc`.
pub fn is_held(thread: i32) -> bool {
    let status = read_status(thread).unwrap_or_default();
    let tracer = field(&status, "TracerPid:").filter(|tracer| *tracer != "0");
    tracer.is_some_and(|tracer| fs::exists(format!("self/task/{tracer}")).unwrap_or(false))
}

/// Lets a held process go on. One that was killed meanwhile is waited for: nobody else could.
pub fn release(pid: i32, signal: i32) {
    if trace(DETACH, pid, signal).is_err() {
        reap(pid);
    }
}

/// Kills a held process, and waits for its end.
pub fn kill(pid: i32) {
    // SAFETY: takes numbers; the process is held, so the number is its own.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    reap(pid);
}

fn reap(pid: i32) {
    loop {
        let mut status = 0;
        // SAFETY: fills the integer; only what this thread has seized is waited for.
        let ended = unsafe { libc::waitpid(pid, &mut status, libc::__WALL | libc::__WNOTHREAD) };
        if ended < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
            continue;
        }
        let is_over = ended < 0 || !libc::WIFSTOPPED(status);
        if is_over || trace(DETACH, pid, 0).is_ok() {
            return;
        }
    }
}

fn trace(request: i64, pid: i32, data: i32) -> io::Result<()> {
    let address = null_mut::<libc::c_void>();
    // SAFETY: these requests read and write no memory of this process.
    match unsafe { libc::ptrace(request as _, pid, address, data as usize as *mut libc::c_void) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
