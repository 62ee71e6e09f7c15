//! The engine's threads.

use std::io;
use std::mem::MaybeUninit;
use std::thread::Builder;

/// The stack size of the engine's threads, in bytes.
const STACK_SIZE: usize = 256 * 1024;

/// Starts a thread that blocks all signals of the host: their handlers run on the host's own threads.
///
/// SIGCHLD is the exception: if it were blocked in the thread whose child ends, it would be queued although
/// it is ignored, and would interrupt the main thread each time.
pub fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let before = block_signals();
    let started = Builder::new().name(name.to_owned()).stack_size(STACK_SIZE).spawn(body);
    restore_signals(&before);
    started.map(drop)
}

fn block_signals() -> libc::sigset_t {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: sigfillset initialises `all`, and pthread_sigmask fills `before`; with a valid
    // set and SIG_SETMASK neither can fail.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::sigdelset(all.as_mut_ptr(), libc::SIGCHLD);
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        before.assume_init()
    }
}

fn restore_signals(before: &libc::sigset_t) {
    // SAFETY: the mask was filled by pthread_sigmask.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, std::ptr::null_mut()) };
}
