//! What the plan says about recording changes.

use std::path::PathBuf;

/// Where and how much is recorded of what commands change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoPlan {
    /// The directory outside for journals.
    pub at: PathBuf,
    /// The most bytes of one journal.
    pub most_bytes: u64,
    /// Whether a call is refused whose change can't be kept.
    pub refuses: bool,
}

impl UndoPlan {
    /// The default of `most_bytes`.
    const MOST_BYTES: u64 = 1 << 30;

    /// `at` is absolute.
    pub fn new(at: PathBuf) -> UndoPlan {
        UndoPlan { at, most_bytes: UndoPlan::MOST_BYTES, refuses: false }
    }
}
