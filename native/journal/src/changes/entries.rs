//! Finds the changes: first what got another name, then what is gone or new, then what is different.

use std::collections::{HashMap, HashSet};

use crate::changes::list::FileChange;
use crate::node::{NodeId, NodeKind, NodeStatus};
use crate::reader::compare::{Differences, differences};
use crate::reader::journals::OpenJournal;
use crate::reader::past::{NameKey, Past, PastNode};
use crate::reader::paths::path_buf;
use crate::reader::present::{FoundPlace, PresentState};
use crate::reader::walk::Walked;

/// What differs between before and now.
pub(crate) struct Differing<'a> {
    journals: &'a [OpenJournal],
    past: &'a Past,
    present: &'a PresentState,
    /// The names that each node from before has lost.
    lost: HashMap<NodeId, Vec<&'a NameKey>>,
    renamed: HashSet<NodeId>,
    /// Names whose new occupant has been told.
    told: HashSet<&'a NameKey>,
    list: Vec<FileChange>,
}

impl<'a> Differing<'a> {
    /// Compares the names.
    pub fn of(journals: &'a [OpenJournal], past: &'a Past, present: &'a PresentState) -> Self {
        let mut lost: HashMap<NodeId, Vec<&NameKey>> = HashMap::new();
        for (key, name) in &past.names {
            let is_seen = present.names.contains_key(key);
            if let Some(was) = name.was
                && is_seen
                && present.status_of(key).map(|now| now.id) != Some(was)
            {
                lost.entry(was).or_default().push(key);
            }
        }
        let (renamed, told, list) = (HashSet::new(), HashSet::new(), Vec::new());
        Differing { journals, past, present, lost, renamed, told, list }
    }

    /// Returns the changes, sorted by path.
    pub fn list(mut self) -> Vec<FileChange> {
        self.tell_renamed();
        self.tell_lost();
        self.tell_created();
        self.tell_different();
        self.list.sort_by(|one, other| one.path().cmp(other.path()));
        self.list
    }

    fn tell_renamed(&mut self) {
        let (present, past) = (self.present, self.past);
        for (id, keys) in &mut self.lost {
            let spots = present.spots.get(id).into_iter().flatten();
            let gained: Vec<&FoundPlace> =
                spots.filter(|spot| is_gained(past, *id, spot)).collect();
            let pairs = keys.len().min(gained.len());
            for (key, spot) in keys.drain(..pairs).zip(gained) {
                let node = past.nodes.get(id);
                let found =
                    node.map(|node| differences(self.journals, node, &spot.path, &spot.status));
                self.list.push(FileChange::Renamed {
                    path: path_buf(spot.path.clone()),
                    from: path_buf(past.paths_of(key).0),
                    kind: spot.status.kind(),
                    is_changed: matches!(found, Some(Ok(Differences { content: true, .. }))),
                });
                self.renamed.insert(*id);
                self.told.extend(
                    spot.name
                        .as_ref()
                        .and_then(|name| past.names.get_key_value(name).map(|(key, _)| key)),
                );
            }
        }
    }

    /// Tells what is gone, or has made place for another file.
    fn tell_lost(&mut self) {
        for (id, keys) in std::mem::take(&mut self.lost) {
            let node = self.past.nodes.get(&id);
            for key in keys {
                let (before, _) = self.past.paths_of(key);
                let now = self.present.names.get(key);
                let Some(node) = node else {
                    let (kind, size_before) = (NodeKind::Other, 0);
                    let path = path_buf(before);
                    self.list.push(FileChange::Deleted { path, kind, size_before });
                    continue;
                };
                let new = now.and_then(|now| Some((now.status?, &now.path)));
                let is_replaced = new.filter(|(status, _)| self.replaces(key, node, status));
                if let Some((status, path)) = is_replaced {
                    self.told.insert(key);
                    self.tell_difference(node, path, &status);
                } else {
                    let (status, path) = (&node.record.status, path_buf(before));
                    let (kind, size_before) = (status.kind(), status.size);
                    self.list.push(FileChange::Deleted { path, kind, size_before });
                }
            }
        }
    }

    /// Returns whether what has the name now stands for what had it.
    fn replaces(&self, key: &NameKey, node: &PastNode, now: &NodeStatus) -> bool {
        let is_alike = node.record.status.mode & libc::S_IFMT == now.mode & libc::S_IFMT;
        is_alike && now.kind() != NodeKind::Directory && !self.told.contains(key)
    }

    fn tell_created(&mut self) {
        for (key, occupied) in &self.present.names {
            let was = self.past.names.get(key).and_then(|name| name.was);
            let Some(status) = occupied.status.filter(|now| Some(now.id) != was) else { continue };
            if self.told.contains(key) {
                continue;
            }
            let (path, kind) = (path_buf(occupied.path.clone()), status.kind());
            let (size, files) = match (kind, self.present.below.get(key)) {
                (NodeKind::Directory, Some(walked)) => self.made_in(walked),
                (NodeKind::Directory, None) => (0, 0),
                _ => (status.size, 0),
            };
            self.list.push(FileChange::Created { path, kind, size, files });
        }
    }

    /// Returns how much is in a directory that was made: bytes, and files, among them new names of files from before.
    fn made_in(&self, walked: &Walked) -> (u64, u64) {
        let is_second = |status: &&NodeStatus| {
            status.kind() != NodeKind::Directory && !self.renamed.contains(&status.id)
        };
        let second = walked.found.iter().map(|(status, _)| status).filter(is_second);
        second.fold((walked.bytes, walked.files), |(bytes, files), status| {
            (bytes + if status.kind() == NodeKind::File { status.size } else { 0 }, files + 1)
        })
    }

    fn tell_different(&mut self) {
        for (id, node) in &self.past.nodes {
            let Some(spots) = self.present.spots.get(id) else { continue };
            // A name that is new has been told as that, if the node has one that it had before.
            let is_old = |spot: &&FoundPlace| !is_gained(self.past, *id, spot);
            if let Some(spot) = spots.iter().find(is_old).or(spots.first()) {
                self.tell_difference(node, &spot.path, &spot.status);
            }
        }
    }

    fn tell_difference(&mut self, node: &PastNode, path: &[u8], now: &NodeStatus) {
        let found = differences(self.journals, node, path, now);
        // What can't be read to be compared is taken for what its times say.
        let found = found.unwrap_or(Differences { content: true, ..Differences::default() });
        let (before, path) = (&node.record.status, path_buf(path.to_vec()));
        if found.content && !self.renamed.contains(&before.id) {
            let (size, size_before) = (now.size, before.size);
            self.list.push(FileChange::Changed { path: path.clone(), size, size_before });
        }
        if found.mode {
            let (mode, mode_before) = (now.permissions(), before.permissions());
            self.list.push(FileChange::Mode { path, mode, mode_before });
        } else if !found.content && (found.attributes || found.times) {
            self.list.push(FileChange::Attributes { path });
        }
    }
}

/// Returns whether a node from before did not have this place.
fn is_gained(past: &Past, id: NodeId, spot: &FoundPlace) -> bool {
    match spot.name.as_ref().and_then(|name| past.names.get(name)) {
        Some(name) => name.was != Some(id),
        None => spot.is_inside,
    }
}
