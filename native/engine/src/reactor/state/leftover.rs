//! What outlived its command, and the disposals of owners.

use std::sync::Arc;
use std::time::Duration;

use forkline_protocol::Order;

use crate::command::owner::Owner;
use crate::keeper::cradles::Cradle;
use crate::keeper::tenancy::Tenancy;
use crate::reactor::state::grace::milliseconds;
use crate::reactor::state::silence::Silence;
use crate::request::letter::tell;

/// Called once everything is gone.
pub type OnDisposed = Box<dyn FnOnce() + Send>;

/// Those who outlived their command, in its cradle.
pub struct Leftover {
    /// Whose.
    pub owner: u64,
    /// What those of them are called that have no other name.
    pub label: String,
    /// Whose cradle it is.
    pub keeper: Tenancy,
    /// The way to it.
    pub cradle: Cradle,
    /// Its process id.
    pub cradle_pid: i32,
    /// From SIGTERM to SIGKILL.
    pub grace: Duration,
    /// They are to be ended.
    pub is_ending: bool,
    /// They can't be ended.
    pub given_up: bool,
    /// Of their cradle.
    pub silence: Silence,
}

/// A disposal under way.
pub struct Disposal {
    /// Whose commands end.
    pub owner: Arc<Owner>,
    /// From SIGTERM to SIGKILL.
    pub grace: Duration,
    /// Whether those left by commands that have ended have been told.
    pub told: bool,
    /// Called at its end.
    pub done: OnDisposed,
}

impl Leftover {
    /// Has them end.
    pub fn end(&mut self, grace: Duration) {
        (self.grace, self.is_ending, self.given_up) = (grace, true, false);
        self.silence = Silence::default();
        tell(&self.cradle.channel, Order::End(milliseconds(grace)));
    }
}
