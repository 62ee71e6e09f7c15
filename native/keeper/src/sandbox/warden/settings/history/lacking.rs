//! What a commit does not have, asked for a limited time.

use std::path::Path;
use std::time::{Duration, Instant};

use super::{History, Objects};

impl History {
    /// Returns whether a commit has nothing at this path, but reads no longer than this. None: it is not known
    /// yet.
    pub fn lacks_within(&mut self, path: &Path, time: Duration) -> Option<bool> {
        let until = Instant::now() + time;
        let mut objects = None;
        while !self.is_lacking(path) && !self.ahead.is_empty() {
            if Instant::now() >= until {
                return None;
            }
            if objects.is_none() {
                objects = Objects::open(&self.program, &self.repository).ok();
            }
            let is_read = objects.as_mut().is_some_and(|objects| self.advance(objects).is_ok());
            if !is_read {
                return Some(false);
            }
        }
        Some(self.is_lacking(path))
    }

    fn is_lacking(&self, path: &Path) -> bool {
        self.known.entries(&self.names, path).any(|entry| entry.is_none())
    }
}
