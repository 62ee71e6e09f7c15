//! The command that asks for signatures.

use std::fs;

use crate::outside;
use crate::sandbox::agents::is_command_number;

/// A command, by its cradle and the name that the cradle has taken for it. Commands can't change that name.
#[derive(Debug, Clone)]
pub struct Asker {
    /// The cradle's process id outside.
    pub cradle: i32,
    pub command: String,
}

impl Asker {
    /// Returns the command of a process. `keeper`: the parent of all cradles. Ids are those outside.
    pub fn of(pid: i32, keeper: i32) -> Option<Asker> {
        let cradle = outside::child_above(pid, keeper)?;
        Some(Asker { cradle, command: name(cradle)? })
    }

    /// Returns whether the cradle still runs this command.
    pub fn still_runs(&self) -> bool {
        name(self.cradle).is_some_and(|name| name == self.command)
    }
}

/// Returns a cradle's name. None: it runs no command. The working directory is the host's `/proc`.
fn name(pid: i32) -> Option<String> {
    let name = fs::read_to_string(format!("{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned()).filter(|name| is_command_number(name))
}
