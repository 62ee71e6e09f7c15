//! How things are now: what has the names that were touched, and where the nodes from before are.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rustix::fs::{CWD, readlinkat};
use rustix::io::Errno;

use crate::node::{NodeId, NodeKind, NodeStatus, look, look_for};
use crate::reader::past::{NameKey, Past};
use crate::reader::paths::{backward, forward, join};
use crate::reader::reach::{BeforeOpening, DirectoryReach, open_path};
use crate::reader::walk::{TreeWalk, Walked};

/// What has a name.
#[derive(Debug)]
pub(crate) struct Occupied {
    /// The path that the name has.
    pub path: Vec<u8>,
    pub status: Option<NodeStatus>,
    /// The directory itself is not where it should be.
    pub is_lost: bool,
}

/// A place where a node from before is.
#[derive(Debug, Clone)]
pub(crate) struct FoundPlace {
    pub path: Vec<u8>,
    /// The name, if it is one that was touched.
    pub name: Option<NameKey>,
    pub status: NodeStatus,
    /// It is below a directory that the commands made, or where a revert puts things.
    pub is_inside: bool,
}

/// How things are.
#[derive(Debug, Default)]
pub(crate) struct PresentState {
    pub names: HashMap<NameKey, Occupied>,
    /// Names whose directory can't be looked into.
    pub unseen: HashMap<NameKey, Errno>,
    pub spots: HashMap<NodeId, Vec<FoundPlace>>,
    /// What is below directories that the commands made, by the names of those.
    pub below: HashMap<NameKey, Walked>,
    /// What an interrupted revert has left in its directory.
    pub staged: Vec<(NodeStatus, Vec<u8>)>,
}

/// How far it is looked.
pub(crate) struct Sight<'a> {
    /// The most entries below directories that were made; none: only at names and nodes.
    pub entries: Option<usize>,
    /// Lets it into directories that their owner may not enter.
    pub before_opening: Option<BeforeOpening<'a>>,
}

/// Looks at all that journals speak of. The ids are those of the nodes from before.
pub(crate) fn look_around(
    past: &Past,
    reach: &mut DirectoryReach,
    mut sight: Sight,
) -> PresentState {
    let mut present = PresentState::default();
    let wanted = past.nodes_before();
    for key in past.names.keys() {
        let before = sight.before_opening.as_mut().map(|before| &mut **before as BeforeOpening);
        match occupant(past, reach, key, before) {
            Ok(occupied) => {
                if let Some(status) = occupied.status.filter(|found| wanted.contains(&found.id)) {
                    present.add_spot(status, &occupied.path, Some(key));
                }
                present.names.insert(key.clone(), occupied);
            }
            Err(errno) => _ = present.unseen.insert(key.clone(), errno),
        }
    }
    present.look_at_nodes(past, reach, &mut sight);
    if sight.entries.is_some() {
        present.look_at_staged(past, reach, &wanted, &mut sight);
        present.look_below(past, reach, &wanted, &mut sight);
    }
    present.forget_opening(past, reach);
    present
}

fn occupant(
    past: &Past,
    reach: &mut DirectoryReach,
    key: &NameKey,
    mut before: Option<BeforeOpening>,
) -> Result<Occupied, Errno> {
    let name = CString::new(key.name.clone()).map_err(|_| Errno::INVAL)?;
    let again = before.as_mut().map(|before| &mut **before as BeforeOpening);
    let Some(directory) = reach.directory(past, key.directory, again)? else {
        return Ok(Occupied { path: past.paths_of(key).1, status: None, is_lost: true });
    };
    let above = path_of(directory)?;
    let path = join(&above, &key.name);
    let found = match (look_for(directory, &name), before) {
        (Err(Errno::ACCESS), Some(before)) => {
            let directory = directory.try_clone_to_owned().map_err(|_| Errno::MFILE)?;
            reach.make_writable(directory.as_fd(), &above, before)?;
            look_for(directory.as_fd(), &name)?
        }
        (found, _) => found?,
    };
    Ok(Occupied { path, status: found.map(|status| past.as_known(status)), is_lost: false })
}

/// Returns the path that an open directory has now.
fn path_of(directory: BorrowedFd) -> Result<Vec<u8>, Errno> {
    let link = format!("/proc/self/fd/{}", directory.as_raw_fd());
    Ok(readlinkat(CWD, link, Vec::new())?.into_bytes())
}

impl PresentState {
    /// Returns what has a name.
    pub fn status_of(&self, key: &NameKey) -> Option<&NodeStatus> {
        self.names.get(key).and_then(|occupied| occupied.status.as_ref())
    }

    /// Returns where an interrupted revert has put nodes from before.
    pub fn staged_nodes(&self, past: &Past) -> HashMap<NodeId, Vec<u8>> {
        let wanted = past.nodes_before();
        let staged = self.staged.iter().filter(|(status, _)| wanted.contains(&status.id));
        staged.map(|(status, path)| (status.id, path.clone())).collect()
    }

