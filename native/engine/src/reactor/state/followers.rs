//! Requests about the members of a command.

use crate::command::outcome::BackgroundProcess;

/// Called with the members that run. None: they could not be found out.
pub type OnMembers = Box<dyn FnOnce(Option<Vec<BackgroundProcess>>) + Send>;
/// Called when no member of a command is left, or when that can't be found out any more.
pub type OnGone = Box<dyn FnOnce(MembersGone) + Send>;

/// The certainty that no member of a command is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MembersGone {
    /// The kernel has confirmed it.
    Confirmed,
    /// There is nothing to ask any more: some may be left.
    Unknown,
}

/// The requests about one command.
#[derive(Default)]
pub struct Followers {
    /// Callbacks that wait for the members that run.
    pub asked: Vec<OnMembers>,
    /// Callbacks that wait until no member is left.
    pub gone: Vec<OnGone>,
    /// The members reported so far.
    pub members: Vec<BackgroundProcess>,
}
