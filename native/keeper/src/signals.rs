//! Signals and waiting. All signals are blocked, except SIGCHLD while waiting, which only interrupts the
//! wait. Waiting works whatever limits another process has set.

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{null, null_mut};
use std::time::Duration;

use forkline_launch::Signals;

/// The signals whose disposition this process has changed; it was started with the default ones. (Rust
/// changes SIGPIPE.)
pub const NOT_DEFAULT: Signals = Signals::of([libc::SIGCHLD, libc::SIGPIPE]);

/// How long to wait when the kernel's calls for waiting fail.
const PAUSE: Duration = Duration::from_millis(10);

extern "C" fn note(_: i32) {}

/// Blocks all signals, and has SIGCHLD interrupt a wait. A signal to all processes, as when a service is
/// stopped, is for the commands, which may take their time; and a command may send its parent any signal.
pub fn prepare() {
    // SAFETY: valid as zeros: no flags, so that calls are interrupted, and an empty mask.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = note as extern "C" fn(i32) as usize;
    let all = u64::MAX;
    // The C library's own function leaves out the signals that the library reserves, each of which would
    // end this process.
    // SAFETY: the handler does nothing; the kernel's signal set has 64 bits.
    unsafe {
        libc::sigaction(libc::SIGCHLD, &action, null_mut());
        let nothing = null_mut::<u64>();
        let size = size_of_val(&all);
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const all, nothing, size);
    }
}

/// Checks whether this kernel allows waiting. The error is the errno, and the call that was denied.
pub fn check() -> Result<(), (i32, &'static str)> {
    let mut none = Watched { all: &mut [], time: Some(Duration::ZERO) };
    if none.poll().is_err() {
        none.select().map_err(|errno| (errno, "ppoll"))?;
    }
    Ok(())
}

/// Waits until a descriptor is ready, a child has ended, or the time is over. Returns the events of each
/// descriptor; all 0 if it was something else.
pub fn wait<const N: usize>(
    descriptors: [Option<(BorrowedFd, i16)>; N],
    time: Option<Duration>,
) -> [i16; N] {
    let mut watched = descriptors.map(|descriptor| libc::pollfd {
        // Numbers below 0 are ignored.
        fd: descriptor.map_or(-1, |(descriptor, _)| descriptor.as_raw_fd()),
        events: descriptor.map_or(0, |(_, events)| events),
        revents: 0,
    });
    wait_for(&mut watched, time);
    watched.map(|descriptor| descriptor.revents)
}

/// Waits for any number of descriptors; stores the events in them.
pub fn wait_for(watched: &mut [libc::pollfd], time: Option<Duration>) {
    let mut watched = Watched { all: watched, time };
    let failed = match watched.poll() {
        // More descriptors than this process may have open: another process has set the limit.
        Err(errno) if errno != libc::EINTR => watched.select().err(),
        polled => polled.err(),
    };
    if failed.is_some() {
        watched.all.iter_mut().for_each(|descriptor| descriptor.revents = 0);
    }
    if failed.is_some_and(|errno| errno != libc::EINTR) {
        // Want of memory, which may pass: the caller tries again, but not at once.
        std::thread::sleep(time.map_or(PAUSE, |time| time.min(PAUSE)));
    }
}

/// The descriptors to wait for, and the longest time.
struct Watched<'a> {
    all: &'a mut [libc::pollfd],
    time: Option<Duration>,
}

