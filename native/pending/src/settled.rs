//! The record of what was accepted already: five fields, each ended by NUL, for every path.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, Stat, openat};

use crate::node::{StampedNode, is_directory, stamp};

const NAME: &str = "settled";

/// What became of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettledState {
    /// This was put there.
    Put(StampedNode),
    /// It was removed.
    Gone,
    /// Its change was dropped.
    Dropped,
}

/// A file that is about to get its name, which changes its time of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BegunNode {
    device: u64,
    inode: u64,
    size: i64,
    modified: (i64, i64),
}

impl From<&Stat> for BegunNode {
    fn from(stat: &Stat) -> Self {
        let modified = (stat.st_mtime, stat.st_mtime_nsec as i64);
        Self { device: stat.st_dev, inode: stat.st_ino, size: stat.st_size, modified }
    }
}

/// The record, read, and open to be added to.
#[derive(Debug)]
pub(crate) struct SettledLog {
    file: File,
    states: HashMap<(usize, PathBuf), SettledState>,
    /// What was about to be put there, and is there if its process was killed then.
    begun: HashMap<(usize, PathBuf), Vec<BegunNode>>,
    handles: Vec<Vec<u8>>,
    /// What was about to be removed, and may be so in part if its process was killed then.
    going: HashSet<(usize, PathBuf)>,
    /// Files that have got or lost a name since, and when: by device and inode.
    renamed: HashMap<(u64, u64), (i64, i64)>,
    /// Files that are about to lose a name.
    naming: HashMap<(u64, u64), BegunNode>,
    /// The directories in which something was settled.
    above: HashSet<(usize, PathBuf)>,
}

