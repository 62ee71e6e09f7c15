//! Questions about programs that are about to be executed.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Instant;

use forkline_protocol::ExecAsk;

use crate::command::sink::OnAsk;

/// The questions that have not been answered.
#[derive(Default)]
pub struct Questions {
    /// Those that were told, by the keeper's id and their numbers.
    pub told: HashMap<(u64, u64), ToldQuestion>,
    /// Questions that have come before the news of their cradles.
    pub unplaced: Vec<Unplaced>,
    /// The detached commands in sandboxes, by id.
    pub detached: HashMap<u64, DetachedAsker>,
}

/// A question that waits for an answer.
pub struct ToldQuestion {
    /// The command whose program it is about.
    pub asker: AskingCommand,
    /// Why the command has not ended if its time is over meanwhile.
    pub reason: String,
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

/// The most characters of a command line in a reason.
const LONGEST_LINE: usize = 100;

/// Returns a reason for a timeout, as `asked pid=7 command=git%20push`.
pub fn reason_of(ask: &ExecAsk) -> String {
    let line = ask.argv.join(&b' ');
    let line: String = String::from_utf8_lossy(&line).chars().take(LONGEST_LINE).collect();
    let mut reason = format!("asked pid={} command=", ask.pid);
    for byte in line.bytes() {
        let _ = match byte {
            b'/' | b'.' | b'_' | b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                write!(reason, "{}", char::from(byte))
            }
            _ => write!(reason, "%{byte:02X}"),
        };
    }
    reason
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_names_the_program_and_the_beginning_of_its_arguments() {
        let argv = ["git", "push", &"é".repeat(200)].map(|word| word.as_bytes().to_vec()).to_vec();
        let ask = ExecAsk {
            pid: 7,
            parent: 6,
            program: b"/usr/bin/git".to_vec(),
            directory: Vec::new(),
            say: Vec::new(),
            parents: Vec::new(),
            argv,
        };
        let rest = "%C3%A9".repeat(91);
        assert_eq!(reason_of(&ask), format!("asked pid=7 command=git%20push%20{rest}"));
    }
}