impl Watched<'_> {
    fn time(&self) -> Option<libc::timespec> {
        self.time.map(|time| libc::timespec {
            tv_sec: time.as_secs() as _,
            tv_nsec: time.subsec_nanos().into(),
        })
    }

    /// Waits by ppoll. The error is the errno.
    fn poll(&mut self) -> Result<(), i32> {
        let time = self.time();
        let time = time.as_ref().map_or(null(), |time| &raw const *time);
        let count = self.all.len() as libc::nfds_t;
        let mask = all_but_children();
        // SAFETY: all three outlive the call.
        done(unsafe { libc::ppoll(self.all.as_mut_ptr(), count, time, &mask) })
    }

    /// Waits by pselect, which no limit of descriptors makes fail. It does not report an error or hang-up
    /// on a descriptor without wanted events.
    fn select(&mut self) -> Result<(), i32> {
        const BITS: usize = libc::c_ulong::BITS as usize;
        let place = |fd: i32| usize::try_from(fd).ok().map(|fd| (fd / BITS, 1 << (fd % BITS)));
        let highest = self.all.iter().map(|watched| watched.fd).max().unwrap_or(-1);
        let words = place(highest).map_or(0, |(word, _)| word + 1);
        let set = |event: i16| {
            let mut set: Vec<libc::c_ulong> = vec![0; words];
            let wanted = self.all.iter().filter(|watched| watched.events & event != 0);
            for (word, bit) in wanted.filter_map(|watched| place(watched.fd)) {
                set.get_mut(word).into_iter().for_each(|word| *word |= bit);
            }
            set
        };
        let (mut read, mut write) = (set(libc::POLLIN), set(libc::POLLOUT));
        let time = self.time();
        let time = time.as_ref().map_or(null(), |time| &raw const *time);
        let mask = all_but_children();
        // SAFETY: both sets have a bit for each descriptor below the count; all outlive the call.
        done(unsafe {
            let (read, write) = (read.as_mut_ptr().cast(), write.as_mut_ptr().cast());
            libc::pselect(highest + 1, read, write, null_mut(), time, &mask)
        })?;
        for watched in self.all.iter_mut() {
            let is_in = |set: &[libc::c_ulong]| {
                place(watched.fd)
                    .is_some_and(|(word, bit)| set.get(word).is_some_and(|w| w & bit != 0))
            };
            watched.revents = if is_in(&read) { libc::POLLIN } else { 0 };
            watched.revents |= if is_in(&write) { libc::POLLOUT } else { 0 };
            // A descriptor may be listed twice.
            watched.revents &= watched.events;
        }
        Ok(())
    }
}

fn done(result: libc::c_int) -> Result<(), i32> {
    if result >= 0 {
        return Ok(());
    }
    Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL))
}

fn all_but_children() -> libc::sigset_t {
    // SAFETY: a set of bits, all of which may be set; the C library's function would leave out the
    // signals that it reserves. SIGCHLD is a valid signal number.
    unsafe {
        let mut signals = MaybeUninit::<libc::sigset_t>::uninit();
        signals.as_mut_ptr().write_bytes(0xff, 1);
        libc::sigdelset(signals.as_mut_ptr(), libc::SIGCHLD);
        signals.assume_init()
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::time::Instant;

    use forkline_protocol::{pair, send};

    use super::*;

    #[test]
    fn poll_and_select_report_the_same_events() {
        let (ours, theirs) = pair().unwrap();
        send(ours.as_fd(), [b"word", b""], &[]).unwrap();
        let watch = |fd, events| libc::pollfd { fd, events, revents: 0 };
        let (ours, theirs) = (ours.as_raw_fd(), theirs.as_raw_fd());
        let all = [
            watch(theirs, libc::POLLIN),
            watch(-1, libc::POLLIN),
            watch(ours, libc::POLLIN),
            watch(ours, libc::POLLOUT),
            watch(theirs, 0),
        ];
        for select in [false, true] {
            let mut all = all;
            let mut watched = Watched { all: &mut all, time: None };
            if select { watched.select() } else { watched.poll() }.unwrap();
            let seen = all.map(|watched| watched.revents);
            assert_eq!(seen, [libc::POLLIN, 0, 0, libc::POLLOUT, 0]);
        }
    }

    #[test]
    fn a_wait_without_descriptors_lasts_its_time() {
        let since = Instant::now();
        let time = Some(Duration::from_millis(30));
        Watched { all: &mut [], time }.select().unwrap();
        assert!(since.elapsed() >= Duration::from_millis(30));
        assert_eq!(check(), Ok(()));
    }
}
