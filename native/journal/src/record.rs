//! The records of a log.

use crate::node::{Moment, NodeId, NodeStatus};

/// The version of the records that are written, and of those that are understood.
pub(crate) const VERSION: u32 = 1;

/// A name: which directory has it, and where that was when it was written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameRecord {
    pub directory: NodeId,
    pub name: Vec<u8>,
    pub above: Vec<u8>,
    /// What had it.
    pub was: Option<NodeId>,
}

/// How a node was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeRecord {
    pub status: NodeStatus,
    pub path: Vec<u8>,
    /// Where a link leads; empty for others.
    pub target: Vec<u8>,
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Where the content of a file is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeptPlace {
    /// In the pack from `start`: the extents one after another, as (offset in the file, length).
    Pack { start: u64, extents: Vec<(u64, u64)> },
    /// In a file of its own, holes and all.
    Own { number: u32 },
}

/// That something was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MoveRecord {
    pub node: NodeId,
    pub from: Vec<u8>,
    pub to: Vec<u8>,
    pub is_exchange: bool,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LogRecord {
    Begun {
        version: u32,
        at: Moment,
        about: Vec<(Vec<u8>, Vec<u8>)>,
    },
    Name(NameRecord),
    Node(NodeRecord),
    Content {
        node: NodeId,
        size: u64,
        place: KeptPlace,
    },
    /// What a node was can't be kept.
    Lost {
        node: Option<NodeId>,
        path: Vec<u8>,
        reason: Vec<u8>,
    },
    /// The command made this node.
    Made(NodeId),
    Moved(MoveRecord),
    /// The move before this one has failed.
    NotMoved,
    Unseen(Vec<u8>),
    /// After the end: what has the name.
    NameAfter {
        directory: NodeId,
        name: Vec<u8>,
        now: Option<NodeStatus>,
    },
    /// After the end: how the node is.
    NodeAfter {
        node: NodeId,
        now: Option<NodeStatus>,
    },
    /// All of "after" has been written.
    Ended(Moment),
    /// A revert puts things into this directory meanwhile.
    Staging {
        device: u64,
        path: Vec<u8>,
    },
    /// A revert has begun with this name.
    NameBegun {
        directory: NodeId,
        name: Vec<u8>,
    },
    /// A revert has begun with this node.
    NodeBegun(NodeId),
    /// A revert made a node anew: `new` stands for `old` from then on.
    Remade {
        old: NodeId,
        new: NodeId,
    },
    /// A revert has come to its end; `is_whole`: all of it was asked for.
    Reverted {
        is_whole: bool,
    },
}
