//! A question about a program that is about to be executed in a sandbox, and the answers.

use crate::fields::{Reader, Writer};

/// A program that waits to be executed, until the host has decided.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecAsk {
    /// The process that becomes the program, and its parent, by the host's ids.
    pub pid: i32,
    /// See `pid`.
    pub parent: i32,
    /// The real path of the program's file.
    pub program: Vec<u8>,
    /// The working directory.
    pub directory: Vec<u8>,
    /// What the rule says for the model; empty: nothing.
    pub say: Vec<u8>,
    /// The processes that it descends from, the nearest first: ids, and the paths of their programs. The first is
    /// the process itself, with the program that it is now.
    pub parents: Vec<(i32, Vec<u8>)>,
    /// All arguments, the name of the program first.
    pub argv: Vec<Vec<u8>>,
}

/// The host's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecAnswer {
    /// The program may be executed.
    Allow,
    /// It may not.
    Deny,
    /// It may not: nobody is there to be asked.
    Unasked,
    /// It may not: nobody has answered in time.
    Unanswered,
}

/// The most bytes of a question that is asked: a longer one is a denial.
pub const LONGEST_ASK: usize = 48 * 1024;

impl ExecAsk {
    /// Appends the fields.
    pub(crate) fn write(&self, fields: &mut Writer) {
        fields.number(self.pid as u64).number(self.parent as u64);
        fields.bytes(&self.program).bytes(&self.directory).bytes(&self.say);
        fields.number(self.parents.len() as u64);
        for (pid, program) in &self.parents {
            fields.number(*pid as u64).bytes(program);
        }
        fields.number(self.argv.len() as u64);
        for argument in &self.argv {
            fields.bytes(argument);
        }
    }

    /// Reads the fields. None: they are not those of a question.
    pub(crate) fn read(fields: &mut Reader) -> Option<ExecAsk> {
        let (pid, parent) = (fields.small()?, fields.small()?);
        let mut ask = ExecAsk { pid, parent, ..ExecAsk::default() };
        ask.program = fields.bytes()?.to_owned();
        ask.directory = fields.bytes()?.to_owned();
        ask.say = fields.bytes()?.to_owned();
        for _ in 0..fields.number()? {
            ask.parents.push((fields.small()?, fields.bytes()?.to_owned()));
        }
        for _ in 0..fields.number()? {
            ask.argv.push(fields.bytes()?.to_owned());
        }
        Some(ask)
    }
}

impl ExecAnswer {
    /// Returns the number that stands for it.
    pub fn number(self) -> u64 {
        match self {
            ExecAnswer::Deny => 0,
            ExecAnswer::Allow => 1,
            ExecAnswer::Unasked => 2,
            ExecAnswer::Unanswered => 3,
        }
    }

    /// Returns the answer of a number; what is unknown is a denial.
    pub fn of(number: u64) -> ExecAnswer {
        match number {
            1 => ExecAnswer::Allow,
            2 => ExecAnswer::Unasked,
            3 => ExecAnswer::Unanswered,
            _ => ExecAnswer::Deny,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_arrives_as_it_was_given() {
        for answer in
            [ExecAnswer::Allow, ExecAnswer::Deny, ExecAnswer::Unasked, ExecAnswer::Unanswered]
        {
            assert_eq!(ExecAnswer::of(answer.number()), answer);
        }
        assert_eq!(ExecAnswer::of(77), ExecAnswer::Deny);
    }
}
