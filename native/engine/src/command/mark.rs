//! The environment mark: `FORKLINE_MARK=<host>.<owner>.<command>` is in the environment of everything
//! that a command starts, for people who look at a process and wonder. Nothing here depends on it.

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
        HOST.get_or_init(|| Mark(format!("{NAME}={}.", this_process())))
    }

    /// The mark of the detached command that this process, a keeper, has started. It names no
    /// host, since none may end it.
    pub fn of_detached() -> Mark {
        Mark(format!("{NAME}=detached-{}.", this_process()))
    }

    /// The mark of one command.
    pub fn of_command(owner: u64, command: u64) -> Mark {
        Mark(format!("{}{owner}.{command}.", Self::of_host().0))
    }

    /// As an entry of an environment.
    pub fn entry(&self) -> &str {
        &self.0
    }
}

/// A name that no other process, past or present, has.
fn this_process() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}-{:x}", std::process::id(), now.as_nanos())
}
