//! What a keeper has told of its sandbox.

use std::sync::{Arc, OnceLock};

use crate::command::errors::{LaunchError, Step};

/// The sandbox that a keeper makes.
pub struct Sandbox {
    /// As the keeper reads it.
    pub plan: Arc<[u8]>,
    enforced: OnceLock<String>,
    refused: OnceLock<LaunchError>,
}

impl Sandbox {
    /// Nothing is known of it yet.
    pub fn new(plan: Arc<[u8]>) -> Sandbox {
        Sandbox { plan, enforced: OnceLock::new(), refused: OnceLock::new() }
    }

    /// It stands: each of its lines, and by what it is kept.
    pub fn stands(&self, enforced: String) {
        let _ = self.enforced.set(enforced);
    }

    /// It can't be had.
    pub fn is_refused(&self, errno: i32, subject: String) {
        let _ = self.refused.set(LaunchError { step: Step::Sandbox, errno, subject });
    }

    /// What is enforced, once that is known.
    pub fn enforced(&self) -> Option<&String> {
        self.enforced.get()
    }

    /// Why it can't be had.
    pub fn refusal(&self) -> Option<LaunchError> {
        self.refused.get().cloned()
    }
}
