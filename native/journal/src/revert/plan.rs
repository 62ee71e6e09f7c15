//! What a revert is to do: which names get back what they had.

use std::collections::{HashMap, HashSet};

use crate::node::{NodeId, NodeKind, NodeStatus};
use crate::reader::past::{NameKey, Past, PastNode};
use crate::reader::paths::is_within;
use crate::reader::present::PresentState;
use crate::revert::conflict;
use crate::revert::edges::Edges;

/// The clock of files is behind that of processes, by less than this, in nanoseconds.
const CLOCKS: i64 = 100_000_000;

/// A name that has not what it had.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub key: NameKey,
    /// What it is to get.
    pub was: Option<NodeId>,
    pub now: Option<NodeStatus>,
    pub path_before: Vec<u8>,
    pub path_now: Vec<u8>,
}

/// What is to be done, and what is not, and why.
#[derive(Debug, Default)]
pub(crate) struct RevertPlan {
    pub items: Vec<Item>,
    /// Nodes that may be put back as they were.
    pub nodes: Vec<NodeId>,
    pub conflicts: Vec<(Vec<u8>, String)>,
    pub lost: Vec<(Vec<u8>, String)>,
}

/// Makes the plan. `paths`: what is asked for; none: all.
pub(crate) fn plan(past: &Past, present: &PresentState, paths: Option<&[Vec<u8>]>) -> RevertPlan {
    let is_asked =
        |path: &[u8]| paths.is_none_or(|paths| paths.iter().any(|above| is_within(path, above)));
    let mut planning = Planning::of(past, present);
    let selected = planning.selected(is_asked);
    planning.find_lost(&selected);
    planning.find_conflicts(&selected);
    let nodes = planning.nodes(&selected, is_asked);
    planning.finish(&selected, nodes)
}

struct Planning<'a> {
    past: &'a Past,
    present: &'a PresentState,
    items: Vec<Item>,
    /// By what they had.
    by_was: HashMap<NodeId, Vec<usize>>,
    /// Along which it is chosen what belongs together.
    choice: Edges,
    /// Along which a conflict spreads.
    blame: Edges,
    why_not: HashMap<usize, String>,
    left_alone: HashSet<usize>,
    conflicts: Vec<(Vec<u8>, String)>,
    lost: Vec<(Vec<u8>, String)>,
}

impl<'a> Planning<'a> {
    fn of(past: &'a Past, present: &'a PresentState) -> Self {
        let items = past.names.iter().filter_map(|(key, name)| {
            let occupied = present.names.get(key)?;
            let (path_before, _) = past.paths_of(key);
            let (now, path_now) = (occupied.status, occupied.path.clone());
            (name.was != now.map(|now| now.id)).then(|| Item {
                key: key.clone(),
                was: name.was,
                now,
                path_before,
                path_now,
            })
        });
        let mut planning = Planning {
            past,
            present,
            items: items.collect(),
            by_was: HashMap::new(),
            choice: Edges::default(),
            blame: Edges::default(),
            why_not: HashMap::new(),
            left_alone: HashSet::new(),
            conflicts: Vec::new(),
            lost: Vec::new(),
        };
        planning.connect();
        planning
    }

    fn connect(&mut self) {
        for (index, item) in self.items.iter().enumerate() {
            if let Some(was) = item.was {
                self.by_was.entry(was).or_default().push(index);
            }
        }
        for (index, item) in self.items.iter().enumerate() {
            let of = |node: NodeId| self.by_was.get(&node).into_iter().flatten();
            // What has a name is to get back its own.
            for other in item.now.into_iter().flat_map(|now| of(now.id)) {
                self.choice.add_both(index, *other);
                self.blame.add_both(index, *other);
            }
            // What is below a directory that was made has to leave before that goes.
            let below = self.present.below.get(&item.key);
            for (found, _) in below.into_iter().flat_map(|walked| &walked.found) {
                for other in of(found.id) {
                    self.choice.add_both(index, *other);
                    self.blame.add(*other, index);
                }
            }
            // A directory that is gone has to be there first.
            if self.present.names.get(&item.key).is_some_and(|occupied| occupied.is_lost) {
                for other in of(item.key.directory) {
                    self.choice.add(index, *other);
                    self.blame.add(*other, index);
                }
            }
        }
    }

    fn selected(&self, is_asked: impl Fn(&[u8]) -> bool) -> HashSet<usize> {
        let asked = self.items.iter().enumerate();
        let asked = asked
            .filter(|(_, item)| is_asked(&item.path_before) || is_asked(&item.path_now))
            .map(|(index, _)| index);
        let mut selected: HashSet<usize> = asked.collect();
        let from = selected.iter().copied().collect();
        self.choice.spread(from, |_, to| selected.insert(to));
        selected
    }

