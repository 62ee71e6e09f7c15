//! The messages between the keeper of a detached command and its clients, and the keeper's record.
//!
//! They are sent over a stream socket. A message is its length (four bytes, little-endian) and that many
//! bytes. The keeper begins with the state, and sends it again with each change. The record is a file
//! that contains the state alone: a client that no longer finds a keeper reads the last state there.

mod state;
mod terminal;
#[cfg(test)]
mod tests;

pub use state::{EndCause, ProcessIdentity, Stage, TaskEnd, TaskState, VERSION};
pub use terminal::{Stretch, TerminalSize, TerminalView};

use crate::fields::{Reader, Writer};
use crate::member::Member;

/// The most bytes of one [`TaskCall::Write`].
pub const LONGEST_WRITE: usize = 64 * 1024;

/// The most bytes of a message to a keeper.
pub const LONGEST_CALL: usize = LONGEST_WRITE + 64;

/// A message from client to keeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskCall {
    /// List the members. Answered by [`TaskAnswer::Members`].
    Who,
    /// Write to the command's stdin. Answered by [`TaskAnswer::Written`] once the bytes are in the pipe;
    /// until then the same client's next write is not read.
    Write(Vec<u8>),
    /// Close the command's stdin. Answered by [`TaskAnswer::Done`].
    CloseInput,
    /// Signal the command's process group. Answered by [`TaskAnswer::Signalled`].
    Signal(i32),
    /// End all members: SIGTERM, this many milliseconds, SIGKILL. Answered by [`TaskAnswer::Over`].
    End(u64),
    /// Tell of the command's terminal. Answered by [`TaskAnswer::Terminal`], as the next two are; on a
    /// command without a terminal by [`TaskAnswer::Done`].
    Look,
    /// Set the size of the client's window, which counts as long as the client is connected: the terminal
    /// gets the smallest of all windows.
    Resize {
        /// The size of the window; with no columns, the client has none any more.
        size: TerminalSize,
        /// Whether the foreground programs are told even if that changes nothing, so that they draw anew.
        redraw: bool,
    },
    /// Send the output from this position on, in [`TaskAnswer::Output`] with the number of this call, and
    /// the sizes of the terminal. [`TaskAnswer::Done`] follows the output so far. A later call replaces an
    /// earlier one.
    Follow {
        /// The position.
        since: u64,
        /// Whether later output is sent, too.
        live: bool,
    },
}

/// A message from keeper to client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskAnswer {
    /// The state. Answers no call: its number is 0.
    State(TaskState),
    /// The members.
    Members {
        /// The members, or some of them if there are many.
        members: Vec<Member>,
        /// The number of all members.
        total: u64,
    },
    /// The errno of a write; 0: the bytes were written.
    Written(i32),
    /// The call was carried out.
    Done,
    /// Whether the command still ran, and so was signalled.
    Signalled(bool),
    /// An ordered end is over. Says whether no member is left.
    Over(bool),
    /// The command's terminal.
    Terminal(TerminalView),
    /// Output of a command with a terminal.
    Output(Stretch),
    /// The size of the terminal from here on in that output.
    Resized(TerminalSize),
}

impl TaskCall {
    /// Encodes the call as a message; its answer has the same number.
    pub fn encode(&self, number: u64) -> Vec<u8> {
        let mut fields = Writer::default();
        fields.number(number);
        match self {
            TaskCall::Who => fields.number(1),
            TaskCall::Write(bytes) => fields.number(2).bytes(bytes),
            TaskCall::CloseInput => fields.number(3),
            TaskCall::Signal(signal) => fields.number(4).number(*signal as u64),
            TaskCall::End(grace) => fields.number(5).number(*grace),
            TaskCall::Look => fields.number(6),
            TaskCall::Resize { size, redraw } => {
                size.encode(fields.number(7)).number((*redraw).into())
            }
            TaskCall::Follow { since, live } => {
                fields.number(8).number(*since).number((*live).into())
            }
        };
        framed(&fields.finish())
    }

    /// Decodes a message without its length. Returns the number and the call. None: it is no call.
    pub fn decode(message: &[u8]) -> Option<(u64, TaskCall)> {
        let fields = &mut Reader(message);
        let number = fields.number()?;
        let call = match fields.number()? {
            1 => TaskCall::Who,
            2 => TaskCall::Write(fields.bytes()?.to_vec()),
            3 => TaskCall::CloseInput,
            4 => TaskCall::Signal(fields.small()?),
            5 => TaskCall::End(fields.number()?),
            6 => TaskCall::Look,
            7 => {
                let size = TerminalSize::decode(fields)?;
                TaskCall::Resize { size, redraw: fields.number()? != 0 }
            }
            8 => TaskCall::Follow { since: fields.number()?, live: fields.number()? != 0 },
            _ => return None,
        };
        fields.is_empty().then_some((number, call))
    }
}

impl TaskAnswer {
    /// Encodes the answer as a message; `number` is the call's.
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
            TaskAnswer::Terminal(view) => view.encode(fields.number(7)),
            TaskAnswer::Output(stretch) => stretch.encode(fields.number(8)),
            TaskAnswer::Resized(size) => size.encode(fields.number(9)),
        };
        framed(&fields.finish())
    }

    /// Decodes a message without its length. Returns the number and the answer. None: it is no answer.
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
            7 => TaskAnswer::Terminal(TerminalView::decode(fields)?),
            8 => TaskAnswer::Output(Stretch::decode(fields)?),
            9 => TaskAnswer::Resized(TerminalSize::decode(fields)?),
            _ => return None,
        };
        fields.is_empty().then_some((number, answer))
    }
}

fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [&length.to_le_bytes(), message].concat()
}

/// The beginning of a stream of messages.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<'a> {
    /// A message without its length, and the rest of the stream.
    Message(&'a [u8], &'a [u8]),
    /// The message is not complete yet.
    Unfinished,
    /// The message is longer than allowed.
    TooLong,
}

/// Splits the first message off a stream.
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
