//! What is told of changes.

use std::path::PathBuf;

use crate::node::NodeKind;

/// One change. Paths are absolute: those of now, and those of before where it is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// It was not there. A directory stands for all below it.
    Created {
        /// Where it is.
        path: PathBuf,
        /// What it is.
        kind: NodeKind,
        /// The bytes of the file, or of those below the directory.
        size: u64,
        /// The files below the directory; 0 for others.
        files: u64,
    },
    /// It has another content, or leads elsewhere.
    Changed {
        /// Where it is.
        path: PathBuf,
        /// Its bytes.
        size: u64,
        /// Its bytes before.
        size_before: u64,
    },
    /// It is gone.
    Deleted {
        /// Where it was.
        path: PathBuf,
        /// What it was.
        kind: NodeKind,
        /// Its bytes before.
        size_before: u64,
    },
    /// It has another name, or is in another directory.
    Renamed {
        /// Where it is.
        path: PathBuf,
        /// Where it was.
        from: PathBuf,
        /// What it is.
        kind: NodeKind,
        /// Its content was changed too.
        is_changed: bool,
    },
    /// It has another mode, or owner.
    Mode {
        /// Where it is.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// Its permissions before.
        mode_before: u32,
    },
    /// It has other extended attributes, or times alone.
    Attributes {
        /// Where it is.
        path: PathBuf,
    },
}

impl FileChange {
    /// Returns the path by which changes are sorted.
    pub fn path(&self) -> &PathBuf {
        match self {
            Self::Created { path, .. }
            | Self::Changed { path, .. }
            | Self::Deleted { path, .. }
            | Self::Renamed { path, .. }
            | Self::Mode { path, .. }
            | Self::Attributes { path } => path,
        }
    }
}

/// What commands have changed, and is not as before now.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// The changes, sorted by path.
    pub list: Vec<FileChange>,
    /// Files that were not there, those below new directories too.
    pub created: u64,
    /// Files with another content.
    pub changed: u64,
    /// Files that are gone.
    pub deleted: u64,
    /// Files and directories with another name.
    pub renamed: u64,
    /// Nothing was changed that was not seen.
    pub is_complete: bool,
    /// Why it is not complete.
    pub unseen: Vec<String>,
    /// What can't be put back, and why.
    pub unrevertable: Vec<(PathBuf, String)>,
    /// What the journals were begun with.
    pub about: Vec<(String, Vec<u8>)>,
    /// A revert of all has come to its end.
    pub is_reverted: bool,
}
