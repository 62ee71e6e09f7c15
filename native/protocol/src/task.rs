//! What the keeper of a detached command and those who have found it say to each other, and the record
//! that the keeper leaves.
//!
//! They talk over a stream socket. A message is its length, four bytes little-endian, and so many bytes.
//! The keeper begins with the state, and tells it again with each change. The record is a file with
//! nothing but the state: whoever finds no keeper any more finds there what it would have said.

mod state;
#[cfg(test)]
mod tests;

pub use state::{EndCause, ProcessIdentity, Stage, TaskEnd, TaskState, VERSION};

use crate::channel::Member;
use crate::fields::{Reader, Writer};

/// The most bytes of one [`TaskCall::Write`].
pub const LONGEST_WRITE: usize = 64 * 1024;

/// The longest message to a keeper.
pub const LONGEST_CALL: usize = LONGEST_WRITE + 64;

/// To the keeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskCall {
    /// Tell who is there now. Answered by [`TaskAnswer::Members`].
    Who,
    /// Write to its stdin. Answered by [`TaskAnswer::Written`] once the bytes are in the pipe; until then the
    /// next one of the same client is not read.
    Write(Vec<u8>),
    /// Close its stdin. Answered by [`TaskAnswer::Done`].
    CloseInput,
    /// Signal its group. Answered by [`TaskAnswer::Signalled`].
    Signal(i32),
    /// End all of it: SIGTERM, so many milliseconds, SIGKILL. Answered by [`TaskAnswer::Over`].
    End(u64),
}

/// From the keeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskAnswer {
    /// How it stands. The answer to nothing: its number is 0.
    State(TaskState),
    /// Those who are there.
    Members {
        /// Some of them, if there are many.
        members: Vec<Member>,
        /// How many there are.
        total: u64,
    },
    /// Why the bytes could not be written; 0: they were.
    Written(i32),
    /// That is done.
    Done,
    /// Whether it still ran, and so was signalled.
    Signalled(bool),
    /// The end that was ordered is over; whether nobody is left.
    Over(bool),
}

impl TaskCall {
    /// As a message with the number that its answer is to have.
    pub fn encode(&self, number: u64) -> Vec<u8> {
        let mut fields = Writer::default();
        fields.number(number);
        match self {
            TaskCall::Who => fields.number(1),
            TaskCall::Write(bytes) => fields.number(2).bytes(bytes),
            TaskCall::CloseInput => fields.number(3),
            TaskCall::Signal(signal) => fields.number(4).number(*signal as u64),
            TaskCall::End(grace) => fields.number(5).number(*grace),
        };
        framed(&fields.finish())
    }

    /// Of a message without its length, the number and the call. None: it is no call.
    pub fn decode(message: &[u8]) -> Option<(u64, TaskCall)> {
        let fields = &mut Reader(message);
        let number = fields.number()?;
        let call = match fields.number()? {
            1 => TaskCall::Who,
            2 => TaskCall::Write(fields.bytes()?.to_vec()),
            3 => TaskCall::CloseInput,
            4 => TaskCall::Signal(fields.small()?),
            5 => TaskCall::End(fields.number()?),
            _ => return None,
        };
        fields.is_empty().then_some((number, call))
    }
}

impl TaskAnswer {
    /// As a message; `number` is that of the call.
    pub fn encode(&self, number: u64) -> Vec<u8> {
        let mut fields = Writer::default();
        fields.number(number);
        match self {
            TaskAnswer::State(state) => fields.number(1).bytes(&state.encode()),
            TaskAnswer::Members { members, total } => {
                fields.number(2).number(*total);
                members.iter().for_each(|member| member.encode(&mut fields));
                &mut fields
            }
            TaskAnswer::Written(errno) => fields.number(3).number(*errno as u64),
            TaskAnswer::Done => fields.number(4),
            TaskAnswer::Signalled(sent) => fields.number(5).number((*sent).into()),
            TaskAnswer::Over(cleared) => fields.number(6).number((*cleared).into()),
        };
        framed(&fields.finish())
    }

    /// Of a message without its length, the number and the answer. None: it is no answer.
    pub fn decode(message: &[u8]) -> Option<(u64, TaskAnswer)> {
        let fields = &mut Reader(message);
        let number = fields.number()?;
        let answer = match fields.number()? {
            1 => TaskAnswer::State(TaskState::decode(fields.bytes()?)?),
            2 => {
                let total = fields.number()?;
                TaskAnswer::Members { members: Member::decode_all(fields)?, total }
            }
            3 => TaskAnswer::Written(fields.small()?),
            4 => TaskAnswer::Done,
            5 => TaskAnswer::Signalled(fields.number()? != 0),
            6 => TaskAnswer::Over(fields.number()? != 0),
            _ => return None,
        };
        fields.is_empty().then_some((number, answer))
    }
}

fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [&length.to_le_bytes(), message].concat()
}

/// What comes first in a stream of messages.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// A message without its length, and what follows it.
    Message(&'a [u8], &'a [u8]),
    /// It has not all come yet.
    Unfinished,
    /// It is longer than it may be.
    TooLong,
}

/// Takes the first message off a stream.
pub fn next_message(stream: &[u8], longest: usize) -> Next<'_> {
    let Some((length, rest)) = stream.split_first_chunk() else { return Next::Unfinished };
    let length = u32::from_le_bytes(*length) as usize;
    if length > longest {
        return Next::TooLong;
    }
    match rest.split_at_checked(length) {
        Some((message, rest)) => Next::Message(message, rest),
        None => Next::Unfinished,
    }
}
