//! How the sandbox of a command is enforced, and what it denies, as told from inside.

use std::collections::HashSet;
use std::fmt::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use forkline_protocol::{PortNews, take};

use crate::signals;

/// The most denials that are told of a command.
const MOST: usize = 256;
/// The most bytes of a record that denials take.
const ROOM: usize = 2048;
/// Longer than any message, in bytes.
const LONGEST: usize = 16 * 1024;

pub struct Denials {
    enforced: String,
    /// The socket on which denials arrive. None: no more will arrive.
    line: Option<OwnedFd>,
    /// The host, which serves the proxy; readable once it has ended. None: its end can't be seen.
    host: Option<OwnedFd>,
    known: Vec<String>,
    is_unheard: bool,
}

/// Whether a sandbox can tell of further denials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DenialSource {
    Open,
    Closed,
}

/// What is known about a sandbox.
#[derive(Default)]
pub struct Report {
    /// Enforcement and denials in the format of a result; empty: there is no sandbox.
    pub text: String,
    /// The number of denials that do not fit into `text`.
    pub more: u64,
    /// Whether there may be other denials.
    pub is_unheard: bool,
    /// Whether the host is gone, or may be.
    pub is_alone: bool,
}

impl Denials {
    pub fn new(enforced: String, line: Option<OwnedFd>, host: Option<OwnedFd>) -> Denials {
        let is_unheard = line.is_none();
        Denials { enforced, line, host, known: Vec::new(), is_unheard }
    }

    /// Reads all denials that have been told. Returns whether more can follow.
    pub fn read(&mut self) -> DenialSource {
        let mut buffer = vec![0; LONGEST];
        while let Some(line) = &self.line {
            match take(line.as_fd(), &mut buffer) {
                Ok(length) if length > 0 => {
                    let what = buffer.get(..length).unwrap_or_default();
                    self.note(&String::from_utf8_lossy(what));
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    return DenialSource::Open;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                _ => self.line = None,
            }
        }
        DenialSource::Closed
    }

    /// Takes note that some denials may not have been told.
    pub fn mark_incomplete(&mut self) {
        self.is_unheard = true;
    }

    /// Returns a descriptor that is readable when denials have arrived.
    pub fn descriptor(&self) -> Option<i32> {
        self.line.as_ref().map(AsRawFd::as_raw_fd)
    }

    pub fn report(&self) -> Report {
        let (mut length, mut more, mut told) = (self.enforced.len(), 0, HashSet::new());
        let (held, others): (Vec<_>, Vec<_>) = self.known.iter().partition(|what| is_held(what));
        // Of what was held back the last is told: the first is displaced first.
        for what in others.into_iter().chain(held.into_iter().rev()) {
            if length + what.len() < ROOM {
                length += 1 + what.len();
                told.insert(what);
            } else {
                more += 1;
            }
        }
        let mut text = self.enforced.clone();
        for what in self.known.iter().filter(|what| told.contains(what)) {
            let _ = write!(text, " {what}");
        }
        Report { text, more, is_unheard: self.is_unheard, is_alone: !self.has_host() }
    }

    fn note(&mut self, what: &str) {
        if let Some(PortNews::Closed(word)) = PortNews::of(what) {
            return self.known.retain(|known| known != word);
        }
        if self.known.iter().any(|known| known == what) {
            return;
        }
        // What an agent of the user has signed is told before all denials.
        if what.starts_with("signed=") {
            self.known.insert(0, what.to_owned());
        } else if self.known.len() < MOST {
            self.known.push(what.to_owned());
        } else {
            self.is_unheard = true;
            let first = self.known.iter().position(|known| is_held(known));
            if let Some(first) = first.filter(|_| is_held(what)) {
                self.known.remove(first);
                self.known.push(what.to_owned());
            }
        }
    }

    fn has_host(&self) -> bool {
        let Some(host) = &self.host else { return false };
        signals::wait([Some((host.as_fd(), libc::POLLIN))], Some(Duration::ZERO)) == [0]
    }
}

/// Returns whether the id of a change that was held back is told, and no denial.
fn is_held(what: &str) -> bool {
    what.starts_with("held=")
}

#[cfg(test)]
mod tests {
    use forkline_protocol::{pair, send};

    use super::*;

    #[test]
    fn denials_are_told_once_and_those_without_room_are_counted() {
        let (ours, theirs) = pair().unwrap();
        let mut denials = Denials::new("write=namespace".into(), Some(ours), None);
        let told = ["socket=40".to_owned(), "connect=/a".into(), format!("connect={:x>3000}", "")];
        for what in ["port=1,2,3,a", "closed-port=1,2,3,a", "closed-port=1,2,3,b"] {
            send(theirs.as_fd(), [what.as_bytes(), b""], &[]).unwrap();
        }
        for what in told.iter().chain(&told) {
            send(theirs.as_fd(), [what.as_bytes(), b""], &[]).unwrap();
        }
        assert_eq!(denials.read(), DenialSource::Open);
        let Report { text, more, is_unheard, is_alone } = denials.report();
        assert_eq!(text, "write=namespace socket=40 connect=/a");
        assert_eq!((more, is_unheard, is_alone), (1, false, true));
        drop(theirs);
        // A process that another test starts has a copy of the socket until its exec.
        let is_over = (0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(2));
            denials.read() == DenialSource::Closed
        });
        assert!(is_over);
    }
    #[test]
    fn of_very_many_changes_that_were_held_back_the_last_are_told() {
        let mut denials = Denials::new("write=namespace".into(), None, None);
        denials.note("socket=40");
        (0..2 * MOST).for_each(|number| denials.note(&format!("held={number:0>16}")));
        denials.note("signed=x");
        let Report { text, more, .. } = denials.report();
        assert!(text.starts_with("write=namespace signed=x socket=40 held=0000000000000"));
        assert!(text.ends_with(&format!("{:0>16}", 2 * MOST - 1)));
        let told = text.split(' ').count() - 1;
        assert_eq!(told + more as usize, MOST + 1);
    }
}
