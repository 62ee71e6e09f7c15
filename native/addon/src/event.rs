//! Events of the engine, and their records in JavaScript.

use std::path::Path;

use forkline_engine::{
    BackgroundProcess, Captured, Cause, Chunk, Counts, Ended, Errno, ExecQuestion, Label,
    LaunchError, Outcome, Parts, Snapshot, SpillReport, Status, Text, Typing, errno_text,
};
use napi::Result;
use napi::bindgen_prelude::Null;

use crate::capture::{capture, chunk};
use crate::question;
use crate::record::{Figures, JsRecord};

/// An event of a command or a sandbox, or the answer to a request.
pub enum EngineEvent {
    /// The command runs.
    Started { id: f64, pid: i32 },
    /// The command has output for its listener.
    Output { id: f64, label: Label, chunks: Vec<Chunk> },
    /// The command is over.
    Ended { id: f64, ended: Ended },
    /// The keeper was killed.
    KeeperDied,
    /// Processes in the sandbox with this plan will connect to the socket `descriptor`; whether it is served
    /// is to be written to `answer`. JavaScript owns both from here on.
    Listens { sandbox: f64, plan: String, descriptor: i32, answer: i32 },
    /// No process is left in a sandbox.
    SandboxGone { sandbox: f64 },
    /// A question about a program that is about to be executed, or the news that it needs no answer any more.
    /// `id`: of the command, or of the request for one that is detached.
    Asked { id: f64, question: ExecQuestion },
    /// A detached command in a sandbox is over, or could not be started.
    DetachedOver { id: f64 },
    /// The answer to a request.
    Reply { request: f64, reply: EngineReply },
}

/// An answer.
pub enum EngineReply {
    /// The request was carried out, or the answer to its question.
    Done(bool),
    /// The request failed.
    Failed(Errno),
    /// The output of a command so far.
    Snapshot(Snapshot),
    /// The members of a command that run.
    Members(Option<Vec<BackgroundProcess>>),
    /// The rules of a command's sandbox, and the accesses denied to it.
    Sandbox(Option<String>),
    /// How a command's terminal takes what is typed.
    Typing(Option<Typing>),
    /// The process id of a detached command, or the reason why it could not be started.
    Detached(std::result::Result<i32, LaunchError>),
}

// The layouts of the records are those in src/engine/addon/native.ts; the first element is the kind.
const STARTED: u32 = 0;
const OUTPUT: u32 = 1;
const RAN: u32 = 2;
const NEVER_STARTED: u32 = 3;
const FAILED: u32 = 4;
const REPLY: u32 = 5;
const KEEPER_DIED: u32 = 6;
const MEMBERS: u32 = 7;
const LISTENS: u32 = 8;
const SANDBOX_GONE: u32 = 9;
// 10 and 11 are in question.rs.
const DETACHED_OVER: u32 = 12;

// The numbers are those in src/engine/addon/codec.ts.
const FIGURES_OF_OUTCOME: usize = 10;
const FIGURES_OF_CAPTURE: usize = 9;
/// Captures of stdout and stderr.
const MOST_CAPTURES: usize = 2;

impl EngineEvent {
    /// The most figures of one event.
    pub const FIGURES: usize = FIGURES_OF_OUTCOME + MOST_CAPTURES * FIGURES_OF_CAPTURE;

    /// Fills the event's record, and appends its figures.
    pub fn fill(self, record: &mut JsRecord, figures: &mut Figures) -> Result<()> {
        match self {
            EngineEvent::Started { id, pid } => {
                record.push(STARTED)?;
                record.push(id)?;
                record.push(pid)
            }
            EngineEvent::Output { id, label, chunks } => {
                record.push(OUTPUT)?;
                record.push(id)?;
                record.push(stream_number(label))?;
                record.push_each(chunks, chunk)
            }
            EngineEvent::Ended { id, ended: Ended::Ran(outcome) } => {
                ran(record, figures, id, *outcome)
            }
            EngineEvent::Ended { id, ended: Ended::NeverStarted } => {
                record.push(NEVER_STARTED)?;
                record.push(id)
            }
            EngineEvent::Ended { id, ended: Ended::Failed(error) } => failed(record, id, &error),
            EngineEvent::KeeperDied => {
                record.push(KEEPER_DIED)?;
                record.push(0)
            }
            EngineEvent::Listens { sandbox, plan, descriptor, answer } => {
                record.push(LISTENS)?;
                record.push(sandbox)?;
                record.push(descriptor)?;
                record.push(answer)?;
                record.push(plan)
            }
            EngineEvent::SandboxGone { sandbox } => {
                record.push(SANDBOX_GONE)?;
                record.push(sandbox)
            }
            EngineEvent::Asked { id, question } => question::fill(record, id, question),
            EngineEvent::DetachedOver { id } => {
                record.push(DETACHED_OVER)?;
                record.push(id)
            }
            EngineEvent::Reply { request, reply: EngineReply::Members(members) } => {
                record.push(MEMBERS)?;
                record.push(request)?;
                match members {
                    None => record.push(Null),
                    Some(members) => record.push_each(members, background),
                }
            }
            EngineEvent::Reply { request, reply } => {
                record.push(REPLY)?;
                record.push(request)?;
                replied(record, reply)
            }
        }
    }
}

