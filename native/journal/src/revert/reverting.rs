//! A revert, from its plan to its end.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::node::{Moment, NodeId, NodeKind, NodeStatus, look};
use crate::reader::compare::{differences, open_kept, takes_more};
use crate::reader::error::JournalError;
use crate::reader::journals::{OpenJournal, open};
use crate::reader::past::{NameKey, Past};
use crate::reader::paths::{depth, path_buf};
use crate::reader::present::{Sight, look_around};
use crate::reader::reach::{DirectoryReach, change_mode, open_path};
use crate::reader::replay::past_of;
use crate::record::LogRecord;
use crate::revert::acting::{Acting, mark_opened, path_of};
use crate::revert::marks::Marks;
use crate::revert::placing::by_descriptor;
use crate::revert::plan::{RevertPlan, plan};
use crate::revert::staging::StagingPlaces;
use crate::revert::{attributes, conflict, nearby};

/// The most entries that are looked at below directories that were made.
const MOST_ENTRIES: usize = 10_000_000;

/// What a revert has done.
#[derive(Debug, Clone, Default)]
pub struct Reverted {
    /// What is as it was again: by its path before, or now if there was nothing.
    pub reverted: Vec<PathBuf>,
    /// What was left as it is, since it was changed after the commands or could not be put back, and why.
    pub conflicts: Vec<(PathBuf, String)>,
    /// What was asked for, and was not kept, and why.
    pub lost: Vec<(PathBuf, String)>,
}

/// Puts back what the journals of these ids, oldest first, have changed together. `paths`: only what is at or
/// below these, before or now, and what belongs together with that; absolute. A revert that was interrupted can
/// be done again.
///
/// # Errors
/// A journal that is not there, is in use or can't be read; nothing is changed then.
pub fn revert(
    store: BorrowedFd,
    ids: &[&str],
    paths: Option<&[PathBuf]>,
) -> Result<Reverted, JournalError> {
    let journals = ids.iter().map(|id| open(store, id, true));
    let journals = journals.collect::<Result<Vec<OpenJournal>, _>>()?;
    let past = past_of(&journals);
    let mut marks = Marks::open(&journals)?;
    let mut reach = DirectoryReach::default();
    reach.opened.clone_from(&past.opened);
    let mut before = |status: &NodeStatus, path: &[u8]| mark_opened(&mut marks, status, path);
    let sight = Sight { entries: Some(MOST_ENTRIES), before_opening: Some(&mut before) };
    let mut present = look_around(&past, &mut reach, sight);
    nearby::find(&past, &mut present, &mut reach, &mut before);
    let bytes = |path: &PathBuf| {
        let path = path.as_os_str().as_bytes();
        path.strip_suffix(b"/").unwrap_or(path).to_vec()
    };
    let asked: Option<Vec<_>> = paths.map(|paths| paths.iter().map(bytes).collect());
    let plan = plan(&past, &present, asked.as_deref());
    let mut acting = Acting {
        names_of: names_of(&past),
        aside: present.staged_nodes(&past),
        journals: &journals,
        past,
        present,
        reach,
        marks,
        staging: StagingPlaces::default(),
        reverted: Vec::new(),
        conflicts: plan.conflicts.clone(),
        placed: Default::default(),
    };
    let mut lost = plan.lost.clone();
    acting.act(plan, &mut lost);
    acting.marks.add(&LogRecord::Reverted { is_whole: paths.is_none() })?;
    Ok(told(acting, lost))
}

fn names_of(past: &Past) -> HashMap<NodeId, Vec<NameKey>> {
    let mut names: HashMap<NodeId, Vec<NameKey>> = HashMap::new();
    for (key, name) in &past.names {
        if let Some(was) = name.was {
            names.entry(was).or_default().push(key.clone());
        }
    }
    names
}

fn told(acting: Acting, lost: Vec<(Vec<u8>, String)>) -> Reverted {
    let pairs = |mut pairs: Vec<(Vec<u8>, String)>| {
        pairs.sort();
        pairs.dedup_by(|one, other| one.0 == other.0);
        pairs.into_iter().map(|(path, reason)| (path_buf(path), reason)).collect::<Vec<_>>()
    };
    let conflicts = pairs(acting.conflicts);
    let mut reverted: Vec<_> = acting.reverted.into_iter().map(path_buf).collect();
    reverted.sort();
    reverted.dedup();
    reverted.retain(|path| !conflicts.iter().any(|(other, _)| other == path));
    Reverted { reverted, conflicts, lost: pairs(lost) }
}

