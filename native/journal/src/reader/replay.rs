//! Makes one past of the records of several journals, oldest first.

use std::collections::{HashMap, HashSet};
use std::mem::take;

use crate::node::{Moment, NodeId, NodeStatus};
use crate::reader::journals::OpenJournal;
use crate::reader::past::{DirectoryPaths, KeptContent, NameKey, Past, PastName, PastNode};
use crate::reader::paths::{backward, forward};
use crate::reader::reach::look_by_path;
use crate::record::{LogRecord, NameRecord, NodeRecord};

/// How long after the last record a command whose end was not seen may have changed something, in seconds.
const GRACE_SECONDS: i64 = 10;

/// What is gathered of the records.
#[derive(Default)]
struct Replay {
    past: Past,
    journal: usize,
    /// Made by the journals before.
    made_before: HashSet<NodeId>,
    /// What the journal says of the time after its end, which counts only if it is whole.
    names_after: HashMap<NameKey, Option<NodeStatus>>,
    nodes_after: HashMap<NodeId, NodeStatus>,
    /// Those of which the journal says how they were.
    nodes_touched: Vec<NodeId>,
    last_move: Option<usize>,
    /// Where directories were, and after how many moves.
    seen: HashMap<NodeId, (Vec<u8>, usize)>,
}

/// Makes the past of all.
pub(crate) fn past_of(journals: &[OpenJournal]) -> Past {
    let mut replay = Replay::default();
    for (index, journal) in journals.iter().enumerate() {
        replay.begin(index);
        let mut ended = None;
        for record in &journal.log.records {
            match record {
                LogRecord::Ended(at) => ended = Some(*at),
                record => replay.take(record),
            }
        }
        replay.end(journal, ended);
    }
    for journal in journals {
        replay.take_reverts(journal);
    }
    replay.finish()
}

impl Replay {
    fn begin(&mut self, journal: usize) {
        self.journal = journal;
        self.made_before.clone_from(&self.past.made);
        self.last_move = None;
    }

    fn take(&mut self, record: &LogRecord) {
        match record {
            LogRecord::Begun { at, about, .. } => {
                if self.journal == 0 {
                    self.past.begun = *at;
                }
                self.past.about.extend(about.iter().cloned());
            }
            LogRecord::Name(name) => self.take_name(name),
            LogRecord::Node(node) => self.take_node(node),
            LogRecord::Content { node, size, place } => {
                if let Some(node) = self.past.nodes.get_mut(node) {
                    let (journal, size, place) = (self.journal, *size, place.clone());
                    node.content.get_or_insert(KeptContent { journal, size, place });
                }
            }
            LogRecord::Lost { node, path, reason } => {
                let reason = String::from_utf8_lossy(reason).into_owned();
                match node.and_then(|node| self.past.nodes.get_mut(&node)) {
                    Some(node) if node.content.is_some() => return,
                    Some(node) => _ = node.lost.get_or_insert_with(|| reason.clone()),
                    None => {}
                }
                let made = node.is_some_and(|node| self.made_before.contains(&node));
                if !made {
                    self.past.lost.push((path.clone(), reason));
                }
            }
            LogRecord::Made(node) => _ = self.past.made.insert(*node),
            LogRecord::Moved(moved) => {
                self.last_move = Some(self.past.moves.len());
                self.past.moves.push(Some(moved.clone()));
            }
            LogRecord::NotMoved => self.cancel_move(),
            LogRecord::Unseen(why) => {
                self.past.unseen.push(String::from_utf8_lossy(why).into_owned());
            }
            LogRecord::NameAfter { directory, name, now } => {
                let key = NameKey { directory: *directory, name: name.clone() };
                self.names_after.insert(key, *now);
            }
            LogRecord::NodeAfter { node, now: Some(now) } => {
                _ = self.nodes_after.insert(*node, *now)
            }
            _ => {}
        }
    }

    fn cancel_move(&mut self) {
        if let Some(last) = self.last_move.take().and_then(|last| self.past.moves.get_mut(last)) {
            *last = None;
        }
    }

