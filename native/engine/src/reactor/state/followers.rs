//! Those who follow a command.

use crate::command::outcome::BackgroundProcess;

/// Told who of a command runs; None: it could not be looked at.
pub type OnMembers = Box<dyn FnOnce(Option<Vec<BackgroundProcess>>) + Send>;
/// Told that no member of a command is left, as far as can be told.
pub type OnGone = Box<dyn FnOnce(MembersGone) + Send>;

/// How sure it is that no member of a command is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MembersGone {
    /// The kernel has told so.
    Confirmed,
    /// Nothing can tell any more: some may be left.
    Unknown,
}

/// Who waits for what, of one command.
#[derive(Default)]
pub struct Followers {
    /// Who asked for the processes that run.
    pub asked: Vec<OnMembers>,
    /// Who waits for the end of all of them.
    pub gone: Vec<OnGone>,
    /// The answer so far.
    pub members: Vec<BackgroundProcess>,
}
