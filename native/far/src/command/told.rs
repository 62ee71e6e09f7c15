//! Messages about a command, as `src/remote/wire/protocol.ts` defines them.

use forkline_engine::{
    BackgroundProcess, Captured, Cause, Counts, LaunchError, Outcome, Parts, Snapshot, Status, Text,
};
use serde::Serialize;

use crate::call_error::CallError;
use crate::command::after::Checked;
use crate::command::spilled::Spilled;

/// The end of a command's call.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CommandEnd {
    /// The command was cancelled before it ran.
    NeverStarted(bool),
    /// The command could not be started.
    Failed(LaunchFailure),
    /// The command can't be run here.
    Error(CallError),
    /// The command ran.
    Ran(Box<Ran>),
}

/// The reason for a command that could not be started.
#[derive(Serialize)]
pub struct LaunchFailure {
    kind: &'static str,
    step: &'static str,
    errno: i32,
    subject: String,
    message: String,
}

/// The result of a command that ran.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ran {
    kind: &'static str,
    engine: &'static str,
    pid: i32,
    cause: &'static str,
    status: i32,
    forced: bool,
    duration_ms: f64,
    user_ms: f64,
    system_ms: f64,
    peak_bytes: u64,
    captures: Vec<ShownCapture>,
    background: Vec<ShownMember>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spill: Option<Spilled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    share: i32,
    checked: Checked,
}

/// The kept part of a stream.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum ShownCapture {
    /// The whole stream.
    Complete { text: String, total: Sizes, lossy: bool },
    /// The beginning and the end of the stream.
    Cut {
        head: String,
        tail: String,
        dropped: Sizes,
        total: Sizes,
        last_line_bytes: u64,
        lossy: bool,
    },
}

/// The sizes of a part of the output.
#[derive(Serialize)]
pub struct Sizes {
    bytes: u64,
    characters: u64,
    lines: u64,
}

/// A process of a command.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownMember {
    pid: i32,
    process_group: i32,
    command: String,
}

/// A message about a command while it runs.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Said {
    /// The command runs.
    Started { started: i32 },
    /// The end of its output, for a client that does not listen to it.
    Tail { tail: String },
    /// A piece of input is in the command's pipe, or can't be written.
    Wrote {
        wrote: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<CallError>,
    },
    /// The result of a query.
    Answer { answer: u64, value: QueryResult },
}

/// A result of a query.
#[derive(Serialize)]
#[serde(untagged)]
pub enum QueryResult {
    /// The command is over, or the answer could not be found out.
    Nothing,
    /// Whether a signal was sent.
    Sent(bool),
    /// The output so far.
    Captures(Vec<ShownCapture>),
    /// The members that run.
    Members(Vec<ShownMember>),
}

impl CommandEnd {
    /// Makes the end of a command that could not be started.
    pub fn failed(error: &LaunchError) -> CommandEnd {
        CommandEnd::Failed(LaunchFailure {
            kind: "failed",
            step: error.step.name(),
            errno: error.errno,
            subject: error.subject.clone(),
            message: error.to_string(),
        })
    }

    /// Makes the end of a command that ran.
    pub fn ran(outcome: Outcome, checked: Checked) -> CommandEnd {
        let milliseconds = |time: std::time::Duration| time.as_micros() as f64 / 1000.0;
        CommandEnd::Ran(Box::new(Ran {
            kind: "ran",
            engine: "native",
            pid: outcome.pid,
            cause: match outcome.cause {
                Cause::Itself => "itself",
                Cause::TimedOut => "timedOut",
                Cause::Cancelled => "cancelled",
            },
            // A signal is a negative number; an unknown status is far out of the range of both.
            status: match outcome.status {
                Status::Exited(code) => code,
                Status::Signaled(signal) => -signal,
                Status::Unknown => i32::MIN,
            },
            forced: outcome.forced,
            duration_ms: milliseconds(outcome.wall),
            user_ms: milliseconds(outcome.usage.user),
            system_ms: milliseconds(outcome.usage.system),
            peak_bytes: outcome.usage.peak,
            captures: outcome.captures.into_iter().map(ShownCapture::from).collect(),
            background: outcome.background.into_iter().map(ShownMember::from).collect(),
            spill: outcome.spill.map(Spilled::from),
            // A path that is not UTF-8 could not be given back as a command's directory.
            directory: outcome.directory.and_then(|path| path.into_os_string().into_string().ok()),
            reason: outcome.reason,
            share: outcome.priority_errno,
            checked,
        }))
    }
}

impl From<Captured<Text>> for ShownCapture {
    fn from(Captured { kept, total, last_line, lossy }: Captured<Text>) -> ShownCapture {
        match kept {
            Parts::Complete(text) => {
                ShownCapture::Complete { text: text.to_string(), total: total.into(), lossy }
            }
            Parts::Cut { head, tail, dropped } => ShownCapture::Cut {
                head: head.to_string(),
                tail: tail.to_string(),
                dropped: dropped.into(),
                total: total.into(),
                last_line_bytes: last_line,
                lossy,
            },
        }
    }
}

impl From<Counts> for Sizes {
    fn from(Counts { bytes, characters, lines }: Counts) -> Sizes {
        Sizes { bytes, characters, lines }
    }
}

impl From<BackgroundProcess> for ShownMember {
    fn from(BackgroundProcess { pid, group, command }: BackgroundProcess) -> ShownMember {
        ShownMember { pid, process_group: group, command }
    }
}

/// The most bytes of a tail.
const TAIL_BYTES: usize = 8 * 1024;

impl Said {
    /// Makes a message of the end of the output.
    pub fn tail(captures: &[Captured<Text>]) -> Said {
        let ends = captures.iter().map(|captured| match &captured.kept {
            Parts::Complete(text) => text.to_string(),
            Parts::Cut { tail, .. } => tail.to_string(),
        });
        let text: String = ends.collect();
        let from = text.len().saturating_sub(TAIL_BYTES);
        let from = (from..=text.len()).find(|at| text.is_char_boundary(*at));
        Said::Tail { tail: from.and_then(|at| text.get(at..)).unwrap_or_default().to_owned() }
    }
}

impl QueryResult {
    /// Makes the result of a query for output. None: the command is over.
    pub fn captures(captures: Snapshot) -> QueryResult {
        let shown = captures.map(|all| all.into_iter().map(ShownCapture::from).collect());
        shown.map_or(QueryResult::Nothing, QueryResult::Captures)
    }

    /// Makes the result of a query for members. None: they could not be found out.
    pub fn members(members: Option<Vec<BackgroundProcess>>) -> QueryResult {
        let told = members.map(|all| all.into_iter().map(ShownMember::from).collect());
        told.map_or(QueryResult::Nothing, QueryResult::Members)
    }
}

#[cfg(test)]
mod tests;