    /// Finds what can't be made anew. Its name is left alone, unless something else has to leave it.
    fn find_lost(&mut self, selected: &HashSet<usize>) {
        let wanted = self.past.nodes_before();
        for (index, item) in self.items.iter_mut().enumerate() {
            let Some(was) = item.was.filter(|was| !self.present.spots.contains_key(was)) else {
                continue;
            };
            let reason = match self.past.nodes.get(&was) {
                None => Some("how it was was not seen".to_owned()),
                // Someone else has moved or removed it since, with all that is in it.
                Some(node)
                    if node.record.status.kind() == NodeKind::Directory
                        && self.past.after.contains_key(&was) =>
                {
                    self.why_not.insert(index, "it was removed since".to_owned());
                    continue;
                }
                Some(node) if node.record.status.kind() != NodeKind::File => None,
                Some(node) if node.content.is_some() => None,
                Some(PastNode { lost: Some(reason), .. }) => Some(reason.clone()),
                // It had only been moved: someone else has removed it.
                Some(_) => {
                    self.why_not.insert(index, "it was removed since".to_owned());
                    continue;
                }
            };
            let Some(reason) = reason else { continue };
            if selected.contains(&index) {
                self.lost.push((item.path_before.clone(), reason));
            }
            match item.now {
                Some(now) if wanted.contains(&now.id) => item.was = None,
                _ => _ = self.left_alone.insert(index),
            }
        }
    }

    fn find_conflicts(&mut self, selected: &HashSet<usize>) {
        let wanted = self.past.nodes_before();
        for (index, item) in self.items.iter().enumerate() {
            let Some(name) = self.past.names.get(&item.key) else { continue };
            let why_not = conflict::of_name(self.past, self.present, &item.key, name)
                .or_else(|| self.would_be_lost(&wanted, item))
                .or_else(|| self.has_no_directory(item));
            if let Some(why_not) = why_not {
                self.why_not.insert(index, why_not);
            }
        }
        let paths: Vec<_> = self.items.iter().map(|item| item.path_now.clone()).collect();
        let from = self.why_not.keys().copied().collect();
        self.blame.spread(from, |from, to| {
            let because = paths.get(from).cloned().unwrap_or_default();
            let is_new = !self.why_not.contains_key(&to);
            self.why_not.entry(to).or_insert_with(|| {
                let because = crate::reader::paths::path_buf(because);
                format!("it belongs together with {}, which can't be put back", because.display())
            });
            is_new
        });
        for (index, why_not) in &self.why_not {
            if let Some(item) = self.items.get(*index).filter(|_| selected.contains(index)) {
                self.conflicts.push((item.path_now.clone(), why_not.clone()));
            }
        }
    }

    /// Returns why not, if a file from before has no other name than this new one.
    fn would_be_lost(&self, wanted: &HashSet<NodeId>, item: &Item) -> Option<String> {
        let now = item.now.filter(|now| now.kind() != NodeKind::Directory && now.links == 1)?;
        let begun = self.past.begun;
        let begun = begun.seconds.saturating_mul(1_000_000_000) + i64::from(begun.nanoseconds);
        let is_older = now.id.birth != 0
            && now.id.birth < begun.saturating_sub(CLOCKS)
            && !self.past.made.contains(&now.id);
        let is_before = wanted.contains(&now.id) || is_older;
        (is_before && !self.by_was.contains_key(&now.id))
            .then(|| "it is the last name of a file that was there before".to_owned())
    }

    fn has_no_directory(&self, item: &Item) -> Option<String> {
        let is_gone = self.present.names.get(&item.key).is_some_and(|occupied| occupied.is_lost);
        (item.was.is_some() && is_gone && !self.by_was.contains_key(&item.key.directory))
            .then(|| "its directory is not there any more".to_owned())
    }

    fn nodes(
        &mut self,
        selected: &HashSet<usize>,
        is_asked: impl Fn(&[u8]) -> bool,
    ) -> Vec<NodeId> {
        let items = self.items.iter().enumerate();
        let chosen: HashSet<NodeId> = items
            .filter(|(index, _)| selected.contains(index))
            .filter_map(|(_, item)| item.was)
            .collect();
        let mut nodes = Vec::new();
        for (id, node) in &self.past.nodes {
            let spots = self.present.spots.get(id);
            let is_there = |path: &[u8]| is_asked(path);
            let is_chosen = chosen.contains(id)
                || is_there(&node.record.path)
                || spots.is_some_and(|spots| spots.iter().any(|spot| is_there(&spot.path)));
            if is_chosen {
                nodes.push(*id);
            }
        }
        nodes
    }

    fn finish(self, selected: &HashSet<usize>, nodes: Vec<NodeId>) -> RevertPlan {
        let (why_not, left_alone) = (self.why_not, self.left_alone);
        let is_done = |index: &usize| {
            selected.contains(index) && !why_not.contains_key(index) && !left_alone.contains(index)
        };
        let items = self.items.into_iter().enumerate();
        let items = items.filter(|(index, _)| is_done(index)).map(|(_, item)| item).collect();
        RevertPlan { items, nodes, conflicts: self.conflicts, lost: self.lost }
    }
}
