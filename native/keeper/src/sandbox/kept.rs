//! Commands that the host may leave behind. Their keepers are told how the sandbox is enforced and what
//! it denies, as the host is told for all other commands.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use forkline_protocol::{Answer, ExecAnswer, News, pair, send};

use crate::cradle::roster::CradleSeat;
use crate::outside;
use crate::sandbox::denied::{self, Denied, ancestor_among};

/// The longest time that a keeper may take no message.
const PATIENCE: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(1);

/// In place of a question's number: the host is gone.
pub const HOST_GONE: u64 = 0;

/// The sandbox, as the keeper inside it sees it.
pub struct SandboxHandle {
    enforced: String,
    /// The kernel's questions about sockets, if no warden answers them.
    pub denied: Option<Denied>,
    /// The socket to the warden, which tells the keepers of commands about denials.
    warden: Option<OwnedFd>,
    /// The sockets to the keepers of commands, by cradle, if there is no warden.
    lines: HashMap<i32, OwnedFd>,
    /// The seats of cradles, by process id.
    seats: HashMap<i32, CradleSeat>,
    /// Whether commands may call the user's agents.
    pub has_keys: bool,
}

/// The two ends of the socket on which a command's keeper is told about denials.
pub struct DenialLine {
    theirs: OwnedFd,
    ours: OwnedFd,
}

impl SandboxHandle {
    pub fn new(
        enforced: String,
        denied: Option<Denied>,
        warden: Option<OwnedFd>,
        has_keys: bool,
    ) -> SandboxHandle {
        let (lines, seats) = (HashMap::new(), HashMap::new());
        SandboxHandle { enforced, denied, warden, lines, seats, has_keys }
    }

    /// Gives the host the directory of the sandbox's terminals, so that a command finds the name of its
    /// own terminal.
    pub fn hand_out_terminals(&self, lifeline: BorrowedFd) {
        // Without a warden, the directory is the host's own.
        if self.warden.is_none() {
            return;
        }
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
        // SAFETY: a path that ends with NUL.
        let directory = unsafe { libc::open(c"/dev/pts".as_ptr(), flags) };
        if directory >= 0 {
            // SAFETY: the descriptor was just opened; nothing else owns it.
            let directory = unsafe { OwnedFd::from_raw_fd(directory) };
            let message = News::Terminals.encode();
            // If the host misses this, it uses its own terminals.
            let _ = send(lifeline, [&message, b""], &[directory.as_fd()]);
        }
    }

    /// Makes a socket for the next cradle. None: the limit of descriptors has been reached, and the
    /// command's keeper is told.
    pub fn line() -> Option<DenialLine> {
        pair().ok().map(|(theirs, ours)| DenialLine { theirs, ours })
    }

    /// Called in a cradle before it runs a command: tells the command's keeper how the sandbox is
    /// enforced.
    pub fn introduce(&self, channel: BorrowedFd, line: Option<DenialLine>) {
        let theirs = line.and_then(|DenialLine { theirs, ours }| {
            let Some(warden) = &self.warden else { return Some(theirs) };
            let number = outside::own_pid().to_le_bytes();
            patiently(|| send(warden.as_fd(), [&number, b""], &[ours.as_fd()])).then_some(theirs)
        });
        let sent: Vec<_> = theirs.iter().map(AsFd::as_fd).collect();
        let message = Answer::Stands(self.enforced.clone()).encode();
        // A keeper that misses this does not get the command either.
        let _ = patiently(|| send(channel, [&message, b""], &sent));
    }

    /// Called in the keeper: takes note of a new cradle's socket and seat.
    pub fn made(&mut self, cradle: i32, line: Option<DenialLine>, seat: Option<CradleSeat>) {
        self.seats.extend(seat.map(|seat| (cradle, seat)));
        if let (None, Some(line)) = (&self.warden, line) {
            self.lines.insert(cradle, line.ours);
        }
    }

    /// Called in the keeper, before it reaps a cradle that has ended, and once more after it.
    pub fn ended(&mut self, cradle: i32) {
        self.lines.remove(&cradle);
        self.seats.remove(&cradle).into_iter().for_each(CradleSeat::leave);
    }

    /// Called in the keeper: nobody is there to answer questions about programs any more.
    pub fn host_is_gone(&self) {
        self.decide(HOST_GONE, ExecAnswer::Unasked);
    }

    /// Called in the keeper: passes on the host's answer to a question about a program.
    pub fn decide(&self, number: u64, answer: ExecAnswer) {
        let Some(warden) = &self.warden else { return };
        let (number, answer) = (number.to_le_bytes(), answer.number().to_le_bytes());
        // A question without an answer ends by itself.
        patiently(|| send(warden.as_fd(), [&number, &answer], &[]));
    }

    /// Called in the keeper: takes the kernel's next question. Tells the keeper of the command, or the
    /// host by `say`. `cradles`: process ids and the host's numbers for them.
    pub fn take_denied(&self, cradles: &HashMap<i32, i32>, say: impl FnOnce(News)) {
        let Some(denied) = &self.denied else { return };
        denied.take(|pid, family| {
            let cradle = ancestor_among(pid, |pid| cradles.contains_key(&pid));
            let what = denied::family(family);
            match cradle.and_then(|cradle| self.lines.get(&cradle)) {
                Some(line) => drop(send_denial(line, &what)),
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

/// Tells a keeper what was denied. Returns whether that was sent. If not, the socket is closed, which
/// tells the keeper that a denial is missing.
pub fn send_denial(line: &OwnedFd, what: &str) -> bool {
    let is_told = patiently(|| send(line.as_fd(), [what.as_bytes(), b""], &[]));
    if !is_told {
        // SAFETY: takes numbers only.
        unsafe { libc::shutdown(line.as_raw_fd(), libc::SHUT_RDWR) };
    }
    is_told
}

/// Sends, and tries again while the receiver's buffer is full. Returns whether that was sent in time.
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
