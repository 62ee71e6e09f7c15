//! What the sandbox of a command is kept by, and what it denies it, as is told from there.

use std::fmt::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use forkline_protocol::take;

use crate::signals;

/// A command that tries everything is told of no more than this.
const MOST: usize = 256;
/// A record has room for so many bytes of it.
const ROOM: usize = 2048;
/// Longer than what is told at once.
const LONGEST: usize = 16 * 1024;

pub struct Denials {
    enforced: String,
    /// Where it is told. None: nobody tells.
    line: Option<OwnedFd>,
    /// The host, which has the proxy: readable once it has ended. None: that can't be seen.
    host: Option<OwnedFd>,
    known: Vec<String>,
    is_unheard: bool,
}

/// Whether a sandbox can tell of further denials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Open,
    Closed,
}

/// What is known of it.
#[derive(Default)]
pub struct Report {
    /// As in a result; empty: there is no sandbox.
    pub text: String,
    /// Denials that have no room there.
    pub more: u64,
    /// There may be others.
    pub is_unheard: bool,
    /// The host is gone, or may be.
    pub is_alone: bool,
}

impl Denials {
    pub fn new(enforced: String, line: Option<OwnedFd>, host: Option<OwnedFd>) -> Denials {
        let is_unheard = line.is_none();
        Denials { enforced, line, host, known: Vec::new(), is_unheard }
    }

    /// Reads all denials that have been told. Returns whether more can follow.
    pub fn hear(&mut self) -> Source {
        let mut buffer = vec![0; LONGEST];
        while let Some(line) = &self.line {
            match take(line.as_fd(), &mut buffer) {
                Ok(length) if length > 0 => {
                    let what = buffer.get(..length).unwrap_or_default();
                    self.note(&String::from_utf8_lossy(what));
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    return Source::Open;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                _ => self.line = None,
            }
        }
        Source::Closed
    }

    /// Not all may have been told.
    pub fn are_unheard(&mut self) {
        self.is_unheard = true;
    }

    /// Readable when there is something to hear.
    pub fn descriptor(&self) -> Option<i32> {
        self.line.as_ref().map(AsRawFd::as_raw_fd)
    }

    pub fn report(&self) -> Report {
        let (mut text, mut more) = (self.enforced.clone(), 0);
        for what in &self.known {
            if text.len() + what.len() < ROOM {
                let _ = write!(text, " {what}");
            } else {
                more += 1;
            }
        }
        Report { text, more, is_unheard: self.is_unheard, is_alone: !self.has_host() }
    }

    fn note(&mut self, what: &str) {
        if self.known.iter().any(|known| known == what) {
            return;
        }
        if self.known.len() < MOST {
            self.known.push(what.to_owned());
        } else {
            self.is_unheard = true;
        }
    }

    fn has_host(&self) -> bool {
        let Some(host) = &self.host else { return false };
        signals::wait([Some((host.as_fd(), libc::POLLIN))], Some(Duration::ZERO)) == [0]
    }
}

#[cfg(test)]
mod tests {
    use forkline_protocol::{pair, send};

    use super::*;

    #[test]
    fn what_has_no_room_is_counted_and_nothing_twice() {
        let (ours, theirs) = pair().unwrap();
        let mut denials = Denials::new("write=namespace".into(), Some(ours), None);
        let told = ["socket=40".to_owned(), "connect=/a".into(), format!("connect={:x>3000}", "")];
        for what in told.iter().chain(&told) {
            send(theirs.as_fd(), [what.as_bytes(), b""], &[]).unwrap();
        }
        assert_eq!(denials.hear(), Source::Open);
        let Report { text, more, is_unheard, is_alone } = denials.report();
        assert_eq!(text, "write=namespace socket=40 connect=/a");
        assert_eq!((more, is_unheard, is_alone), (1, false, true));
        drop(theirs);
        // A process that another test starts has a copy of it until it runs its program.
        let is_over = (0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(2));
            denials.hear() == Source::Closed
        });
        assert!(is_over);
    }
}
