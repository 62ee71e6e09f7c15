//! What the plan says about holding changes.

use std::path::PathBuf;

/// Where changes are held, which are not made where commands see them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingPlan {
    /// The directory outside for the layers.
    pub at: PathBuf,
    /// Writable paths that are as they are outside, by which commands talk to their host.
    pub direct: Vec<PathBuf>,
}

impl PendingPlan {
    /// `at` is absolute.
    pub fn new(at: PathBuf) -> PendingPlan {
        PendingPlan { at, direct: Vec::new() }
    }
}
