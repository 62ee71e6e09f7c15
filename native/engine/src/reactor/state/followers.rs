//! Those who follow a command.

use crate::command::outcome::BackgroundProcess;

/// Told who of a command runs; None: it could not be looked at.
pub type OnMembers = Box<dyn FnOnce(Option<Vec<BackgroundProcess>>) + Send>;
/// Told that nobody of a command is left; false: nobody can tell any more.
pub type OnGone = Box<dyn FnOnce(bool) + Send>;

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
