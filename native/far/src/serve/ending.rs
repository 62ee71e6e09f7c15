//! The end of this process, caused by its client or by a signal.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

/// The end of a pipe at which the exit code arrives, as one byte.
#[derive(Clone)]
pub struct Shutdown(Arc<OwnedFd>);

/// The end of the pipe at which the exit code is written.
static REASON: OnceLock<OwnedFd> = OnceLock::new();

/// Has SIGHUP, SIGINT and SIGTERM end this process as its client does; a second signal ends it at once.
pub fn prepare() -> io::Result<Shutdown> {
    let (reading, writing) = pipe_with(PipeFlags::CLOEXEC)?;
    let _ = REASON.set(writing);
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
        // SAFETY: valid as zeros: no flags and an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_signal as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART | libc::SA_RESETHAND;
        // SAFETY: the handler only writes to a pipe, which a handler may do.
        if unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(Shutdown(Arc::new(reading)))
}

extern "C" fn on_signal(signal: libc::c_int) {
    put(128 + signal as u8);
}

fn put(code: u8) {
    if let Some(reason) = REASON.get() {
        let _ = rustix::io::write(reason, &[code]);
    }
}

impl Shutdown {
    /// Ends this process with this exit code.
    pub fn end(&self, code: u8) {
        put(code);
    }

    /// Waits until this process is to end. Returns the exit code.
    pub fn wait(&self) -> u8 {
        let mut code = [0];
        while rustix::io::read(&self.0, &mut code) == Err(Errno::INTR) {}
        let [code] = code;
        code
    }
}