    /// Notes a place of a node from before.
    pub fn add_spot(&mut self, status: NodeStatus, path: &[u8], name: Option<&NameKey>) {
        let spots = self.spots.entry(status.id).or_default();
        if !spots.iter().any(|spot| spot.path == path) {
            let (path, name) = (path.to_vec(), name.cloned());
            spots.push(FoundPlace { path, name, status, is_inside: false });
        }
    }

    fn add_inside(&mut self, status: NodeStatus, path: &[u8]) {
        let spots = self.spots.entry(status.id).or_default();
        match spots.iter_mut().find(|spot| spot.path == path) {
            Some(spot) => spot.is_inside = true,
            None => {
                spots.push(FoundPlace { path: path.to_vec(), name: None, status, is_inside: true })
            }
        }
    }

    /// Directories that were let be entered for this are told as they were before that.
    fn forget_opening(&mut self, past: &Past, reach: &DirectoryReach) {
        let spots = self.spots.values_mut().flatten().map(|spot| &mut spot.status);
        let names = self.names.values_mut().filter_map(|occupied| occupied.status.as_mut());
        let opened = reach.opened.iter().map(|(id, (status, _))| (past.known(*id), status));
        let opened: HashMap<NodeId, &NodeStatus> = opened.collect();
        for status in spots.chain(names) {
            if let Some(before) = opened.get(&status.id) {
                (status.mode, status.changed) = (before.mode, before.changed);
            }
        }
    }

    /// Looks for nodes by the paths at which they were written down.
    fn look_at_nodes(&mut self, past: &Past, reach: &mut DirectoryReach, sight: &mut Sight) {
        for (id, node) in &past.nodes {
            let (earlier, later) = past.moves.split_at(node.moves.min(past.moves.len()));
            let now = forward(&node.record.path, later.iter().flatten());
            let mut paths = vec![now];
            if past.directories.contains_key(id) || !past.moves.is_empty() {
                paths.push(backward(&node.record.path, earlier.iter().rev().flatten()));
            }
            for path in paths {
                let opened = match sight.before_opening.as_mut() {
                    Some(before) => reach.open(&path, *before),
                    None => open_path(&path),
                };
                let found = opened.and_then(|file| look(file.as_fd()));
                let found = found.map(|status| past.as_known(status));
                if let Ok(status) = found.as_ref()
                    && status.id == *id
                {
                    self.add_spot(*status, &path, None);
                }
            }
        }
    }

    /// Looks at what an interrupted revert has put aside.
    fn look_at_staged(
        &mut self,
        past: &Past,
        reach: &mut DirectoryReach,
        wanted: &HashSet<NodeId>,
        sight: &mut Sight,
    ) {
        let mut seen = HashSet::new();
        for (_, path) in past.stagings.iter().filter(|(_, path)| seen.insert(path.clone())) {
            for (status, path) in entries_of(past, path) {
                if wanted.contains(&status.id) {
                    self.add_inside(status, &path);
                } else if status.kind() == NodeKind::Directory {
                    for (status, path) in
                        walk(past, reach, wanted, sight).below(&path, &status).found
                    {
                        self.add_inside(status, &path);
                    }
                }
                self.staged.push((status, path));
            }
        }
    }

    /// Looks below directories that the commands made.
    fn look_below(
        &mut self,
        past: &Past,
        reach: &mut DirectoryReach,
        wanted: &HashSet<NodeId>,
        sight: &mut Sight,
    ) {
        let is_made = |status: &NodeStatus| {
            status.kind() == NodeKind::Directory && !wanted.contains(&status.id)
        };
        let made = self.names.iter().filter_map(|(key, occupied)| {
            let status = occupied.status.filter(is_made)?;
            Some((key.clone(), occupied.path.clone(), status))
        });
        for (key, path, status) in made.collect::<Vec<_>>() {
            let mut walk = walk(past, reach, wanted, sight);
            let walked = walk.below(&path, &status);
            let left = walk.left;
            sight.entries = Some(left);
            for (status, path) in &walked.found {
                self.add_inside(*status, path);
            }
            self.below.insert(key, walked);
        }
    }
}

fn walk<'a, 'b: 'a>(
    past: &'a Past,
    reach: &'a mut DirectoryReach,
    wanted: &'a HashSet<NodeId>,
    sight: &'a mut Sight<'b>,
) -> TreeWalk<'a, 'a> {
    let left = sight.entries.unwrap_or(0);
    let opening = sight.before_opening.as_mut();
    let opening = opening.map(|before| (reach, &mut **before as BeforeOpening));
    TreeWalk { past, wanted, left, opening }
}

/// Returns what is in a directory.
fn entries_of(past: &Past, path: &[u8]) -> Vec<(NodeStatus, Vec<u8>)> {
    let Ok(directory) = open_path(path) else { return Vec::new() };
    let Ok(names) = crate::reader::walk::names_in(path) else { return Vec::new() };
    let statuses = names.into_iter().filter_map(|name| {
        let status = look_for(directory.as_fd(), &name).ok()??;
        Some((past.as_known(status), join(path, name.to_bytes())))
    });
    statuses.collect()
}