impl SettledLog {
    pub fn open(directory: BorrowedFd) -> io::Result<Self> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file: OwnedFd = openat(directory, NAME, flags, Mode::from_raw_mode(0o600))?;
        let (states, begun) = (HashMap::new(), HashMap::new());
        let (handles, renamed, naming) = (Vec::new(), HashMap::new(), HashMap::new());
        let (going, above) = (HashSet::new(), HashSet::new());
        let file = file.into();
        let mut log = Self { file, states, begun, handles, going, renamed, naming, above };
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
        let Some(path) = unhex(path).map(|path| PathBuf::from(OsString::from_vec(path))) else {
            return;
        };
        if word == b"begun" {
            if let Some(node) = std::str::from_utf8(value).ok().and_then(begun_from) {
                self.begun.entry((root, path)).or_default().push(node);
            }
            return;
        }
        if word == b"naming" {
            let node = std::str::from_utf8(value).ok().and_then(begun_from);
            self.naming.extend(node.map(|it| ((it.device, it.inode), it)));
            return;
        }
        if word == b"named" {
            let node = std::str::from_utf8(value).ok().and_then(stamp_from);
            self.renamed.extend(node.map(|it| ((it.device, it.inode), it.changed)));
            return;
        }
        if word == b"going" {
            self.keep_going(root, path, unhex(value).unwrap_or_default());
            return;
        }
        let state = match word {
            b"put" => std::str::from_utf8(value).ok().and_then(stamp_from).map(SettledState::Put),
            b"gone" => Some(SettledState::Gone),
            b"dropped" => Some(SettledState::Dropped),
            _ => None,
        };
        if let Some(state) = state {
            self.keep(root, path, state);
        }
    }

    fn keep(&mut self, root: usize, path: PathBuf, state: SettledState) {
        self.begun.remove(&(root, path.clone()));
        self.going.remove(&(root, path.clone()));
        for above in path.ancestors().skip(1) {
            if !self.above.insert((root, above.to_owned())) {
                break;
            }
        }
        self.states.insert((root, path), state);
    }

    /// Adds what became of a path.
    pub fn add(&mut self, root: usize, path: &Path, state: SettledState) -> io::Result<()> {
        let (word, value) = match &state {
            SettledState::Put(node) => ("put", stamp_text(node)),
            SettledState::Gone => ("gone", String::new()),
            SettledState::Dropped => ("dropped", String::new()),
        };
        self.write(word, root, path, &value)?;
        self.keep(root, path.to_owned(), state);
        Ok(())
    }

    /// Adds that this file is about to be there, by its name, its size and the time of its content.
    pub fn begin(&mut self, root: usize, path: &Path, file: &Stat) -> io::Result<()> {
        let node = BegunNode::from(file);
        self.write("begun", root, path, &begun_text(&node))?;
        self.begun.entry((root, path.to_owned())).or_default().push(node);
        Ok(())
    }

    /// Adds that this is about to be removed; its handle, by which a file of another name is known to be it.
    pub fn begin_removal(&mut self, root: usize, path: &Path, handle: Vec<u8>) -> io::Result<()> {
        self.write("going", root, path, &hex(&handle))?;
        self.keep_going(root, path.to_owned(), handle);
        Ok(())
    }

    fn keep_going(&mut self, root: usize, path: PathBuf, handle: Vec<u8>) {
        if !handle.is_empty() {
            self.handles.push(handle);
        }
        self.going.insert((root, path));
    }

    /// Whether a removal was begun of this.
    pub fn is_going(&self, root: usize, path: &Path) -> bool {
        self.going.contains(&(root, path.to_owned()))
    }

    /// Adds that a file with several names is about to lose one.
    pub fn begin_renaming(&mut self, file: &Stat) -> io::Result<()> {
        let node = BegunNode::from(file);
        self.write("naming", 0, Path::new(""), &begun_text(&node))?;
        self.naming.insert((node.device, node.inode), node);
        Ok(())
    }

    /// Adds that a file with several names has got or lost one, which is a change of the others, too.
    pub fn add_renamed(&mut self, file: &Stat) -> io::Result<()> {
        let node = stamp(file);
        self.write("named", 0, Path::new(""), &stamp_text(&node))?;
        self.renamed.insert((node.device, node.inode), node.changed);
        Ok(())
    }

    /// Whether the last change of a file is one of its names here.
    pub fn has_renamed(&self, file: &Stat) -> bool {
        let node = stamp(file);
        let key = (node.device, node.inode);
        self.renamed.get(&key) == Some(&node.changed)
            || self.naming.get(&key) == Some(&BegunNode::from(file))
    }

    fn write(&mut self, word: &str, root: usize, path: &Path, value: &str) -> io::Result<()> {
        // In hexadecimal, so that a name with a line feed ends no record.
        let path = hex(path.as_os_str().as_bytes());
        self.file.write_all(format!("{word}\0{root}\0{path}\0{value}\0\n").as_bytes())
    }

    /// Returns where something was begun and not finished, since its process was killed.
    pub fn unfinished(&self) -> impl Iterator<Item = &(usize, PathBuf)> {
        self.begun.keys()
    }

    /// Whether nothing was accepted or dropped yet.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty() && self.begun.is_empty()
    }

    /// Whether what is there is what was put there. Of a directory: that directory, whatever is in it.
    pub fn has_put(&self, root: usize, path: &Path, there: &Stat) -> bool {
        let key = (root, path.to_owned());
        let begun = self.begun.get(&key);
        if begun.is_some_and(|begun| begun.contains(&BegunNode::from(there))) {
            return true;
        }
        match self.states.get(&key) {
            Some(SettledState::Put(node)) if is_directory(there) => {
                (node.device, node.inode) == (there.st_dev, there.st_ino)
            }
            Some(SettledState::Put(node)) => *node == stamp(there),
            _ => false,
        }
    }

    /// Whether something in this directory was settled, which changes the directory's time of change.
    pub fn has_below(&self, root: usize, path: &Path) -> bool {
        self.above.contains(&(root, path.to_owned()))
    }

    /// Whether a file with this handle was removed when a deletion was accepted.
    pub fn has_removed(&self, handle: &[u8]) -> bool {
        self.handles.iter().any(|one| one == handle)
    }

    /// Returns the paths of a root where something was put, or was about to be.
    pub fn put_in(&self, root: usize) -> BTreeSet<PathBuf> {
        let is_put = |(_, state): &(_, &SettledState)| matches!(state, SettledState::Put(_));
        let put = self.states.iter().filter(is_put).map(|(key, _)| key);
        put.chain(self.begun.keys())
            .filter(|(at, _)| *at == root)
            .map(|(_, path)| path.clone())
            .collect()
    }
}

fn stamp_text(node: &StampedNode) -> String {
    let StampedNode { device, inode, changed: (seconds, rest) } = node;
    format!("{device}:{inode}:{seconds}:{rest}")
}

fn stamp_from(text: &str) -> Option<StampedNode> {
    let mut parts = text.split(':');
    let device = parts.next()?.parse().ok()?;
    let inode = parts.next()?.parse().ok()?;
    let changed = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(StampedNode { device, inode, changed })
}

fn begun_text(node: &BegunNode) -> String {
    let BegunNode { device, inode, size, modified: (seconds, rest) } = node;
    format!("{device}:{inode}:{size}:{seconds}:{rest}")
}

fn begun_from(text: &str) -> Option<BegunNode> {
    let mut parts = text.split(':');
    let (device, inode) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let size = parts.next()?.parse().ok()?;
    let modified = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(BegunNode { device, inode, size, modified })
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
