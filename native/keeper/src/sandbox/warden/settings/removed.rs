//! Settings that a command has removed although the user's history may have them in every commit. Git
//! removes a file before it writes another one. If nothing has come in its place when the process has ended,
//! or after a while, and every commit has it, the file is put back.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::history::Mode;
use crate::signals;

/// How long nothing may be in its place.
pub const LONGEST: Duration = Duration::from_secs(2);

/// The removed settings, by their paths.
#[derive(Default)]
pub struct Removals {
    all: HashMap<PathBuf, Removal>,
}

pub struct Removal {
    pub repository: usize,
    /// The path in the working tree.
    pub tracked: PathBuf,
    pub mode: Mode,
    pub rights: u32,
    pub content: Vec<u8>,
    /// The cradle of the command.
    pub cradle: Option<i32>,
    /// The process that has removed it. None: it has ended.
    pub process: Option<OwnedFd>,
    pub until: Instant,
}

/// Where a removed setting was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedName {
    pub path: PathBuf,
    pub repository: usize,
    pub tracked: PathBuf,
    until: Instant,
}

impl Removals {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn add(&mut self, path: &Path, removal: Removal) {
        self.all.insert(path.to_owned(), removal);
    }

    /// Something has come in its place, or it need not be put back.
    pub fn forget(&mut self, path: &Path) {
        self.all.remove(path);
    }

    /// Takes this removal, unless it has been forgotten.
    pub fn take(&mut self, name: &RemovedName) -> Option<Removal> {
        self.all.get(&name.path).filter(|removal| removal.until == name.until)?;
        self.all.remove(&name.path)
    }

    /// Returns what has been removed below this path.
    pub fn below(&self, path: &Path) -> Vec<RemovedName> {
        self.names(|removed, _| removed.starts_with(path) && removed != path)
    }

    /// Returns those in whose place something should have come by now.
    pub fn due(&self) -> Vec<RemovedName> {
        let now = Instant::now();
        self.names(|_, removal| removal.until <= now || removal.has_ended())
    }

    /// Returns all.
    pub fn all(&self) -> Vec<RemovedName> {
        self.names(|_, _| true)
    }

    fn names(&self, is_meant: impl Fn(&Path, &Removal) -> bool) -> Vec<RemovedName> {
        let meant = self.all.iter().filter(|(path, removal)| is_meant(path, removal));
        let name = |(path, removal): (&PathBuf, &Removal)| RemovedName {
            path: path.clone(),
            repository: removal.repository,
            tracked: removal.tracked.clone(),
            until: removal.until,
        };
        meant.map(name).collect()
    }
}

impl Removal {
    fn has_ended(&self) -> bool {
        let Some(process) = &self.process else { return true };
        let [ready] = signals::wait([Some((process.as_fd(), libc::POLLIN))], Some(Duration::ZERO));
        ready != 0
    }
}
