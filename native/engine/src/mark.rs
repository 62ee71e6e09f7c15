//! The environment mark: how a command's processes are found after they left its group.
//!
//! `FORKLINE_MARK=<host>.<owner>.<command>` is in the environment of everything a
//! command starts (unless it clears its environment; then its descent is left).

use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// The name of the variable.
pub const NAME: &str = "FORKLINE_MARK";

/// The entries of a NUL-separated environment that are marks, separated likewise.
pub fn all_in(environment: &[u8]) -> Vec<u8> {
    let name = [NAME.as_bytes(), b"="].concat();
    let entries = environment.split(|byte| *byte == 0).filter(|entry| entry.starts_with(&name));
    entries.collect::<Vec<_>>().join(&0)
}

/// Which processes: those of a host, of an owner in it, or of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark(String);

impl Mark {
    /// The mark of this host process; no other host, past or present, has it.
    pub fn of_host() -> &'static Mark {
        static HOST: OnceLock<Mark> = OnceLock::new();
        HOST.get_or_init(|| Mark(format!("{NAME}={}.", this_process())))
    }

    /// The mark of the detached command that this process, a keeper, has started. It names no
    /// host, since none may end it.
    pub fn of_detached() -> Mark {
        Mark(format!("{NAME}=detached-{}.", this_process()))
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

/// A name that no other process, past or present, has.
fn this_process() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{:x}", std::process::id(), now.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_among_other_entries_and_a_shorter_number_is_another() {
        let (own, other) = (Mark::of_command(1, 23), Mark::of_command(1, 2));
        let environment = ["A=1", own.entry(), "FORKLINE_MARKS=x", "B"].join("\0");
        let marks = all_in(environment.as_bytes());
        assert_eq!(marks, own.entry().as_bytes());
        assert!(own.is_in(&marks) && Mark::of_owner(1).is_in(&marks));
        assert!(!other.is_in(&marks) && !Mark::of_owner(12).is_in(&marks));
        assert!(all_in(b"").is_empty());
    }
}