    fn take_name(&mut self, name: &NameRecord) {
        if self.made_before.contains(&name.directory) {
            return;
        }
        let moves = self.past.moves.len();
        self.seen.entry(name.directory).or_insert_with(|| (name.above.clone(), moves));
        let key = NameKey { directory: name.directory, name: name.name.clone() };
        if let Some(known) = self.past.names.get_mut(&key) {
            let after = known.after.map(|after| after.map(|after| after.id));
            known.is_edited |= after.is_some_and(|after| after != name.was);
            return;
        }
        self.past.names.insert(key, PastName { was: name.was, ..PastName::default() });
    }

    fn take_node(&mut self, record: &NodeRecord) {
        let id = record.status.id;
        self.nodes_touched.push(id);
        let after = self.past.after.get(&id);
        let is_edited = after.is_some_and(|after| !record.status.is_still(after));
        if self.made_before.contains(&id) {
            return;
        }
        if let Some(known) = self.past.nodes.get_mut(&id) {
            known.is_edited |= is_edited;
            return;
        }
        let (moves, record) = (self.past.moves.len(), record.clone());
        let (content, lost, is_begun) = (None, None, false);
        self.past.nodes.insert(id, PastNode { record, moves, content, lost, is_edited, is_begun });
    }

    /// Takes what the journal says of the time after its end.
    fn end(&mut self, journal: &OpenJournal, ended: Option<Moment>) {
        let (names, nodes) = (take(&mut self.names_after), take(&mut self.nodes_after));
        // What was there after an earlier command may be gone after this one.
        for node in take(&mut self.nodes_touched) {
            self.past.after.remove(&node);
        }
        if ended.is_some() {
            for (key, after) in names {
                if let Some(name) = self.past.names.get_mut(&key) {
                    name.after = Some(after);
                }
            }
            self.past.after.extend(nodes);
        } else {
            let begun = |record: &LogRecord| matches!(record, LogRecord::Moved(_));
            if journal.log.records.last().is_some_and(begun) {
                self.check_last_move();
            }
        }
        if journal.log.is_damaged {
            self.past.unseen.push("its log is damaged".to_owned());
        }
        let until = ended.unwrap_or_else(|| after_grace(journal.written));
        self.past.until = self.past.until.max(until);
    }

    /// The call may not have been done: it was announced last.
    fn check_last_move(&mut self) {
        let Some(Some(moved)) = self.last_move.and_then(|last| self.past.moves.get(last)) else {
            return;
        };
        // Later the node may have gone from there, without another record.
        let is_at = |path: &[u8]| look_by_path(path).is_some_and(|found| found.id == moved.node);
        if is_at(&moved.from) && !is_at(&moved.to) {
            self.cancel_move();
        }
    }

    fn take_reverts(&mut self, journal: &OpenJournal) {
        let past = &mut self.past;
        for record in &journal.reverts.records {
            match record {
                LogRecord::Staging { device, path } => past.stagings.push((*device, path.clone())),
                LogRecord::NameBegun { directory, name } => {
                    let key = NameKey { directory: *directory, name: name.clone() };
                    if let Some(name) = past.names.get_mut(&key) {
                        name.is_begun = true;
                    }
                }
                LogRecord::NodeBegun(node) => match past.nodes.get_mut(node) {
                    Some(node) => node.is_begun = true,
                    None => _ = past.disturbed.insert(*node),
                },
                LogRecord::Remade { old, new } => _ = past.remade.insert(*new, *old),
                LogRecord::Reverted { is_whole } => {
                    past.names.values_mut().for_each(|name| name.is_begun = false);
                    past.nodes.values_mut().for_each(|node| node.is_begun = false);
                    past.is_reverted = *is_whole;
                }
                LogRecord::Node(NodeRecord { status, path, .. }) => {
                    past.opened.entry(status.id).or_insert_with(|| (*status, path.clone()));
                }
                _ => {}
            }
        }
        if let Some(reverted) = journal.reverted {
            past.reverted_until = past.reverted_until.max(after_grace(reverted));
        }
    }

    fn finish(mut self) -> Past {
        let past = &mut self.past;
        for (id, (path, moves)) in self.seen {
            let (earlier, later) = past.moves.split_at(moves.min(past.moves.len()));
            let before = backward(&path, earlier.iter().rev().flatten());
            let now = forward(&path, later.iter().flatten());
            past.directories.insert(id, DirectoryPaths { before, now });
        }
        self.past
    }
}

fn after_grace(at: Moment) -> Moment {
    Moment { seconds: at.seconds.saturating_add(GRACE_SECONDS), ..at }
}
