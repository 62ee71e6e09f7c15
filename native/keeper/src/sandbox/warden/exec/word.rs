//! The words by which the host is told of programs.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::sandbox::denied::one_word;

/// The most arguments that are told, and the most characters of each.
const MOST_ARGUMENTS: usize = 32;
const LONGEST: usize = 512;
/// The most bytes of a word.
const MOST_BYTES: usize = 6 * 1024;

/// Why a program was executed, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecReason {
    Rule,
    Otherwise,
    Asked,
    Unanswered,
    Unasked,
    Raced,
    Traced,
    Unread,
    Long,
}

/// A program that was executed, or denied.
pub struct ToldProgram<'program> {
    pub is_allowed: bool,
    pub reason: ExecReason,
    pub is_exact: bool,
    pub pid: i32,
    pub parent: i32,
    pub program: &'program [u8],
    /// What has executed it; may be empty.
    pub by: &'program [u8],
    pub say: &'program str,
    pub argv: &'program [Vec<u8>],
}

impl ExecReason {
    fn name(self) -> &'static str {
        match self {
            ExecReason::Rule => "rule",
            ExecReason::Otherwise => "otherwise",
            ExecReason::Asked => "asked",
            ExecReason::Unanswered => "unanswered",
            ExecReason::Unasked => "unasked",
            ExecReason::Raced => "raced",
            ExecReason::Traced => "traced",
            ExecReason::Unread => "unread",
            ExecReason::Long => "long",
        }
    }
}

impl ToldProgram<'_> {
    /// Returns `exec=DECISION,WHY,EXACT,PID,PARENT,AT,PROGRAM,BY,SAY,COUNT,ARGUMENT,…`.
    pub fn word(&self) -> String {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_millis());
        let mut word = format!(
            "exec={},{},{},{},{},{at},{},{},{},{}",
            if self.is_allowed { "allow" } else { "deny" },
            self.reason.name(),
            u8::from(self.is_exact),
            self.pid,
            self.parent,
            told(self.program),
            told(self.by),
            told(self.say.as_bytes()),
            self.argv.len(),
        );
        for argument in self.argv.iter().take(MOST_ARGUMENTS) {
            let argument = told(argument);
            if word.len() + argument.len() >= MOST_BYTES {
                break;
            }
            let _ = write!(word, ",{argument}");
        }
        word
    }
}

/// Returns the beginning of a text, as one word.
fn told(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text.get(..4 * LONGEST).unwrap_or(text));
    let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at);
    one_word(text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_told_in_one_word_of_bounded_length() {
        let argv: Vec<Vec<u8>> = vec![b"git".into(), b"push a,b".into(), "ü".repeat(5000).into()];
        let program = ToldProgram {
            is_allowed: false,
            reason: ExecReason::Rule,
            is_exact: true,
            pid: 7,
            parent: 6,
            program: b"/usr/bin/git",
            by: b"make",
            say: "ask first",
            argv: &argv,
        };
        let word = program.word();
        let fields: Vec<_> = word.split(',').collect();
        assert_eq!(fields[..5], ["exec=deny", "rule", "1", "7", "6"]);
        assert_eq!(
            fields[6..12],
            ["/usr/bin/git", "make", "ask%20first", "3", "git", "push%20a%2Cb"]
        );
        assert_eq!(fields[12].len(), 512 * 6);
        let many = vec![vec![b' '; 400]; 100];
        let word = ToldProgram { argv: &many, ..program }.word();
        assert!(word.len() <= MOST_BYTES && word.contains(",100,"));
    }
}
