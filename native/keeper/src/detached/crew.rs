//! The processes of a detached command. They are started, counted and ended by this process, or by a
//! cradle in a sandbox.

pub mod children;
pub mod seated;

use std::time::{Duration, Instant};

use forkline_protocol::Member;

use crate::detached::denials::Report;
use crate::wait::EndedChild;

/// An event of these processes.
pub enum Event {
    /// The leader has ended.
    Ended(EndedChild),
    /// The members that are left, as was asked.
    Seen(Vec<Member>),
    /// Members are left that can't be ended.
    GivenUp,
    /// No member is left.
    Empty,
    /// The cradle is lost, so the members are unknown from now on.
    Lost,
}

/// The processes of a command, as its keeper controls them.
pub trait Crew {
    /// Returns the leader's process id, as the host knows it.
    fn leader(&self) -> i32;

    /// Does overdue work. Returns what has happened. Nothing follows [`Event::Empty`] or [`Event::Lost`].
    fn act(&mut self, now: Instant) -> Vec<Event>;

    /// Ends all members. If an end is under way, it gets this grace.
    fn end(&mut self, grace: Duration, now: Instant);

    /// The same for a command whose time is over; before, looks at what its members do.
    fn end_late(&mut self, grace: Duration, now: Instant);

    /// Returns what they were seen to do then, once.
    fn take_reason(&mut self) -> Option<String>;

    /// Returns whether SIGKILL was needed for that.
    fn is_forced(&self) -> bool;

    /// Returns the errno that kept the command from a lower priority; 0: none, or none was asked for.
    fn share(&self) -> i32;

    /// Asks for the members that are left.
    fn ask_for_members(&mut self, now: Instant);

    /// Signals the command's process group. Returns whether it was signalled.
    fn signal(&mut self, signal: i32) -> bool;

    /// Returns when `act` is due.
    fn due(&self) -> Option<Instant>;

    /// Returns how the sandbox is enforced, and what it has denied.
    fn sandbox(&mut self) -> Report;

    /// Returns descriptors that are readable when something has happened, other than to a child of this
    /// process.
    fn descriptors(&self) -> [Option<i32>; 2];
}
