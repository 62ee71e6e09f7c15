//! Settings that a command has removed although every commit of the user's history has them. Git removes
//! a file before it writes another one. If nothing has come in its place when the process has ended, or
//! after a while, the file is put back.

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
    pub mode: Mode,
    pub rights: u32,
    pub content: Vec<u8>,
    /// The cradle of the command.
    pub cradle: Option<i32>,
    /// The process that has removed it. None: it has ended.
    pub process: Option<OwnedFd>,
    pub until: Instant,
}

impl Removals {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn add(&mut self, path: &Path, removal: Removal) {
        self.all.insert(path.to_owned(), removal);
    }

    /// Something has come in its place.
    pub fn forget(&mut self, path: &Path) {
        self.all.remove(path);
    }

    /// Returns whether something has been removed below this path.
    pub fn has_below(&self, path: &Path) -> bool {
        self.all.keys().any(|removed| removed.starts_with(path) && removed != path)
    }

    /// Takes those that are to be put back.
    pub fn due(&mut self) -> Vec<(PathBuf, Removal)> {
        let now = Instant::now();
        self.all.extract_if(|_, removal| removal.until <= now || removal.has_ended()).collect()
    }
}

impl Removal {
    fn has_ended(&self) -> bool {
        let Some(process) = &self.process else { return true };
        let [ready] = signals::wait([Some((process.as_fd(), libc::POLLIN))], Some(Duration::ZERO));
        ready != 0
    }
}
