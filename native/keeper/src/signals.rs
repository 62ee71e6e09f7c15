//! Signals: all are blocked but while we wait, and then only those are let through that say something
//! to us.

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forkline_launch::Signals;

/// From the keeper to its cradles: the host is gone, whoever may still hold its channels.
pub const HOST_IS_GONE: i32 = libc::SIGUSR1;

/// Those that this process has given a meaning; it was started with none. (SIGPIPE: Rust does.)
pub const NOT_DEFAULT: Signals = Signals::of([libc::SIGCHLD, HOST_IS_GONE, libc::SIGPIPE]);

static GONE: AtomicBool = AtomicBool::new(false);

extern "C" fn note(signal: i32) {
    if signal == HOST_IS_GONE {
        GONE.store(true, Ordering::Relaxed);
    }
}

/// Whether [`HOST_IS_GONE`] has come.
pub fn host_is_gone() -> bool {
    GONE.load(Ordering::Relaxed)
}

/// Blocks all but `HOST_IS_GONE`, and has those noted that interrupt a wait. What goes round to
/// everybody, as when a service is stopped, is for the commands to take their time over.
pub fn prepare() {
    for signal in [libc::SIGCHLD, HOST_IS_GONE] {
        // SAFETY: valid as zeros: no flags, so that calls are interrupted, and an empty mask.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = note as extern "C" fn(i32) as usize;
        // SAFETY: the handler only stores a flag.
        unsafe { libc::sigaction(signal, &action, null_mut()) };
    }
    let blocked = all_but(&[HOST_IS_GONE]);
    // SAFETY: an initialised mask; it cannot fail with SIG_SETMASK.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &blocked, null_mut()) };
}

/// Waits until one of these is readable or has ended, a child has ended, or the time is over. What is
/// true of each comes back; all false: it was something else.
pub fn wait<const N: usize>(
    descriptors: [Option<(BorrowedFd, i16)>; N],
    time: Option<Duration>,
) -> [i16; N] {
    let mut watched = descriptors.map(|descriptor| libc::pollfd {
        // Those below 0 are passed over.
        fd: descriptor.map_or(-1, |(descriptor, _)| descriptor.as_raw_fd()),
        events: descriptor.map_or(0, |(_, events)| events),
        revents: 0,
    });
    wait_for(&mut watched, time);
    watched.map(|descriptor| descriptor.revents)
}

/// The same for any number of them; what is true of each is put there.
pub fn wait_for(watched: &mut [libc::pollfd], time: Option<Duration>) {
    let time = time.map(|time| libc::timespec {
        tv_sec: time.as_secs() as libc::time_t,
        tv_nsec: time.subsec_nanos().into(),
    });
    let mask = all_but(&[libc::SIGCHLD, HOST_IS_GONE]);
    let time = time.as_ref().map_or(null(), |time| &raw const *time);
    let count = watched.len() as libc::nfds_t;
    // SAFETY: all three outlive the call.
    let ready = unsafe { libc::ppoll(watched.as_mut_ptr(), count, time, &mask) };
    if ready <= 0 {
        watched.iter_mut().for_each(|descriptor| descriptor.revents = 0);
    }
}

/// The numbers must be those of signals.
fn all_but(numbers: &[i32]) -> libc::sigset_t {
    let mut signals = MaybeUninit::uninit();
    // SAFETY: sigfillset initialises it; neither call can fail with a valid set and number.
    unsafe {
        libc::sigfillset(signals.as_mut_ptr());
        for &number in numbers {
            libc::sigdelset(signals.as_mut_ptr(), number);
        }
        signals.assume_init()
    }
}
