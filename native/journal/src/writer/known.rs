//! What a journal has written down already, and what the command made itself.

use std::collections::{HashMap, HashSet};

use crate::node::NodeId;

/// How much is known of a node from before the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeptNode {
    /// How it was.
    Status,
    /// That, and its content.
    Content,
    /// Its content can't be kept.
    Lost,
}

/// The nodes and names that need no further look.
#[derive(Debug, Default)]
pub(crate) struct KnownNodes {
    names: HashMap<NodeId, HashSet<Box<[u8]>>>,
    kept: HashMap<NodeId, KeptNode>,
    made: HashSet<NodeId>,
    /// Those that have lost a name, and have others that nothing tells of.
    unnamed: HashSet<NodeId>,
}

impl KnownNodes {
    /// Returns whether a name needs no record.
    pub fn has_name(&self, directory: NodeId, name: &[u8]) -> bool {
        self.made.contains(&directory)
            || self.names.get(&directory).is_some_and(|names| names.contains(name))
    }

    /// Notes that a name was written down.
    pub fn add_name(&mut self, directory: NodeId, name: &[u8]) {
        self.names.entry(directory).or_default().insert(name.into());
    }

    /// Returns how much of a node was kept.
    pub fn kept(&self, node: NodeId) -> Option<KeptNode> {
        self.kept.get(&node).copied()
    }

    /// Notes how much of a node was kept.
    pub fn keep(&mut self, node: NodeId, kept: KeptNode) {
        self.kept.insert(node, kept);
    }

    /// Notes that a node from before loses a name, and has more.
    pub fn loses_name(&mut self, node: NodeId) {
        if !self.made.contains(&node) {
            self.unnamed.insert(node);
        }
    }

    /// Returns whether a node has lost a name, and no other one was written down since.
    pub fn has_lost_name(&self, node: NodeId) -> bool {
        self.unnamed.contains(&node)
    }

    /// Notes that another name of the node was written down.
    pub fn has_name_again(&mut self, node: NodeId) {
        self.unnamed.remove(&node);
    }

    /// Returns whether the command made a node.
    pub fn is_made(&self, node: NodeId) -> bool {
        self.made.contains(&node)
    }

    /// Notes that the command made a node. Returns whether that is news. One that has the number of a node
    /// from before, and no birth to tell them apart, is taken for that one: then all of its names are written
    /// down, which is as good.
    pub fn make(&mut self, node: NodeId) -> bool {
        !self.kept.contains_key(&node) && self.made.insert(node)
    }
}
