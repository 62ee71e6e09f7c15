//! A revert under way: what its steps share.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, readlinkat};
use rustix::io::Errno;

use crate::node::{NodeId, NodeStatus, look};
use crate::open::open_node;
use crate::reader::journals::OpenJournal;
use crate::reader::past::{NameKey, Past};
use crate::reader::paths::{backward, forward};
use crate::reader::present::PresentState;
use crate::reader::reach::DirectoryReach;
use crate::record::{LogRecord, NodeRecord};
use crate::revert::marks::Marks;
use crate::revert::staging::StagingPlaces;

/// What the steps of a revert share.
pub(crate) struct Acting<'a> {
    pub journals: &'a [OpenJournal],
    pub past: Past,
    pub present: PresentState,
    pub reach: DirectoryReach,
    pub marks: Marks,
    pub staging: StagingPlaces,
    /// Where nodes from before are that were put aside.
    pub aside: HashMap<NodeId, Vec<u8>>,
    /// The names that each node had.
    pub names_of: HashMap<NodeId, Vec<NameKey>>,
    /// What is there again.
    pub reverted: Vec<Vec<u8>>,
    pub conflicts: Vec<(Vec<u8>, String)>,
    /// Nodes that were put where they belong.
    pub placed: HashSet<NodeId>,
}

impl Acting<'_> {
    /// Opens a directory, and lets its owner change it. Returns it with the path that it has.
    pub fn directory(&mut self, id: NodeId) -> Result<(OwnedFd, Vec<u8>), Errno> {
        let Acting { past, reach, marks, .. } = self;
        let mut before = |status: &NodeStatus, path: &[u8]| mark_opened(marks, status, path);
        let found = reach.directory(past, id, Some(&mut before))?.ok_or(Errno::NOENT)?;
        let file = found.try_clone_to_owned().map_err(|_| Errno::MFILE)?;
        let path = path_of(file.as_fd())?;
        reach.make_writable(file.as_fd(), &path, &mut before)?;
        Ok((file, path))
    }

    /// Opens the directory above a path, and lets its owner change it.
    pub fn above(&mut self, path: &[u8]) -> Result<(OwnedFd, CString), Errno> {
        let (above, name) = crate::reader::paths::split(path).ok_or(Errno::INVAL)?;
        let name = CString::new(name).map_err(|_| Errno::INVAL)?;
        let file = self.open(above)?;
        self.let_change(file.as_fd(), above)?;
        Ok((file, name))
    }

    /// Opens a path to look at.
    pub fn open(&mut self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let Acting { reach, marks, .. } = self;
        reach.open(path, &mut |status, path| mark_opened(marks, status, path))
    }

    /// Lets the owner of a directory change it.
    pub fn let_change(&mut self, directory: BorrowedFd, path: &[u8]) -> Result<(), Errno> {
        let Acting { reach, marks, .. } = self;
        reach.make_writable(directory, path, &mut |status, path| mark_opened(marks, status, path))
    }

    /// Opens a node from before, wherever it is.
    pub fn find(&mut self, id: NodeId) -> Option<(OwnedFd, NodeStatus)> {
        for key in self.names_of.get(&id).cloned().unwrap_or_default() {
            let file = self.directory(key.directory).ok().and_then(|(directory, _)| {
                let name = CString::new(key.name.clone()).ok()?;
                open_node(directory.as_fd(), &name).ok()
            });
            if let Some(found) = file.and_then(|file| self.verified(id, file)) {
                return Some(found);
            }
        }
        for path in self.paths_of(id) {
            if let Some(found) = self.open(&path).ok().and_then(|file| self.verified(id, file)) {
                return Some(found);
            }
        }
        None
    }

    fn verified(&self, id: NodeId, file: OwnedFd) -> Option<(OwnedFd, NodeStatus)> {
        let status = look(file.as_fd()).ok()?;
        (self.past.known(status.id) == id).then_some((file, status))
    }

    /// Returns the paths at which a node may be.
    fn paths_of(&self, id: NodeId) -> Vec<Vec<u8>> {
        let mut paths: Vec<Vec<u8>> = self.reach.placed.get(&id).cloned().into_iter().collect();
        let spots = self.present.spots.get(&id).into_iter().flatten();
        for spot in spots {
            paths.push(spot.path.clone());
            paths.push(backward(&spot.path, self.past.moves.iter().rev().flatten()));
        }
        if let Some(node) = self.past.nodes.get(&id) {
            let moves = &self.past.moves;
            let (earlier, later) = moves.split_at(node.moves.min(moves.len()));
            paths.push(backward(&node.record.path, earlier.iter().rev().flatten()));
            paths.push(forward(&node.record.path, later.iter().flatten()));
        }
        paths.extend(self.aside.get(&id).cloned());
        paths
    }

    /// Notes that something could not be done.
    pub fn failed(&mut self, path: &[u8], errno: Errno) {
        self.conflicts.push((path.to_vec(), std::io::Error::from(errno).to_string()));
    }
}

/// Writes down how a directory was before its mode is changed for a while.
pub(crate) fn mark_opened(marks: &mut Marks, status: &NodeStatus, path: &[u8]) {
    let (target, attributes) = (Vec::new(), Vec::new());
    let record = NodeRecord { status: *status, path: path.to_vec(), target, attributes };
    // Without it the mode would only not be known to a revert that goes on after this one was killed.
    let _ = marks.add(&LogRecord::Node(record));
    let _ = marks.add(&LogRecord::NodeBegun(status.id));
}

/// Returns the path that an open directory has.
pub(crate) fn path_of(directory: BorrowedFd) -> Result<Vec<u8>, Errno> {
    let link = format!("/proc/self/fd/{}", directory.as_raw_fd());
    Ok(readlinkat(CWD, link, Vec::new())?.into_bytes())
}
