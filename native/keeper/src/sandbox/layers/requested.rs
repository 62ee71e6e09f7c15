//! The caches that a plan asks for.

use std::path::PathBuf;

/// The file that names the workspace, and whose time says when it was used last.
pub const USED: &str = "used";

/// What a plan says of caches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CachePlan {
    /// The directory of the workspace's layers; None: there are none.
    pub directory: Option<PathBuf>,
    /// The workspace; when it is gone, or another directory is in its place, its layers go.
    pub workspace: Option<PathBuf>,
    /// The most bytes that the layers keep when no sandbox of the workspace stands.
    pub most_bytes: u64,
    /// Caches of the user, and the names of their layers.
    pub layers: Vec<(PathBuf, PathBuf)>,
    /// Names of directories of the workspace's, and the paths at which commands find them: for caches that
    /// the user does not have.
    pub voids: Vec<(PathBuf, PathBuf)>,
}

impl CachePlan {
    /// Returns the file whose times change when sandboxes of the workspace are to look again at layers of
    /// the others.
    pub fn used(&self) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.join(USED))
    }
}
