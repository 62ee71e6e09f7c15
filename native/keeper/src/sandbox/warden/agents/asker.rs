//! The command that asks for signatures.

use crate::cradle::roster;

/// A command, by its cradle and the number that the cradle has given it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asker {
    /// The cradle's process id outside.
    pub cradle: i32,
    pub command: u64,
}

impl Asker {
    /// Returns the command of a process. `keeper`: the parent of all cradles. Ids are those outside.
    pub fn of(pid: i32, keeper: i32) -> Option<Asker> {
        let cradle = roster::cradle_above(pid, keeper)?;
        Some(Asker { cradle, command: roster::command_of(cradle)? })
    }

    /// Returns whether the cradle still runs this command.
    pub fn still_runs(&self) -> bool {
        roster::command_of(self.cradle) == Some(self.command)
    }
}
