//! What host and cradle say to each other about one command after another. A request begins it; what is
//! said of it ends with the answer that nothing follows.
//!
//! A channel that ends before any answer tells what became of the request: an error (ECONNRESET) says
//! that it was not read, so nobody has run the command; an end of file, that it was, so somebody may have.

use forkline_launch::Step;

use crate::fields::{Reader, Writer};

/// From host to cradle. End of file means that the host is gone, and the command to be ended. What comes
/// when the command has ended is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Signal the command's group. Answered by [`Answer::Signalled`].
    Signal(i32),
    /// End all that is left: SIGTERM, so many milliseconds, SIGKILL. Answered by [`Answer::Over`].
    End(u64),
    /// Tell who is left. Answered by [`Answer::Left`], or [`Answer::Empty`].
    Who,
}

/// From cradle to host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It runs.
    Started(Start),
    /// Before any other, to whoever the host may leave the command to: by what its sandbox is kept. On the
    /// socket that comes along is told what the command is denied, in the words of
    /// [`News::Denied`](crate::News); there is none: that can't be heard.
    Stands(String),
    /// It does not run; nothing follows.
    Failed {
        /// The step of the launch.
        step: Step,
        /// Why.
        errno: i32,
    },
    /// It was no longer wanted before anything was started; nothing follows.
    Unwanted,
    /// Nothing was started, since this cradle is not as it was made, or can't take a request: it ends, and
    /// another one may be asked.
    Unfit {
        /// Why.
        errno: i32,
        /// The same of the cradle, in words: `was changed from outside (its limits)`.
        why: String,
    },
    /// The leader has ended.
    Exit(Exit),
    /// Nobody is left; nothing follows.
    Empty,
    /// Whether the group was signalled.
    Signalled(bool),
    /// These are left. `more`: so are those in the next message.
    Left {
        /// Some of them.
        members: Vec<Member>,
        /// Whether these are not all.
        more: bool,
    },
    /// The end that was ordered is over.
    Over {
        /// Whether SIGKILL was needed.
        forced: bool,
        /// Whether nobody is left, in which case nothing follows. Else they are told before this.
        cleared: bool,
    },
}

/// That it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Start {
    /// Its process id, and its group's and session's.
    pub pid: i32,
    /// The cradle's process id.
    pub cradle: i32,
    /// When it was launched, by the monotonic clock, in nanoseconds.
    pub at: u64,
    /// The errno of why it has no smaller share of the processors than it would have anyway; 0: it has,
    /// or was to have none.
    pub share: i32,
}

/// How the leader ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exit {
    /// Its start, which may not have been told before.
    pub start: Start,
    /// Its status.
    pub status: Status,
    /// CPU time in user code, of it and of those it waited for, in microseconds.
    pub user: u64,
    /// The same in the kernel.
    pub system: u64,
    /// The largest resident size of any one of them, in bytes.
    pub peak: u64,
    /// When it was seen, by the monotonic clock, in nanoseconds.
    pub at: u64,
    /// Whether nobody else is left; then nothing follows.
    pub empty: bool,
    /// Where it was; empty: not asked for, or not known.
    pub directory: Vec<u8>,
}

/// An exit status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Status {
    /// It exited with this code, 0 to 255.
    Exited(i32),
    /// This signal killed it.
    Signaled(i32),
    /// Nobody knows.
    #[default]
    Unknown,
}

/// Somebody who is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its process id.
    pub pid: i32,
    /// Its group; 0: not known.
    pub group: i32,
    /// Its command line. None: it is still the command's shell, or a fork of it, or can't be seen.
    pub command: Option<Vec<u8>>,
}

impl Order {
    /// As a message.
    pub fn encode(self) -> Vec<u8> {
        let (kind, number) = match self {
            Order::Signal(signal) => (1, signal as u64),
            Order::End(grace) => (2, grace),
            Order::Who => (3, 0),
        };
        Writer::default().number(kind).number(number).finish()
    }

    /// None: it is not an order; nor is a request.
    pub fn decode(message: &[u8]) -> Option<Order> {
        let fields = &mut Reader(message);
        match (fields.number()?, fields.number()?) {
            (1, signal) => Some(Order::Signal(i32::try_from(signal).ok()?)),
            (2, grace) => Some(Order::End(grace)),
            (3, _) => Some(Order::Who),
            _ => None,
        }
    }
}

impl Answer {
    /// As a message.
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

    /// None: it is not an answer.
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

impl Member {
    pub(crate) fn encode(&self, fields: &mut Writer) {
        fields.number(self.pid as u64).number(self.group as u64);
        fields.number(self.command.is_some().into());
        fields.bytes(self.command.as_deref().unwrap_or_default());
    }

    pub(crate) fn decode(fields: &mut Reader) -> Option<Member> {
        let (pid, group) = (fields.small()?, fields.small()?);
        let is_known = fields.number()? != 0;
        let command = fields.bytes()?.to_vec();
        Some(Member { pid, group, command: is_known.then_some(command) })
    }

    /// Decodes members until no field is left.
    pub(crate) fn decode_all(fields: &mut Reader) -> Option<Vec<Member>> {
        let mut members = Vec::new();
        while !fields.is_empty() {
            members.push(Member::decode(fields)?);
        }
        Some(members)
    }
}

/// As many messages as it takes: each is far shorter than what a socket holds.
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
