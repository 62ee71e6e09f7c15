//! The room for held changes, which the workspaces share.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A held change in the directory.
pub struct HeldEntry {
    pub name: String,
    /// When it was written, in seconds and nanoseconds since 1970.
    pub changed: (i64, i64),
    /// All its files, in bytes.
    pub size: u64,
    /// Empty: not known.
    pub workspace: PathBuf,
}

/// What there is beside a new change.
pub struct HeldRoom<'a> {
    entries: Vec<HeldEntry>,
    /// The workspace of the new change.
    own: &'a Path,
    /// The bytes of the new change.
    new: u64,
}

impl HeldRoom<'_> {
    pub fn new(own: &Path, new: u64) -> HeldRoom<'_> {
        HeldRoom { entries: Vec::new(), own, new }
    }

    pub fn add(&mut self, entry: HeldEntry) {
        self.entries.push(entry);
    }

    /// Returns what has to go, so that there is room for the new change: the oldest ones of the workspace
    /// that has the most. So no workspace takes the room of others.
    pub fn displaced(mut self, most: usize, most_bytes: u64) -> Vec<String> {
        self.entries.sort_by_key(|entry| entry.changed);
        let mut names = Vec::new();
        while !self.entries.is_empty() {
            let bytes = self.new + self.entries.iter().map(|entry| entry.size).sum::<u64>();
            let index = if self.entries.len() >= most {
                self.oldest_of_most(1, |_| 1)
            } else if bytes > most_bytes {
                self.oldest_of_most(self.new, |entry| entry.size)
            } else {
                break;
            };
            names.push(self.entries.remove(index).name);
        }
        names
    }

    /// Returns the oldest entry of the workspace that has the most; of equal ones of the new change's own.
    fn oldest_of_most(&self, new: u64, measure: fn(&HeldEntry) -> u64) -> usize {
        let mut shares = HashMap::from([(self.own, new)]);
        for entry in &self.entries {
            *shares.entry(&*entry.workspace).or_default() += measure(entry);
        }
        let share = |entry: &HeldEntry| {
            let workspace = &*entry.workspace;
            (shares.get(workspace).copied(), workspace == self.own)
        };
        let most = self.entries.iter().map(share).max();
        self.entries.iter().position(|entry| Some(share(entry)) == most).unwrap_or_default()
    }
}
