//! The environment mark: how a command's processes are found after they left its group.
//!
//! `FORKLINE_MARK=<host>.<owner>.<command>` is in the environment of everything a
//! command starts (unless it clears its environment; then its descent is left).

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// The name of the variable.
pub const NAME: &str = "FORKLINE_MARK";

/// Which processes: those of a host, of an owner in it, or of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark(String);

impl Mark {
    /// The mark of this host process; no other host, past or present, has it.
    pub fn of_host() -> &'static Mark {
        static HOST: OnceLock<Mark> = OnceLock::new();
        HOST.get_or_init(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Mark(format!("{NAME}={}-{:x}.", std::process::id(), now.as_nanos()))
        })
    }

    /// A mark received as text by another process.
    pub fn from_text(text: &str) -> Mark {
        Mark(text.to_owned())
    }

    /// The mark of one owner in this host.
    pub fn of_owner(owner: u64) -> Mark {
        Mark(format!("{}{owner}.", Self::of_host().0))
    }

    /// The mark of one command.
    pub fn of_command(owner: u64, command: u64) -> Mark {
        Mark(format!("{}{owner}.{command}.", Self::of_host().0))
    }

    /// As an entry of an environment.
    pub fn entry(&self) -> &str {
        &self.0
    }

    /// Whether a NUL-separated environment carries it, or one more specific.
    pub fn is_in(&self, environment: &[u8]) -> bool {
        environment.split(|byte| *byte == 0).any(|entry| entry.starts_with(self.0.as_bytes()))
    }
}
