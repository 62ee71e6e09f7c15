//! How a detached command stands.

use crate::channel::{Member, Status};
use crate::fields::{Reader, Writer};

/// Changes with what is said here and in the messages, and with nothing else: such a command may outlive
/// an update of the package that started it.
pub const VERSION: u64 = 3;

/// A process as nobody else, past or present, is called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// Its id.
    pub pid: i32,
    /// When it was started, in clock ticks since boot; 0: that is not shown.
    pub started: u64,
}

/// What a keeper knows of its command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskState {
    /// Which boot of the machine this is of; empty: that is not shown.
    pub boot: Vec<u8>,
    /// Who keeps it.
    pub keeper: ProcessIdentity,
    /// The command's own process, whose id is also its group's and session's.
    pub leader: ProcessIdentity,
    /// When it was started, in milliseconds since 1970.
    pub started: u64,
    /// How far it is.
    pub stage: Stage,
}

/// How far a command is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stage {
    /// It runs.
    #[default]
    Running,
    /// It has ended, and somebody of it is left.
    Left(TaskEnd),
    /// Nobody of it is left.
    Ended {
        /// How it ended.
        end: TaskEnd,
        /// When the last one did, in milliseconds since 1970.
        gone: u64,
    },
}

/// What ended it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EndCause {
    /// It ended by itself, or somebody whom nobody knows has ended it.
    #[default]
    Itself,
    /// Its time was up.
    TimedOut,
    /// One who found it has ended it.
    Ended,
}

/// How the command's own process ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskEnd {
    /// Its status.
    pub status: Status,
    /// What ended it.
    pub cause: EndCause,
    /// Whether SIGKILL was needed for that.
    pub forced: bool,
    /// CPU time in user code, of it and of those it waited for, in microseconds.
    pub user: u64,
    /// The same in the kernel.
    pub system: u64,
    /// The largest resident size of any one of them, in bytes.
    pub peak: u64,
    /// How long it took, in microseconds.
    pub wall: u64,
    /// When it ended, in milliseconds since 1970.
    pub at: u64,
    /// Bytes of its output that are kept.
    pub output: u64,
    /// Bytes of its output that were cut off, at least.
    pub cut: u64,
    /// By what its sandbox was kept, and what that has denied it, as in a result; empty: it was in none.
    pub sandbox: String,
    /// How many more denials there are.
    pub more_denied: u64,
    /// What it was denied may not all have been heard.
    pub unheard: bool,
    /// Its host, which has the proxy of its sandbox, has ended before it, or may have.
    pub alone: bool,
    /// The errno of why it has no smaller share of the processors; 0: it has, or was to have none.
    pub share: i32,
    /// Who was left then; some of them, if there were many.
    pub left: Vec<Member>,
    /// How many were left.
    pub total_left: u64,
}

impl TaskState {
    /// As the contents of a record.
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

    /// None: it was not written by [`TaskState::encode`], or not to its end.
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

    /// As the contents of a record that is no longer than this: of those who were left only the first
    /// are told.
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
        fields.number(self.share as u64).number(self.total_left);
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
            total_left: fields.number()?,
            left: Member::decode_all(fields)?,
        })
    }
}
