//! The record of what was accepted already: five fields, each ended by NUL, for every path.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat};

use crate::node::StampedNode;

const NAME: &str = "settled";

/// What became of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettledState {
    /// This was put there.
    Put(StampedNode),
    /// It was removed; its handle, by which a file of another name is known to be it.
    Gone(Vec<u8>),
    /// Its change was dropped.
    Dropped,
}

/// The record, read, and open to be added to.
#[derive(Debug)]
pub(crate) struct SettledLog {
    file: File,
    states: HashMap<(usize, PathBuf), SettledState>,
    handles: Vec<Vec<u8>>,
}

impl SettledLog {
    pub fn open(directory: BorrowedFd) -> io::Result<Self> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file: OwnedFd = openat(directory, NAME, flags, Mode::from_raw_mode(0o600))?;
        let mut log = Self { file: file.into(), states: HashMap::new(), handles: Vec::new() };
        let mut bytes = Vec::new();
        log.file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if whole < bytes.len() {
            // Its writer was killed in the middle of it.
            log.file.set_len(whole as u64)?;
        }
        for record in bytes.get(..whole).unwrap_or_default().split(|byte| *byte == b'\n') {
            log.read_record(record);
        }
        Ok(log)
    }

    fn read_record(&mut self, record: &[u8]) {
        let mut fields = record.split(|byte| *byte == 0);
        let mut next = || fields.next().unwrap_or_default();
        let (word, root, path, value) = (next(), next(), next(), next());
        let Some(root) = std::str::from_utf8(root).ok().and_then(|text| text.parse().ok()) else {
            return;
        };
        let Some(path) = unhex(path) else { return };
        let state = match word {
            b"put" => std::str::from_utf8(value).ok().and_then(stamp_from).map(SettledState::Put),
            b"gone" => unhex(value).map(SettledState::Gone),
            b"dropped" => Some(SettledState::Dropped),
            _ => None,
        };
        if let Some(state) = state {
            self.keep(root, std::ffi::OsString::from_vec(path).into(), state);
        }
    }

    fn keep(&mut self, root: usize, path: PathBuf, state: SettledState) {
        if let SettledState::Gone(handle) = &state
            && !handle.is_empty()
        {
            self.handles.push(handle.clone());
        }
        self.states.insert((root, path), state);
    }

    /// Adds what became of a path.
    pub fn add(&mut self, root: usize, path: &Path, state: SettledState) -> io::Result<()> {
        let (word, value) = match &state {
            SettledState::Put(StampedNode { device, inode, changed: (seconds, rest) }) => {
                ("put", format!("{device}:{inode}:{seconds}:{rest}"))
            }
            SettledState::Gone(handle) => ("gone", hex(handle)),
            SettledState::Dropped => ("dropped", String::new()),
        };
        // In hexadecimal, so that a name with a line feed ends no record.
        let record = format!("{word}\0{root}\0{}\0{value}\0\n", hex(path.as_os_str().as_bytes()));
        self.file.write_all(record.as_bytes())?;
        self.keep(root, path.to_owned(), state);
        Ok(())
    }

    /// Whether nothing was accepted or dropped yet.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Whether what is there is what was put there.
    pub fn has_put(&self, root: usize, path: &Path, node: &StampedNode) -> bool {
        self.states.get(&(root, path.to_owned())) == Some(&SettledState::Put(*node))
    }

    /// Whether a file with this handle was removed when a deletion was accepted.
    pub fn has_removed(&self, handle: &[u8]) -> bool {
        self.handles.iter().any(|one| one == handle)
    }

    /// Returns the paths of a root where something was put, sorted.
    pub fn put_in(&self, root: usize) -> Vec<(PathBuf, StampedNode)> {
        let mut found: Vec<_> = self
            .states
            .iter()
            .filter_map(|((at, path), state)| match state {
                SettledState::Put(node) if *at == root => Some((path.clone(), *node)),
                _ => None,
            })
            .collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    }
}

fn stamp_from(text: &str) -> Option<StampedNode> {
    let mut parts = text.split(':');
    let device = parts.next()?.parse().ok()?;
    let inode = parts.next()?.parse().ok()?;
    let changed = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(StampedNode { device, inode, changed })
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let pairs = (0..text.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}