fn failed(record: &mut JsRecord, id: f64, error: &LaunchError) -> Result<()> {
    record.push(FAILED)?;
    record.push(id)?;
    record.push(error.step.name())?;
    record.push(error.errno)?;
    record.push(error.subject.as_str())?;
    record.push(error.to_string())
}

fn ran(record: &mut JsRecord, figures: &mut Figures, id: f64, outcome: Outcome) -> Result<()> {
    record.push(RAN)?;
    record.push(id)?;
    record.push(figures.used() as u32)?;
    figures.push(f64::from(outcome.pid));
    figures.push(match outcome.cause {
        Cause::Itself => 0.0,
        Cause::TimedOut => 1.0,
        Cause::Cancelled => 2.0,
    });
    // A signal becomes a negative number, and an unknown status a number far out of both ranges.
    figures.push(f64::from(match outcome.status {
        Status::Exited(code) => code,
        Status::Signaled(signal) => -signal,
        Status::Unknown => i32::MIN,
    }));
    figures.push(f64::from(u8::from(outcome.forced)));
    figures.push(milliseconds(outcome.wall));
    figures.push(milliseconds(outcome.usage.user));
    figures.push(milliseconds(outcome.usage.system));
    figures.push(outcome.usage.peak as f64);
    figures.push(outcome.captures.len() as f64);
    figures.push(f64::from(outcome.priority_errno));
    if outcome.background.is_empty() && outcome.spill.is_none() {
        record.push(Null)?;
        record.push(Null)?;
    } else {
        record.push_each(outcome.background, background)?;
        record.push_each(outcome.spill.into_iter().collect(), spill)?;
    }
    for captured in outcome.captures {
        final_capture(record, figures, captured)?;
    }
    // Only a followed command has a directory, so only its record is longer by one. A name that is not valid
    // text could not be passed back as a command's directory, so it counts as unknown.
    match outcome.directory.as_deref().and_then(Path::to_str) {
        Some(directory) => record.push(directory)?,
        None if outcome.sandbox.is_some() || outcome.reason.is_some() => record.push(Null)?,
        None => {}
    }
    // Only a sandboxed command has this element.
    match outcome.sandbox {
        Some(report) => record.push(report)?,
        None if outcome.reason.is_some() => record.push(Null)?,
        None => {}
    }
    // Only a command that has timed out, and was seen to do something that tells why, has this one.
    match outcome.reason {
        Some(reason) => record.push(reason),
        None => Ok(()),
    }
}

/// Adds two texts for a capture, the second one null unless it is cut. Its counts are figures.
fn final_capture(
    record: &mut JsRecord,
    figures: &mut Figures,
    captured: Captured<Text>,
) -> Result<()> {
    let cut = matches!(captured.kept, Parts::Cut { .. });
    let dropped = match &captured.kept {
        Parts::Complete(_) => Counts::default(),
        Parts::Cut { dropped, .. } => *dropped,
    };
    for counts in [captured.total, dropped] {
        figures.push(counts.bytes as f64);
        figures.push(counts.characters as f64);
        figures.push(counts.lines as f64);
    }
    figures.push(f64::from(u8::from(captured.lossy)));
    figures.push(f64::from(u8::from(cut)));
    figures.push(captured.last_line as f64);
    match captured.kept {
        Parts::Complete(text) => {
            record.push_text(text)?;
            record.push(Null)
        }
        Parts::Cut { head, tail, .. } => {
            record.push_text(head)?;
            record.push_text(tail)
        }
    }
}

fn replied(record: &mut JsRecord, reply: EngineReply) -> Result<()> {
    match reply {
        EngineReply::Done(value) => record.push(value),
        EngineReply::Failed(errno) => {
            record.push(false)?;
            record.push(errno.raw_os_error())?;
            record.push(errno_text(errno.raw_os_error()))
        }
        EngineReply::Detached(Ok(pid)) => record.push(pid),
        EngineReply::Detached(Err(error)) => {
            record.push(false)?;
            record.push(error.errno)?;
            record.push(error.to_string())?;
            record.push(error.step.name())?;
            record.push(error.subject)
        }
        // Replies with members have a record of their own.
        EngineReply::Snapshot(None) | EngineReply::Members(_) | EngineReply::Sandbox(None) => {
            record.push(Null)
        }
        EngineReply::Typing(None) => record.push(Null),
        EngineReply::Typing(Some(Typing::Lines)) => record.push("lines"),
        EngineReply::Typing(Some(Typing::Hidden)) => record.push("hidden"),
        EngineReply::Typing(Some(Typing::Keys)) => record.push("keys"),
        EngineReply::Sandbox(Some(report)) => record.push(report),
        EngineReply::Snapshot(Some(captures)) => record.push_each(captures, capture),
    }
}

fn spill(record: &mut JsRecord, report: SpillReport) -> Result<()> {
    record.push(report.written as f64)?;
    record.push(report.dropped as f64)?;
    if let Some(errno) = report.error {
        record.push(errno)?;
        record.push(report.why.unwrap_or_else(|| errno_text(errno)))?;
    }
    Ok(())
}

fn background(record: &mut JsRecord, process: BackgroundProcess) -> Result<()> {
    record.push(process.pid)?;
    record.push(process.group)?;
    record.push(process.command)
}

fn stream_number(label: Label) -> u32 {
    match label {
        Label::Merged => 0,
        Label::Stdout => 1,
        Label::Stderr => 2,
    }
}

fn milliseconds(duration: std::time::Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}
