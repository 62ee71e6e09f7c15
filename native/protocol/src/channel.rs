//! The messages between host and cradle about one command after another. A request begins a command; the
//! answer after which nothing follows ends it.
//!
//! A channel that ends before any answer shows what became of the request. An error (ECONNRESET) means
//! that the request was not read, so the command did not run. End of file means that it was read, so the
//! command may have run.

use forkline_launch::Step;

use crate::fields::{Reader, Writer};
use crate::member::Member;

/// A message from host to cradle. End of file means that the host is gone, and the command is to be
/// ended. Messages that arrive after the command's end are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Signal the command's group. Answered by [`Answer::Signalled`].
    Signal(i32),
    /// End all members: SIGTERM, this many milliseconds, SIGKILL. Answered by [`Answer::Over`].
    End(u64),
    /// The same for a command whose time is over: before, the cradle looks at what its members do. Answered
    /// by [`Answer::Reason`] too, if anything was seen.
    EndLate(u64),
    /// List the members. Answered by [`Answer::Left`], or [`Answer::Empty`].
    Who,
}

/// A message from cradle to host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The command runs.
    Started(Start),
    /// How the sandbox is enforced. The first answer to the keeper of a detached command. The socket that
    /// comes along tells of each denial, in the format of [`News::Denied`](crate::News); without a
    /// socket, denials can't be heard.
    Stands(String),
    /// The command does not run; nothing follows.
    Failed {
        /// The step of the launch.
        step: Step,
        /// The system's error.
        errno: i32,
    },
    /// The request was cancelled before anything was started; nothing follows.
    Unwanted,
    /// Nothing was started, since this cradle was changed after it was made, or can't take a request. The
    /// cradle ends, and another one may be asked.
    Unfit {
        /// The system's error.
        errno: i32,
        /// The reason in words: `was changed from outside (its limits)`.
        why: String,
    },
    /// The leader has ended.
    Exit(Exit),
    /// No member is left; nothing follows.
    Empty,
    /// Whether the process group was signalled.
    Signalled(bool),
    /// Members that are left.
    Left {
        /// Some of the members.
        members: Vec<Member>,
        /// Whether more members follow in the next message.
        more: bool,
    },
    /// What the members were seen to do when the time was over, in words: see `sight/reason.rs` of the
    /// keeper.
    Reason(String),
    /// An ordered end is over.
    Over {
        /// Whether SIGKILL was needed.
        forced: bool,
        /// Whether no member is left; then nothing follows. Otherwise the members are told before this
        /// answer.
        cleared: bool,
    },
}

/// The start of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Start {
    /// The process id of its leader, which is also the id of the process group and session.
    pub pid: i32,
    /// The cradle's process id.
    pub cradle: i32,
    /// The time of the launch by the monotonic clock, in nanoseconds.
    pub at: u64,
    /// The errno of lowering the session's priority; 0: it was lowered, or was not to be.
    pub share: i32,
}

/// The end of the leader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exit {
    /// The start, which may not have been told before.
    pub start: Start,
    /// The exit status.
    pub status: Status,
    /// CPU time in user code, of the leader and the children it waited for, in microseconds.
    pub user: u64,
    /// CPU time in the kernel, likewise.
    pub system: u64,
    /// The largest resident size of any one of these processes, in bytes.
    pub peak: u64,
    /// The time of the end, as the cradle saw it, by the monotonic clock, in nanoseconds.
    pub at: u64,
    /// Whether no other member is left; then nothing follows.
    pub empty: bool,
    /// The working directory at the end; empty: not asked for, or not known.
    pub directory: Vec<u8>,
}

/// An exit status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Status {
    /// The process exited with this code, 0 to 255.
    Exited(i32),
    /// The process was killed by this signal.
    Signaled(i32),
    /// Not known.
    #[default]
    Unknown,
}

impl Order {
    /// Encodes the order as a message.
    pub fn encode(self) -> Vec<u8> {
        let (kind, number) = match self {
            Order::Signal(signal) => (1, signal as u64),
            Order::End(grace) => (2, grace),
            Order::Who => (3, 0),
            Order::EndLate(grace) => (4, grace),
        };
        Writer::default().number(kind).number(number).finish()
    }

    /// Decodes an order. None: the message is not an order; it may be a request.
    pub fn decode(message: &[u8]) -> Option<Order> {
        let fields = &mut Reader(message);
        match (fields.number()?, fields.number()?) {
            (1, signal) => Some(Order::Signal(i32::try_from(signal).ok()?)),
            (2, grace) => Some(Order::End(grace)),
            (3, _) => Some(Order::Who),
            (4, grace) => Some(Order::EndLate(grace)),
            _ => None,
        }
    }
}

