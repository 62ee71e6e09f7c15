//! How the sandbox of a command is enforced, and what it denies, as told from inside.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forkline_protocol::{ExecWords, PortNews, take, why_denied};

use crate::signals;

/// The most denials that are told of a command.
const MOST: usize = 256;
/// The most bytes of a record that all of it takes.
const ROOM: usize = 2048;
/// The most bytes of the file for what has no room in the record.
const MOST_BYTES: u64 = 1024 * 1024;
/// Longer than any message, in bytes.
const LONGEST: usize = 16 * 1024;

/// What is told, the most important first. Each kind has room of its own in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToldKind {
    /// What an agent of the user has signed.
    Signed,
    /// A change that was held back, or the journal of all changes.
    Held,
    /// A port that is published.
    Port,
    /// A program that was executed or denied.
    Executed,
    Denied,
}

impl ToldKind {
    const ALL: [ToldKind; 5] =
        [ToldKind::Signed, ToldKind::Held, ToldKind::Port, ToldKind::Executed, ToldKind::Denied];

    fn of(what: &str) -> ToldKind {
        match what.split_once('=') {
            Some(("signed", _)) => ToldKind::Signed,
            Some(("held" | "undo", _)) => ToldKind::Held,
            Some(("port", _)) => ToldKind::Port,
            _ if ExecWords::is_one(what) => ToldKind::Executed,
            _ => ToldKind::Denied,
        }
    }

    /// Returns the most bytes of a record that this kind takes.
    fn room(self) -> usize {
        match self {
            ToldKind::Signed => 640,
            ToldKind::Held | ToldKind::Port => 448,
            ToldKind::Executed => 256,
            ToldKind::Denied => ROOM,
        }
    }

    /// Returns the word for what of this kind can't be told. None: it is counted apart.
    fn word(self) -> Option<&'static str> {
        match self {
            ToldKind::Signed => Some("signed"),
            ToldKind::Held => Some("held"),
            ToldKind::Port => Some("port"),
            ToldKind::Executed | ToldKind::Denied => None,
        }
    }
}

/// The file beside the output for what has no room in the record: signatures, what was held back, and programs.
struct MoreTold {
    path: PathBuf,
    /// None: nothing has been written.
    file: Option<File>,
    /// The bytes of whole lines.
    length: u64,
}

impl MoreTold {
    fn beside(output: &Path) -> MoreTold {
        MoreTold { path: output.with_extension("told"), file: None, length: 0 }
    }

    fn write(&mut self, what: &str) -> io::Result<()> {
        let line = format!("{what}\n");
        if self.length + line.len() as u64 > MOST_BYTES {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let mut options = OpenOptions::new();
                let options = options.append(true).create_new(true).mode(0o600);
                none.insert(options.open(&self.path)?)
            }
        };
        let written = file.write_all(line.as_bytes());
        match written {
            Ok(()) => self.length += line.len() as u64,
            // A part of a line would spoil the next one.
            Err(_) => file.set_len(self.length)?,
        }
        written
    }
}

pub struct Denials {
    enforced: String,
    /// The socket on which denials arrive. None: no more will arrive.
    line: Option<OwnedFd>,
    /// The host, which serves the proxy; readable once it has ended. None: its end can't be seen.
    host: Option<OwnedFd>,
    known: Vec<String>,
    more: MoreTold,
    /// The programs that are told, and how many are not.
    executed: ExecWords,
    /// The word of the last program that was denied; empty: none was.
    denied_program: String,
    /// Whether programs are in the file, where later ones follow them.
    has_more_executed: bool,
    /// How much of each kind could be written down nowhere.
    lost: [u64; ToldKind::ALL.len()],
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
    /// Enforcement and denials in the format of a result, and `lost=signed,2` for what is told nowhere; empty:
    /// there is no sandbox.
    pub text: String,
    /// The number of denials that do not fit into `text`.
    pub more: u64,
    /// Whether there may be other denials.
    pub is_unheard: bool,
    /// Whether the host is gone, or may be.
    pub is_alone: bool,
}

