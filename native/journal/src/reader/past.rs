//! What journals say: how things were before the first, and after the last.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::node::{Moment, NodeId, NodeStatus};
use crate::record::{KeptPlace, MoveRecord, NodeRecord};

/// A name, by the directory that has it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NameKey {
    pub directory: NodeId,
    pub name: Vec<u8>,
}

/// What is known of a name.
#[derive(Debug, Default)]
pub(crate) struct PastName {
    pub was: Option<NodeId>,
    /// What had it after the end; none where that was not seen.
    pub after: Option<Option<NodeStatus>>,
    /// It was changed between two of the commands.
    pub is_edited: bool,
    /// A revert that has not come to its end has begun with it.
    pub is_begun: bool,
}

/// Where a content is: in which of the journals, and where there.
#[derive(Debug, Clone)]
pub(crate) struct KeptContent {
    pub journal: usize,
    pub size: u64,
    pub place: KeptPlace,
}

/// What is known of a node.
#[derive(Debug)]
pub(crate) struct PastNode {
    pub record: NodeRecord,
    /// The moves that had been made when it was written down.
    pub moves: usize,
    pub content: Option<KeptContent>,
    /// Why its content is not there.
    pub lost: Option<String>,
    /// It was changed between two of the commands.
    pub is_edited: bool,
    /// A revert that has not come to its end has begun with it.
    pub is_begun: bool,
}

/// Where a directory was, and is if nothing else has moved it.
#[derive(Debug, Clone)]
pub(crate) struct DirectoryPaths {
    pub before: Vec<u8>,
    pub now: Vec<u8>,
}

/// What several journals say, as if they were one.
#[derive(Debug, Default)]
pub(crate) struct Past {
    pub names: BTreeMap<NameKey, PastName>,
    pub nodes: HashMap<NodeId, PastNode>,
    pub directories: HashMap<NodeId, DirectoryPaths>,
    /// In order; those that have failed are none.
    pub moves: Vec<Option<MoveRecord>>,
    /// What the commands made.
    pub made: HashSet<NodeId>,
    /// How nodes were after the end.
    pub after: HashMap<NodeId, NodeStatus>,
    /// When the first command began.
    pub begun: Moment,
    /// What was changed later was not changed by the commands.
    pub until: Moment,
    /// The same, for what an interrupted revert has begun with.
    pub reverted_until: Moment,
    /// What reverts made anew: the new to the old.
    pub remade: HashMap<NodeId, NodeId>,
    /// Directories that reverts have made such that they can be entered, and how they were.
    pub opened: HashMap<NodeId, (NodeStatus, Vec<u8>)>,
    /// Directories that reverts took something out of.
    pub disturbed: HashSet<NodeId>,
    /// Where reverts put things meanwhile.
    pub stagings: Vec<(u64, Vec<u8>)>,
    pub about: Vec<(Vec<u8>, Vec<u8>)>,
    pub unseen: Vec<String>,
    /// Paths whose content is lost, and why.
    pub lost: Vec<(Vec<u8>, String)>,
    pub is_reverted: bool,
}

impl Past {
    /// Returns which node from before a node is: itself, or the one that it was made for.
    pub fn known(&self, node: NodeId) -> NodeId {
        self.remade.get(&node).copied().unwrap_or(node)
    }

    /// Returns a status with the id of the node that it stands for.
    pub fn as_known(&self, mut status: NodeStatus) -> NodeStatus {
        status.id = self.known(status.id);
        status
    }

    /// Returns the nodes from before that names or records speak of.
    pub fn nodes_before(&self) -> HashSet<NodeId> {
        let named = self.names.values().filter_map(|name| name.was);
        named.chain(self.nodes.keys().copied()).collect()
    }

    /// Returns the path that a name had before, and the one that it has now.
    pub fn paths_of(&self, key: &NameKey) -> (Vec<u8>, Vec<u8>) {
        let join = |path: &Vec<u8>| crate::reader::paths::join(path, &key.name);
        match self.directories.get(&key.directory) {
            Some(paths) => (join(&paths.before), join(&paths.now)),
            None => (key.name.clone(), key.name.clone()),
        }
    }
}