impl Answer {
    /// Encodes the answer as a message.
    pub fn encode(&self) -> Vec<u8> {
        let mut fields = Writer::default();
        match self {
            Answer::Started(start) => start.encode(fields.number(1)),
            Answer::Failed { step, errno } => {
                fields.number(2).bytes(step.name().as_bytes()).number(*errno as u64)
            }
            Answer::Unwanted => fields.number(3),
            Answer::Unfit { errno, why } => {
                fields.number(10).number(*errno as u64).bytes(why.as_bytes())
            }
            Answer::Stands(enforced) => fields.number(9).bytes(enforced.as_bytes()),
            Answer::Reason(reason) => fields.number(11).bytes(reason.as_bytes()),
            Answer::Exit(exit) => exit.encode(&mut fields),
            Answer::Empty => fields.number(5),
            Answer::Signalled(sent) => fields.number(6).number((*sent).into()),
            Answer::Left { members, more } => {
                fields.number(7).number((*more).into());
                members.iter().for_each(|member| member.encode(&mut fields));
                &mut fields
            }
            Answer::Over { forced, cleared } => {
                fields.number(8).number((*forced).into()).number((*cleared).into())
            }
        };
        fields.finish()
    }

    /// Decodes an answer. None: the message is not an answer.
    pub fn decode(message: &[u8]) -> Option<Answer> {
        let fields = &mut Reader(message);
        Some(match fields.number()? {
            1 => Answer::Started(Start::decode(fields)?),
            2 => {
                let step = Step::named(&String::from_utf8_lossy(fields.bytes()?))?;
                Answer::Failed { step, errno: fields.small()? }
            }
            3 => Answer::Unwanted,
            10 => Answer::Unfit {
                errno: fields.small()?,
                why: String::from_utf8_lossy(fields.bytes()?).into_owned(),
            },
            4 => Answer::Exit(Exit::decode(fields)?),
            5 => Answer::Empty,
            6 => Answer::Signalled(fields.number()? != 0),
            7 => {
                let more = fields.number()? != 0;
                Answer::Left { members: Member::decode_all(fields)?, more }
            }
            11 => Answer::Reason(String::from_utf8_lossy(fields.bytes()?).into_owned()),
            9 => Answer::Stands(String::from_utf8_lossy(fields.bytes()?).into_owned()),
            8 => Answer::Over { forced: fields.number()? != 0, cleared: fields.number()? != 0 },
            _ => return None,
        })
    }
}

impl Start {
    fn encode<'a>(&self, fields: &'a mut Writer) -> &'a mut Writer {
        fields.number(self.pid as u64).number(self.cradle as u64).number(self.at);
        fields.number(self.share as u64)
    }

    fn decode(fields: &mut Reader) -> Option<Start> {
        let (pid, cradle) = (fields.small()?, fields.small()?);
        Some(Start { pid, cradle, at: fields.number()?, share: fields.small()? })
    }
}

impl Exit {
    fn encode<'a>(&self, fields: &'a mut Writer) -> &'a mut Writer {
        self.status.encode(self.start.encode(fields.number(4)));
        fields.number(self.user).number(self.system).number(self.peak).number(self.at);
        fields.number(self.empty.into()).bytes(&self.directory)
    }

    fn decode(fields: &mut Reader) -> Option<Exit> {
        let start = Start::decode(fields)?;
        let status = Status::decode(fields)?;
        let (user, system, peak) = (fields.number()?, fields.number()?, fields.number()?);
        let (at, empty) = (fields.number()?, fields.number()? != 0);
        let directory = fields.bytes()?.to_vec();
        Some(Exit { start, status, user, system, peak, at, empty, directory })
    }
}

impl Status {
    pub(crate) fn encode(self, fields: &mut Writer) {
        let (kind, value) = match self {
            Status::Exited(code) => (0, code),
            Status::Signaled(signal) => (1, signal),
            Status::Unknown => (2, 0),
        };
        fields.number(kind).number(value as u64);
    }

    pub(crate) fn decode(fields: &mut Reader) -> Option<Status> {
        let (kind, value) = (fields.number()?, fields.small()?);
        Some(match kind {
            0 => Status::Exited(value),
            1 => Status::Signaled(value),
            _ => Status::Unknown,
        })
    }
}

/// Splits members over several answers, each far shorter than what a socket holds.
pub fn members_in_parts(members: &[Member]) -> Vec<Answer> {
    const AT_ONCE: usize = 64;
    let parts: Vec<_> = members.chunks(AT_ONCE).collect();
    let last = parts.len().saturating_sub(1);
    let answer = |(index, part): (usize, &&[Member])| Answer::Left {
        members: part.to_vec(),
        more: index < last,
    };
    parts.iter().enumerate().map(answer).collect()
}

#[cfg(test)]
mod tests;
