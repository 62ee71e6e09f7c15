//! Processes that outlived their command, and the disposals of owners.

use std::sync::Arc;
use std::time::Duration;

use forkline_protocol::Order;

use crate::command::owner::Owner;
use crate::keeper::cradles::Cradle;
use crate::keeper::tenancy::Tenancy;
use crate::reactor::state::grace::milliseconds;
use crate::reactor::state::silence::Silence;
use crate::request::letter::tell;

/// Called once all is gone.
pub type OnDisposed = Box<dyn FnOnce() + Send>;

/// Processes that outlived their command, in its cradle.
pub struct Leftover {
    /// The id of the owner.
    pub owner: u64,
    /// The command line shown for those that have none.
    pub label: String,
    /// The keeper of the cradle.
    pub keeper: Tenancy,
    /// The cradle.
    pub cradle: Cradle,
    /// The process id of the cradle.
    pub cradle_pid: i32,
    /// The time from SIGTERM to SIGKILL.
    pub grace: Duration,
    /// Whether they are being ended.
    pub is_ending: bool,
    /// Whether they can't be ended.
    pub given_up: bool,
    /// The silence of their cradle.
    pub silence: Silence,
}

/// A disposal under way.
pub struct Disposal {
    /// The owner whose commands end.
    pub owner: Arc<Owner>,
    /// The time from SIGTERM to SIGKILL.
    pub grace: Duration,
    /// Whether leftovers of earlier commands have been told to end.
    pub told: bool,
    /// Called at its end.
    pub done: OnDisposed,
}

impl Leftover {
    /// Tells the cradle to end them.
    pub fn end(&mut self, grace: Duration) {
        (self.grace, self.is_ending, self.given_up) = (grace, true, false);
        self.silence = Silence::default();
        tell(&self.cradle.channel, Order::End(milliseconds(grace)));
    }
}
