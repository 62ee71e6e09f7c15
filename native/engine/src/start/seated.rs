//! Sandboxed commands that outlive the host: each runs in a cradle of the sandbox's keeper, which the
//! command's own keeper controls and the host leaves behind.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forkline_launch::Attributes;
use forkline_protocol::{Call, pair};

use crate::command::Priority;
use crate::command::errors::LaunchError;
use crate::keeper::program::no_keeper;
use crate::keeper::sandbox::Sandbox;
use crate::keeper::{Keeper, Turn, attributes, thread};
use crate::request::plumbing::descriptors;

/// A claim on the keeper of a sandbox, which may still be set up.
pub struct SandboxTurn {
    turn: Turn,
    /// The id of the command.
    id: u64,
    /// The thread that has requested the command.
    thread: i32,
}

/// The time from one look to the next, until the last words of a keeper that has ended have been read.
const AGAIN: Duration = Duration::from_millis(2);
const PATIENCE: Duration = Duration::from_secs(2);

impl SandboxTurn {
    /// Makes the claim for the calling thread, and the command of this id.
    pub fn of(id: u64, turn: Result<Turn, LaunchError>) -> Result<SandboxTurn, LaunchError> {
        Ok(SandboxTurn { turn: turn?, id, thread: thread::id() })
    }

    /// Returns the keeper.
    pub fn keeper(&self) -> &Arc<Keeper> {
        self.turn.keeper()
    }

    /// Returns how long the command may wait until the host has answered that it may be executed.
    pub fn longest_ask(&self) -> Duration {
        self.turn.sandbox.as_ref().map_or(Duration::ZERO, Sandbox::longest_ask)
    }

    /// Returns the attributes that the command inherits from the host, which may have changed since the
    /// sandbox was set up.
    pub fn attributes(&self) -> Result<Attributes, LaunchError> {
        attributes::of_thread(self.thread, Priority::Normal).map_err(no_keeper)
    }

    /// Asks for a new cradle. Returns the channel to it.
    pub fn open(&self) -> Result<OwnedFd, LaunchError> {
        let (ours, theirs) = pair().map_err(|error: io::Error| descriptors("a channel")(error))?;
        self.turn.detached_started();
        let asked = self.turn.lifeline.call(Call::Keep(self.id), &[theirs.as_fd()]);
        asked.map_err(|error| {
            self.turn.detached_ended();
            no_keeper(error)
        })?;
        Ok(ours)
    }

    /// Returns why the sandbox can't be set up, after its cradle could not be used. None: the keeper has just
    /// ended.
    pub fn refusal(&self) -> Option<LaunchError> {
        let refusal = || self.turn.sandbox.as_ref()?.refusal();
        let until = Instant::now() + PATIENCE;
        while refusal().is_none() && !self.turn.is_gone() && Instant::now() < until {
            std::thread::sleep(AGAIN);
        }
        refusal()
    }
}
