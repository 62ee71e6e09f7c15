//! Directories in which a revert puts things meanwhile: one on each file system, beside what it changes.

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use crate::node::NodeId;
use crate::reader::paths::depth;
use crate::revert::plan::Item;

/// The directories, by device.
#[derive(Debug, Default)]
pub(crate) struct StagingPlaces {
    pub(super) by_device: HashMap<u64, (OwnedFd, Vec<u8>)>,
    /// Of which directory it is made, for each device: the highest that is changed, which stays where it is.
    pub(super) homes: HashMap<u64, (usize, NodeId)>,
    pub(super) count: u64,
}

impl StagingPlaces {
    /// Chooses where the directories will be.
    pub fn choose(&mut self, items: &[Item], is_there: impl Fn(NodeId) -> bool) {
        for item in items.iter().filter(|item| is_there(item.key.directory)) {
            let (device, depth) = (item.key.directory.device, depth(&item.path_now));
            let home = self.homes.entry(device).or_insert((depth, item.key.directory));
            if depth < home.0 {
                *home = (depth, item.key.directory);
            }
        }
    }

    /// Returns the paths of the directories.
    pub fn paths(&self) -> Vec<Vec<u8>> {
        self.by_device.values().map(|(_, path)| path.clone()).collect()
    }
}
