//! Those of a detached command: who starts them, counts them and ends them is this process, or, in a
//! sandbox, a cradle.

pub mod children;
pub mod seated;

use std::time::{Duration, Instant};

use forkline_protocol::Member;

use crate::detached::denials::Report;
use crate::wait::EndedChild;

/// What has happened to them.
pub enum Event {
    /// The command's own process has ended.
    Ended(EndedChild),
    /// These are there, as was asked.
    Seen(Vec<Member>),
    /// They could not all be ended.
    GivenUp,
    /// Nobody is left.
    Empty,
    /// Nobody can tell any more.
    Lost,
}

/// Them, as they are to be dealt with.
pub trait Crew {
    /// The command's own process, by the number that the host knows it by.
    fn leader(&self) -> i32;

    /// Does what is due; what has happened. Nothing follows that nobody is left, or can tell.
    fn act(&mut self, now: Instant) -> Vec<Event>;

    /// Ends them; an end that is under way gets this grace.
    fn end(&mut self, grace: Duration, now: Instant);

    /// Whether SIGKILL was needed for that.
    fn is_forced(&self) -> bool;

    /// The errno of why they have no smaller share of the processors; 0: they have, or were to have none.
    fn share(&self) -> i32;

    /// Asks who is there.
    fn look(&mut self, now: Instant);

    /// Signals the command's group; whether that was sent.
    fn signal(&mut self, signal: i32) -> bool;

    /// When there is something to do.
    fn due(&self) -> Option<Instant>;

    /// By what their sandbox is kept, and what it has denied them.
    fn sandbox(&mut self) -> Report;

    /// Readable when something has happened, other than to a child of this process.
    fn descriptors(&self) -> [Option<i32>; 2];
}
