//! The state of a detached command.

use crate::channel::Status;
use crate::fields::{Reader, Writer};
use crate::member::Member;

/// The version of the state and of the messages. Changes only with these: such a command may outlive an
/// update of the package that started it. Each version begins as this one does, up to the leader: so that a
/// reader of another version can name the processes, and end them.
pub const VERSION: u64 = 4;

/// A process, identified among all past and present ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// The process id.
    pub pid: i32,
    /// The start time, in clock ticks since boot; 0: not shown.
    pub started: u64,
}

/// The state of a command, as its keeper knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskState {
    /// The id of this boot of the machine; empty: not shown.
    pub boot: Vec<u8>,
    /// The command's keeper.
    pub keeper: ProcessIdentity,
    /// The command's leader, whose process id is also the id of the process group and session.
    pub leader: ProcessIdentity,
    /// The start time, in milliseconds since 1970.
    pub started: u64,
    /// The stage of the command.
    pub stage: Stage,
}

/// The stage of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stage {
    /// The leader runs.
    #[default]
    Running,
    /// The leader has ended, and members are left.
    Left(TaskEnd),
    /// No member is left.
    Ended {
        /// How the leader ended.
        end: TaskEnd,
        /// When the last member ended, in milliseconds since 1970.
        gone: u64,
    },
}

/// What ended a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EndCause {
    /// It ended by itself, or an unknown process ended it.
    #[default]
    Itself,
    /// Its time limit was over.
    TimedOut,
    /// A client ended it.
    Ended,
}

/// The end of the leader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskEnd {
    /// The exit status.
    pub status: Status,
    /// What ended the command.
    pub cause: EndCause,
    /// What it was seen to do when its time was over, as in a result; empty: nothing.
    pub reason: String,
    /// Whether that took SIGKILL.
    pub forced: bool,
    /// CPU time in user code, of the leader and the children it waited for, in microseconds.
    pub user: u64,
    /// CPU time in the kernel, likewise.
    pub system: u64,
    /// The largest resident size of any one of these processes, in bytes.
    pub peak: u64,
    /// The time from start to end, in microseconds.
    pub wall: u64,
    /// When the leader ended, in milliseconds since 1970.
    pub at: u64,
    /// Bytes of output that are kept.
    pub output: u64,
    /// Bytes of output that were cut off, at least.
    pub cut: u64,
    /// How the sandbox was enforced, and what it denied, in the format of a result; empty: no sandbox.
    pub sandbox: String,
    /// The number of further denials.
    pub more_denied: u64,
    /// Whether some denials may not have been heard.
    pub unheard: bool,
    /// Whether the host, which serves the sandbox's proxy, ended before the command, or may have.
    pub alone: bool,
    /// The errno that kept the command from a lower priority; 0: none, or none was asked for.
    pub share: i32,
    /// Members that were left then, or some of them if there were many.
    pub left: Vec<Member>,
    /// The number of members that were left.
    pub total_left: u64,
}

impl TaskState {
    /// Encodes the state as the contents of a record.
    pub fn encode(&self) -> Vec<u8> {
        let mut fields = Writer::default();
        fields.number(VERSION).bytes(&self.boot).number(self.started);
        for process in [self.keeper, self.leader] {
            fields.number(process.pid as u64).number(process.started);
        }
        match &self.stage {
            Stage::Running => fields.number(0),
            Stage::Left(end) => end.encode(fields.number(1)),
            Stage::Ended { end, gone } => end.encode(fields.number(2).number(*gone)),
        };
        fields.finish()
    }

    /// Decodes a record. None: it was not written by [`TaskState::encode`], or not to its end.
    pub fn decode(record: &[u8]) -> Option<TaskState> {
        let fields = &mut Reader(record);
        if fields.number()? != VERSION {
            return None;
        }
        let (boot, started) = (fields.bytes()?.to_vec(), fields.number()?);
        let (keeper, leader) = (process_in(fields)?, process_in(fields)?);
        let stage = match fields.number()? {
            0 => Stage::Running,
            1 => Stage::Left(TaskEnd::decode(fields)?),
            2 => {
                let gone = fields.number()?;
                Stage::Ended { end: TaskEnd::decode(fields)?, gone }
            }
            _ => return None,
        };
        fields.is_empty().then_some(TaskState { boot, keeper, leader, started, stage })
    }

    /// Encodes the state in at most this many bytes. Leaves out members that were left, the last ones
    /// first, to fit.
    pub fn encode_within(&self, most: usize) -> Vec<u8> {
        let mut record = self.encode();
        let mut shorter = self.clone();
        while record.len() > most {
            let (Stage::Left(end) | Stage::Ended { end, .. }) = &mut shorter.stage else { break };
            if end.left.pop().is_none() {
                break;
            }
            record = shorter.encode();
        }
        record
    }
}

fn process_in(fields: &mut Reader) -> Option<ProcessIdentity> {
    Some(ProcessIdentity { pid: fields.small()?, started: fields.number()? })
}

impl TaskEnd {
    fn encode<'a>(&self, fields: &'a mut Writer) -> &'a mut Writer {
        self.status.encode(fields);
        fields.number(match self.cause {
            EndCause::Itself => 0,
            EndCause::TimedOut => 1,
            EndCause::Ended => 2,
        });
        fields.number(self.forced.into()).number(self.user).number(self.system).number(self.peak);
        fields.number(self.wall).number(self.at).number(self.output).number(self.cut);
        fields.bytes(self.sandbox.as_bytes()).number(self.more_denied);
        fields.number(self.unheard.into()).number(self.alone.into());
        fields.number(self.share as u64).bytes(self.reason.as_bytes()).number(self.total_left);
        self.left.iter().for_each(|member| member.encode(fields));
        fields
    }

    fn decode(fields: &mut Reader) -> Option<TaskEnd> {
        let status = Status::decode(fields)?;
        let cause = match fields.number()? {
            0 => EndCause::Itself,
            1 => EndCause::TimedOut,
            2 => EndCause::Ended,
            _ => return None,
        };
        Some(TaskEnd {
            status,
            cause,
            forced: fields.number()? != 0,
            user: fields.number()?,
            system: fields.number()?,
            peak: fields.number()?,
            wall: fields.number()?,
            at: fields.number()?,
            output: fields.number()?,
            cut: fields.number()?,
            sandbox: String::from_utf8_lossy(fields.bytes()?).into_owned(),
            more_denied: fields.number()?,
            unheard: fields.number()? != 0,
            alone: fields.number()? != 0,
            share: fields.small()?,
            reason: String::from_utf8_lossy(fields.bytes()?).into_owned(),
            total_left: fields.number()?,
            left: Member::decode_all(fields)?,
        })
    }
}
