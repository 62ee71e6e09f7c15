//! Commands that the host may leave behind: the keeper of each is told by what their sandbox is kept,
//! and what that denies them, as the host is of all others.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use forkline_protocol::{Answer, News, pair, send};

use crate::outside;
use crate::sandbox::denied::{self, Denied, ancestor_among};

/// So long a keeper may take no news.
const PATIENCE: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(1);

/// A sandbox, to the keeper in it.
pub struct Standing {
    enforced: String,
    /// Where the kernel asks of sockets, if not beside it.
    pub denied: Option<Denied>,
    /// The way to who stands beside it, and tells there what is denied.
    warden: Option<OwnedFd>,
    /// Where it is told here, by cradle.
    lines: HashMap<i32, OwnedFd>,
}

/// The two ends of what tells the keeper of a command.
pub struct DenialLine {
    theirs: OwnedFd,
    ours: OwnedFd,
}

impl Standing {
    pub fn new(enforced: String, denied: Option<Denied>, warden: Option<OwnedFd>) -> Standing {
        Standing { enforced, denied, warden, lines: HashMap::new() }
    }

    /// Gives the host the directory of terminals: a command asks for the name of its own by it.
    pub fn hand_out_terminals(&self, lifeline: BorrowedFd) {
        // Without, it is the host's own.
        if self.warden.is_none() {
            return;
        }
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
        // SAFETY: a path that ends with NUL.
        let directory = unsafe { libc::open(c"/dev/pts".as_ptr(), flags) };
        if directory >= 0 {
            // SAFETY: just opened, and nobody else's.
            let directory = unsafe { OwnedFd::from_raw_fd(directory) };
            let message = News::Terminals.encode();
            // Terminals are the host's for whoever does not hear this.
            let _ = send(lifeline, [&message, b""], &[directory.as_fd()]);
        }
    }

    /// For the next cradle. None: there are no descriptors left, and its keeper will know.
    pub fn line() -> Option<DenialLine> {
        pair().ok().map(|(theirs, ours)| DenialLine { theirs, ours })
    }

    /// In that cradle, before it runs anything: says so to the keeper of its command.
    pub fn introduce(&self, channel: BorrowedFd, line: Option<DenialLine>) {
        let theirs = line.and_then(|DenialLine { theirs, ours }| {
            let Some(warden) = &self.warden else { return Some(theirs) };
            let number = outside::own_pid().to_le_bytes();
            patiently(|| send(warden.as_fd(), [&number, b""], &[ours.as_fd()])).then_some(theirs)
        });
        let sent: Vec<_> = theirs.iter().map(AsFd::as_fd).collect();
        let message = Answer::Stands(self.enforced.clone()).encode();
        // Whoever does not hear this does not get the command either.
        let _ = patiently(|| send(channel, [&message, b""], &sent));
    }

    /// In the keeper: this cradle has it.
    pub fn made(&mut self, cradle: i32, line: Option<DenialLine>) {
        if let (None, Some(line)) = (&self.warden, line) {
            self.lines.insert(cradle, line.ours);
        }
    }

    /// In the keeper: it has ended.
    pub fn ended(&mut self, cradle: i32) {
        self.lines.remove(&cradle);
    }

    /// In the keeper: takes what the kernel asks about next, and tells whoever has to do with the command;
    /// the host by `say`. `cradles`: by which numbers that knows them.
    pub fn take_denied(&self, cradles: &HashMap<i32, i32>, say: impl FnOnce(News)) {
        let Some(denied) = &self.denied else { return };
        denied.take(|pid, family| {
            let cradle = ancestor_among(pid, |pid| cradles.contains_key(&pid));
            let what = denied::family(family);
            match cradle.and_then(|cradle| self.lines.get(&cradle)) {
                Some(line) => drop(tell(line, &what)),
                None => {
                    let number = cradle.and_then(|cradle| cradles.get(&cradle));
                    if let Some(number) = number {
                        say(News::Denied(*number, what));
                    }
                }
            }
        });
    }
}

/// Tells what was denied; false: nobody takes it. Then it is for the last time, and its end says there
/// that not all was told.
pub fn tell(line: &OwnedFd, what: &str) -> bool {
    let is_told = patiently(|| send(line.as_fd(), [what.as_bytes(), b""], &[]));
    if !is_told {
        // SAFETY: takes numbers only.
        unsafe { libc::shutdown(line.as_raw_fd(), libc::SHUT_RDWR) };
    }
    is_told
}

/// Sends, as soon as it is taken.
pub fn patiently(mut sending: impl FnMut() -> io::Result<()>) -> bool {
    let until = Instant::now() + PATIENCE;
    loop {
        let Err(error) = sending() else { return true };
        let is_full = matches!(
            error.raw_os_error(),
            Some(libc::EAGAIN | libc::ETOOMANYREFS | libc::ENOBUFS | libc::ENOMEM)
        );
        if !is_full || Instant::now() >= until {
            return false;
        }
        thread::sleep(AGAIN);
    }
}