impl Acting<'_> {
    fn act(&mut self, plan: RevertPlan, lost: &mut Vec<(Vec<u8>, String)>) {
        let is_there: Vec<_> = plan.items.iter().map(|item| item.key.directory).collect();
        let is_there: std::collections::HashSet<_> =
            is_there.into_iter().filter(|id| self.directory(*id).is_ok()).collect();
        self.staging.choose(&plan.items, |id| is_there.contains(&id));
        let nodes = self.changed(plan.nodes, lost);
        let free = self.put_aside(plan.items);
        self.place_all(free);
        let mut directories = Vec::new();
        for id in nodes {
            let is_directory = self
                .past
                .nodes
                .get(&id)
                .is_some_and(|node| node.record.status.kind() == NodeKind::Directory);
            if is_directory {
                directories.push(id);
            } else {
                self.restore(id);
            }
        }
        self.remove_staged();
        self.close_directories(directories);
    }

    /// Chooses the nodes that are not as they were, and that nobody else has changed.
    fn changed(&mut self, ids: Vec<NodeId>, lost: &mut Vec<(Vec<u8>, String)>) -> Vec<NodeId> {
        let mut chosen = Vec::new();
        for id in ids {
            let Some(node) = self.past.nodes.get(&id) else { continue };
            let spot = self.present.spots.get(&id).and_then(|spots| spots.first());
            let Some(spot) = spot else {
                chosen.push(id);
                continue;
            };
            let differs = differences(self.journals, node, &spot.path, &spot.status);
            if matches!(differs, Ok(differs) if !differs.any()) {
                // Its mode may only be such that it can be entered meanwhile.
                if spot.status.kind() == NodeKind::Directory {
                    chosen.push(id);
                }
                continue;
            }
            if let Some(why_not) = conflict::of_node(&self.past, node, &spot.status) {
                self.conflicts.push((spot.path.clone(), why_not));
            } else if let Some(reason) = node.lost.as_ref().filter(|_| {
                // A call that failed has changed nothing.
                let before = &node.record.status;
                node.content.is_none()
                    && (before.size, before.modified) != (spot.status.size, spot.status.modified)
            }) {
                lost.push((spot.path.clone(), reason.clone()));
            } else {
                chosen.push(id);
            }
        }
        chosen
    }

    /// Makes a node as it was, in place.
    fn restore(&mut self, id: NodeId) {
        let Some((file, status)) = self.find(id) else { return self.miss(id) };
        let path = path_of(file.as_fd()).unwrap_or_default();
        match self.restore_open(id, &file, &status) {
            Ok(true) => self.reverted.push(path),
            Ok(false) => {}
            Err(errno) => self.failed(&path, errno),
        }
    }

    /// Tells that a node is gone which the commands have not removed.
    fn miss(&mut self, id: NodeId) {
        // A revert that was interrupted may have removed it.
        let is_first = self.past.reverted_until == Moment::default();
        let was_there = is_first && self.past.after.contains_key(&id);
        if let Some(node) = self.past.nodes.get(&id).filter(|_| was_there) {
            let path = node.record.path.clone();
            self.conflicts.push((path, "it was removed since".to_owned()));
        }
    }

    fn restore_open(
        &mut self,
        id: NodeId,
        file: &OwnedFd,
        status: &NodeStatus,
    ) -> Result<bool, Errno> {
        let Some(node) = self.past.nodes.get(&id) else { return Ok(false) };
        self.marks.add(&LogRecord::NodeBegun(id))?;
        let is_file = status.kind() == NodeKind::File;
        let mut is_changed = false;
        if let Some(kept) = node.content.as_ref().filter(|_| is_file) {
            let kept = open_kept(self.journals, kept)?;
            if status.mode & 0o600 != 0o600 && !rustix::process::geteuid().is_root() {
                change_mode(file.as_fd(), status.permissions() | 0o600)?;
            }
            let flags = OFlags::RDWR | OFlags::CLOEXEC;
            let path = by_descriptor(file.as_fd());
            let open = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).map(File::from)?;
            if takes_more(node, status) || !kept.is_in(&open, status)? {
                kept.write_to(&open)?;
                is_changed = true;
            }
        }
        let before = &node.record.status;
        is_changed |= before.modified != status.modified
            || (before.mode, before.uid, before.gid) != (status.mode, status.uid, status.gid);
        attributes::restore(file.as_fd(), &node.record)?;
        Ok(is_changed)
    }

    /// Gives directories back their modes, the deepest first; also those that were only opened to be entered.
    fn close_directories(&mut self, nodes: Vec<NodeId>) {
        let mut waiting = Vec::new();
        for id in nodes {
            if let Some((file, _)) = self.find(id) {
                waiting.push((path_of(file.as_fd()).unwrap_or_default(), id));
            }
        }
        for (id, (_, path)) in &self.reach.opened {
            if !waiting.iter().any(|(_, other)| other == id) {
                waiting.push((path.clone(), *id));
            }
        }
        waiting.sort_by_key(|(path, _)| Reverse(depth(path)));
        for (path, id) in waiting {
            let known = self.past.known(id);
            let is_conflict = self.conflicts.iter().any(|(other, _)| *other == path);
            let opened = open_path(&path).and_then(|file| Ok((look(file.as_fd())?, file)));
            let Ok((status, file)) = opened else { continue };
            if self.past.known(status.id) != known {
                continue;
            }
            if self.marks.add(&LogRecord::NodeBegun(known)).is_err() {
                continue;
            }
            let result = match (self.past.nodes.get(&known), self.reach.opened.get(&id)) {
                (Some(node), _) if !is_conflict => attributes::restore(file.as_fd(), &node.record)
                    .map(|()| node.record.status.permissions() != status.permissions()),
                (_, Some((before, _))) => {
                    change_mode(file.as_fd(), before.permissions()).map(|()| false)
                }
                _ => Ok(false),
            };
            match result {
                Ok(true) => self.reverted.push(path),
                Ok(false) => {}
                Err(errno) => self.failed(&path, errno),
            }
        }
    }
}
