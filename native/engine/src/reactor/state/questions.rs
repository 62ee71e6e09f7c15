//! Questions about programs that are about to be executed.

use std::collections::HashMap;
use std::time::Instant;

use forkline_protocol::ExecAsk;

use crate::command::sink::OnAsk;

/// The questions that have not been answered.
#[derive(Default)]
pub struct Questions {
    /// The command of each that was told, by the keeper's id and its number.
    pub told: HashMap<(u64, u64), AskingCommand>,
    /// Questions that have come before the news of their cradles.
    pub unplaced: Vec<Unplaced>,
    /// The detached commands in sandboxes, by id.
    pub detached: HashMap<u64, DetachedAsker>,
}

/// A detached command, and who is asked about its programs.
pub struct DetachedAsker {
    /// Whom to ask.
    pub ask: OnAsk,
    /// The keeper's id, and the process id of the cradle. None: not known yet.
    pub cradle: Option<(u64, i32)>,
}

/// The command whose program a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskingCommand {
    /// The command of this id, which runs.
    Command(u64),
    /// The detached command of this id.
    Detached(u64),
    /// A command that has ended; its processes go on.
    Over,
}

/// A question of a command that is not known yet.
pub struct Unplaced {
    /// The keeper's id.
    pub keeper: u64,
    /// The process id of the cradle.
    pub cradle: i32,
    /// The question's number.
    pub number: u64,
    /// The question.
    pub ask: Box<ExecAsk>,
    /// The time until which its command is awaited.
    pub until: Instant,
}