impl Denials {
    /// `output`: the file of the command's output.
    pub fn new(
        enforced: String,
        line: Option<OwnedFd>,
        host: Option<OwnedFd>,
        output: &Path,
    ) -> Denials {
        Denials {
            enforced,
            is_unheard: line.is_none(),
            line,
            host,
            known: Vec::new(),
            more: MoreTold::beside(output),
            executed: ExecWords::default(),
            denied_program: String::new(),
            has_more_executed: false,
            lost: [0; ToldKind::ALL.len()],
        }
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

    /// Reads all denials. Returns the word of the last program that was denied; empty: none was.
    pub fn denied_program(&mut self) -> String {
        self.read();
        self.denied_program.clone()
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
        let (mut text, mut more) = (self.enforced.clone(), 0);
        for (kind, lost) in ToldKind::ALL.into_iter().zip(self.lost) {
            let (mut used, mut lost) = (0, lost);
            for what in self.all_of(kind) {
                let length = 1 + what.len();
                if used + length <= kind.room() && text.len() + length <= ROOM {
                    text.extend([" ", what]);
                    used += length;
                } else {
                    lost += 1;
                }
            }
            match kind.word() {
                Some(word) if lost > 0 => text.push_str(&format!(" lost={word},{lost}")),
                None if kind == ToldKind::Executed => {
                    self.executed.more(lost).iter().for_each(|word| text.extend([" ", word]));
                }
                Some(_) => {}
                None => more = lost,
            }
        }
        Report { text, more, is_unheard: self.is_unheard, is_alone: !self.has_host() }
    }

    fn all_of(&self, kind: ToldKind) -> impl Iterator<Item = &str> {
        self.known.iter().map(String::as_str).filter(move |what| ToldKind::of(what) == kind)
    }

    /// Returns whether the record has room for one more of its kind.
    fn has_room(&self, kind: ToldKind, what: &str) -> bool {
        let used: usize = self.all_of(kind).map(|other| 1 + other.len()).sum();
        used + 1 + what.len() <= kind.room()
    }

    fn note(&mut self, what: &str) {
        if ExecWords::is_one(what) {
            return self.note_program(what);
        }
        if let Some(PortNews::Closed(word)) = PortNews::of(what) {
            return self.known.retain(|known| known != word);
        }
        if self.known.iter().any(|known| known == what) {
            return;
        }
        let kind = ToldKind::of(what);
        match kind {
            ToldKind::Signed | ToldKind::Held if !self.has_room(kind, what) => {
                if self.more.write(what).is_err() {
                    self.lose(kind);
                }
            }
            ToldKind::Signed | ToldKind::Held => self.known.push(what.to_owned()),
            ToldKind::Port | ToldKind::Denied if self.all_of(kind).count() < MOST => {
                self.known.push(what.to_owned());
            }
            ToldKind::Port => self.lose(kind),
            ToldKind::Executed => {}
            ToldKind::Denied => self.is_unheard = true,
        }
    }

    /// Takes note of a program; one may be executed often.
    fn note_program(&mut self, what: &str) {
        if why_denied(what).is_some() {
            self.denied_program = what.to_owned();
        }
        if !self.executed.admit(what) {
            return;
        }
        if !self.has_more_executed && self.has_room(ToldKind::Executed, what) {
            return self.known.push(what.to_owned());
        }
        self.has_more_executed = true;
        if self.more.write(what).is_err() {
            self.executed.lose();
        }
    }

    fn lose(&mut self, kind: ToldKind) {
        self.lost.get_mut(kind as usize).into_iter().for_each(|lost| *lost += 1);
    }

    fn has_host(&self) -> bool {
        let Some(host) = &self.host else { return false };
        signals::wait([Some((host.as_fd(), libc::POLLIN))], Some(Duration::ZERO)) == [0]
    }
}

#[cfg(test)]
mod tests;
