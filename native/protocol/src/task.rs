//! What the keeper of a detached command and those who have found it say to each other, and the record
//! that the keeper leaves.
//!
//! They talk over a stream socket. A message is its length, four bytes little-endian, and so many bytes.
//! The keeper begins with the state, and tells it again with each change. The record is a file with
//! nothing but the state: whoever finds no keeper any more finds there what it would have said.

mod state;
#[cfg(test)]
mod tests;

pub use state::{Cause, End, Process, Stage, State, VERSION};

use crate::channel::Member;
use crate::fields::{Reader, Writer};

/// The most bytes of one [`Call::Write`].
pub const LONGEST_WRITE: usize = 64 * 1024;

/// The longest message to a keeper.
pub const LONGEST_CALL: usize = LONGEST_WRITE + 64;

/// To the keeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Tell who is there now. Answered by [`Answer::Members`].
    Who,
    /// Write to its stdin. Answered by [`Answer::Written`] once the bytes are in the pipe; until then the
    /// next one of the same client is not read.
    Write(Vec<u8>),
    /// Close its stdin. Answered by [`Answer::Done`].
    CloseInput,
    /// Signal its group. Answered by [`Answer::Signalled`].
    Signal(i32),
    /// End all of it: SIGTERM, so many milliseconds, SIGKILL. Answered by [`Answer::Over`].
    End(u64),
}

/// From the keeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// How it stands. The answer to nothing: its number is 0.
    State(State),
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

impl Call {
    /// As a message with the number that its answer is to have.
    pub fn encode(&self, number: u64) -> Vec<u8> {
        let mut fields = Writer::default();
        fields.number(number);
        match self {
            Call::Who => fields.number(1),
            Call::Write(bytes) => fields.number(2).bytes(bytes),
            Call::CloseInput => fields.number(3),
            Call::Signal(signal) => fields.number(4).number(*signal as u64),
            Call::End(grace) => fields.number(5).number(*grace),
        };
        framed(&fields.finish())
    }

    /// Of a message without its length, the number and the call. None: it is no call.
    pub fn decode(message: &[u8]) -> Option<(u64, Call)> {
        let fields = &mut Reader(message);
        let number = fields.number()?;
        let call = match fields.number()? {
            1 => Call::Who,
            2 => Call::Write(fields.bytes()?.to_vec()),
            3 => Call::CloseInput,
            4 => Call::Signal(fields.small()?),
            5 => Call::End(fields.number()?),
            _ => return None,
        };
        fields.is_empty().then_some((number, call))
    }
}

impl Answer {
    /// As a message; `number` is that of the call.
    pub fn encode(&self, number: u64) -> Vec<u8> {
        let mut fields = Writer::default();
        fields.number(number);
        match self {
            Answer::State(state) => fields.number(1).bytes(&state.encode()),
            Answer::Members { members, total } => {
                fields.number(2).number(*total);
                members.iter().for_each(|member| member.encode(&mut fields));
                &mut fields
            }
            Answer::Written(errno) => fields.number(3).number(*errno as u64),
            Answer::Done => fields.number(4),
            Answer::Signalled(sent) => fields.number(5).number((*sent).into()),
            Answer::Over(cleared) => fields.number(6).number((*cleared).into()),
        };
        framed(&fields.finish())
    }

    /// Of a message without its length, the number and the answer. None: it is no answer.
    pub fn decode(message: &[u8]) -> Option<(u64, Answer)> {
        let fields = &mut Reader(message);
        let number = fields.number()?;
        let answer = match fields.number()? {
            1 => Answer::State(State::decode(fields.bytes()?)?),
            2 => {
                let total = fields.number()?;
                Answer::Members { members: Member::decode_all(fields)?, total }
            }
            3 => Answer::Written(fields.small()?),
            4 => Answer::Done,
            5 => Answer::Signalled(fields.number()? != 0),
            6 => Answer::Over(fields.number()? != 0),
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
