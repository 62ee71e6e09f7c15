//! Which command a process belongs to.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::cradle::roster;
use crate::outside::{self, HiddenProcess};

/// How long it is believed what has been found about a process: its number is not used again so soon.
const BELIEVED: Duration = Duration::from_millis(100);
/// The most processes that are remembered.
const MOST: usize = 1024;

/// A command of the sandbox, or all that no command has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommandKey {
    Of {
        cradle: i32,
        /// The number of the cradle's command.
        command: u64,
    },
    /// What commands have left running.
    LeftBehind,
    /// It can't be seen whose it is.
    Unseen,
}

impl CommandKey {
    pub fn cradle(self) -> Option<i32> {
        match self {
            CommandKey::Of { cradle, .. } => Some(cradle),
            CommandKey::LeftBehind | CommandKey::Unseen => None,
        }
    }

    /// Returns how far the command is.
    pub fn stage(self) -> CommandStage {
        match self {
            CommandKey::LeftBehind | CommandKey::Unseen => CommandStage::Runs,
            CommandKey::Of { cradle, .. } if !roster::is_cradle(cradle) => CommandStage::Orphaned,
            CommandKey::Of { cradle, command } if roster::command_of(cradle) != Some(command) => {
                CommandStage::Ended
            }
            CommandKey::Of { .. } => CommandStage::Runs,
        }
    }
}

/// How far a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandStage {
    Runs,
    /// What still runs is left behind.
    Ended,
    /// Its cradle is gone before the end was told: what still runs of it is being killed.
    Orphaned,
}

/// Finds the commands of processes.
pub struct Callers {
    keeper: i32,
    known: Mutex<HashMap<i32, (CommandKey, Instant)>>,
}

impl Callers {
    pub fn new(keeper: i32) -> Callers {
        Callers { keeper, known: Mutex::default() }
    }

    /// Returns whether a process is none of a command's yet: a cradle, or what it has just started.
    pub fn is_beginning(&self, pid: i32) -> bool {
        let descent = outside::descent(pid, self.keeper);
        descent.is_some_and(|descent| descent.len() <= 2) || pid == self.keeper
    }

    /// Returns the command of a process.
    pub fn key_of(&self, pid: i32) -> CommandKey {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if let Some((key, at)) = known.get(&pid)
            && now.duration_since(*at) < BELIEVED
            && key.stage() != CommandStage::Ended
        {
            return *key;
        }
        let key = match roster::seen_cradle_above(pid, self.keeper) {
            Err(HiddenProcess) => CommandKey::Unseen,
            Ok(cradle) => {
                cradle.and_then(|cradle| Some((cradle, roster::command_of(cradle)?))).map_or(
                    CommandKey::LeftBehind,
                    |(cradle, command)| CommandKey::Of { cradle, command },
                )
            }
        };
        if known.len() >= MOST {
            known.retain(|_, (_, at)| now.duration_since(*at) < BELIEVED);
        }
        if known.len() < MOST {
            known.insert(pid, (key, now));
        }
        key
    }
}
