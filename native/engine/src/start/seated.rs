//! Where a command that outlives the host runs if that is in a sandbox: in a cradle of that, which has to
//! do with the command's own keeper, and which the host leaves behind.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forkline_launch::Attributes;
use forkline_protocol::{Call, pair};

use crate::command::Priority;
use crate::command::errors::LaunchError;
use crate::keeper::program::no_keeper;
use crate::keeper::{Keeper, Turn, attributes, thread};
use crate::request::plumbing::descriptors;

/// A sandbox that stands, or that is being made.
pub struct SandboxTurn {
    turn: Turn,
    /// Who has asked.
    thread: i32,
}

/// From one look at a keeper that has ended to the next, until what it had to say has been heard.
const AGAIN: Duration = Duration::from_millis(2);
const PATIENCE: Duration = Duration::from_secs(2);

impl SandboxTurn {
    /// With this keeper, for the calling thread.
    pub fn of(turn: Result<Turn, LaunchError>) -> Result<SandboxTurn, LaunchError> {
        Ok(SandboxTurn { turn: turn?, thread: thread::id() })
    }

    /// Who keeps it.
    pub fn keeper(&self) -> &Arc<Keeper> {
        self.turn.keeper()
    }

    /// What the command has of the host, which may have changed since the sandbox was made.
    pub fn attributes(&self) -> Result<Attributes, LaunchError> {
        attributes::of_thread(self.thread, Priority::Normal).map_err(no_keeper)
    }

    /// The way to a new cradle.
    pub fn open(&self) -> Result<OwnedFd, LaunchError> {
        let (ours, theirs) = pair().map_err(|error: io::Error| descriptors("a channel")(error))?;
        self.turn.detached_started();
        let asked = self.turn.lifeline.call(Call::Keep, &[theirs.as_fd()]);
        asked.map_err(|error| {
            self.turn.detached_ended();
            no_keeper(error)
        })?;
        Ok(ours)
    }

    /// Why the sandbox can't be had, where nobody was at the other end of it. None: it has ended.
    pub fn refusal(&self) -> Option<LaunchError> {
        let refusal = || self.turn.sandbox.as_ref()?.refusal();
        let until = Instant::now() + PATIENCE;
        while refusal().is_none() && !self.turn.is_gone() && Instant::now() < until {
            std::thread::sleep(AGAIN);
        }
        refusal()
    }
}
