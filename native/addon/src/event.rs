//! What the engine tells, on its way to JavaScript.

use forkline_engine::{
    BackgroundProcess, Captured, Cause, Chunk, Counts, Data, Ended, Errno, Label, LaunchError,
    Outcome, Parts, Peak, Snapshot, SpillReport, Status, Text, errno_text,
};
use napi::bindgen_prelude::{Array, Buffer, Null, Object, ToNapiValue, Unknown};
use napi::{Env, JsValue, Result};

/// Something that happened to a command, or the answer to a request.
pub enum Event {
    /// The command runs.
    Started { id: f64, pid: i32 },
    /// It has printed something.
    Output { id: f64, label: Label, chunks: Vec<Chunk> },
    /// It is over.
    Ended { id: f64, ended: Ended },
    /// The answer to a request.
    Reply { request: f64, reply: Reply },
}

/// An answer.
pub enum Reply {
    /// It is done, or it was so.
    Done(bool),
    /// It failed.
    Failed(Errno),
    /// What a command has printed so far; None when it is over.
    Snapshot(Snapshot),
}

impl Event {
    /// As an object whose `kind` tells which.
    pub fn into_object<'env>(self, env: &'env Env) -> Result<Object<'env>> {
        let mut object = Object::new(env)?;
        match self {
            Event::Started { id, pid } => {
                object.set("kind", "started")?;
                object.set("id", id)?;
                object.set("pid", pid)?;
            }
            Event::Output { id, label, chunks } => {
                object.set("kind", "output")?;
                object.set("id", id)?;
                object.set("stream", stream_name(label))?;
                object.set("chunks", array(env, chunks, chunk)?)?;
            }
            Event::Ended { id, ended } => {
                object.set("kind", "ended")?;
                object.set("id", id)?;
                set_ended(env, &mut object, ended)?;
            }
            Event::Reply { request, reply } => {
                object.set("kind", "reply")?;
                object.set("id", request)?;
                set_reply(env, &mut object, reply)?;
            }
        }
        Ok(object)
    }
}

fn set_ended<'env>(env: &'env Env, object: &mut Object<'env>, ended: Ended) -> Result<()> {
    match ended {
        Ended::Ran(outcome) => set_outcome(env, object, *outcome),
        Ended::NeverStarted => object.set("ended", "neverStarted"),
        Ended::Failed(error) => set_launch_error(object, &error),
    }
}

fn set_launch_error(object: &mut Object, error: &LaunchError) -> Result<()> {
    object.set("ended", "failed")?;
    object.set("step", error.step.name())?;
    object.set("errno", error.errno)?;
    object.set("subject", error.subject.as_str())?;
    object.set("message", error.to_string())
}

fn set_outcome<'env>(env: &'env Env, object: &mut Object<'env>, outcome: Outcome) -> Result<()> {
    object.set("ended", "ran")?;
    object.set("pid", outcome.pid)?;
    let cause = match outcome.cause {
        Cause::Itself => "itself",
        Cause::TimedOut => "timedOut",
        Cause::Cancelled => "cancelled",
    };
    object.set("cause", cause)?;
    match outcome.status {
        Status::Exited(code) => object.set("exitCode", code)?,
        Status::Signaled(signal) => object.set("signal", signal)?,
        Status::Unknown => {}
    }
    object.set("forced", outcome.forced)?;
    object.set("durationMs", milliseconds(outcome.wall))?;
    object.set("userMs", milliseconds(outcome.usage.user))?;
    object.set("systemMs", milliseconds(outcome.usage.system))?;
    let (peak, exact) = match outcome.usage.peak {
        Peak::Measured(bytes) => (bytes, true),
        Peak::AtMost(bytes) => (bytes, false),
    };
    object.set("peakBytes", peak as f64)?;
    object.set("peakIsExact", exact)?;
    object.set("captures", array(env, outcome.captures, capture)?)?;
    if let Some(report) = outcome.spill {
        object.set("spill", spill(env, &report)?)?;
    }
    if !outcome.background.is_empty() {
        object.set("background", array(env, outcome.background, background)?)?;
    }
    Ok(())
}

fn set_reply<'env>(env: &'env Env, object: &mut Object<'env>, reply: Reply) -> Result<()> {
    match reply {
        Reply::Done(value) => object.set("value", value),
        Reply::Failed(errno) => {
            object.set("errno", errno.raw_os_error())?;
            object.set("message", errno_text(errno.raw_os_error()))
        }
        Reply::Snapshot(None) => object.set("value", Null),
        Reply::Snapshot(Some(captures)) => object.set("value", array(env, captures, capture)?),
    }
}

fn chunk<'env>(env: &'env Env, chunk: Chunk) -> Result<Object<'env>> {
    let mut object = Object::new(env)?;
    match chunk.data {
        Data::Text(text) => object.set("text", string(env, text)?)?,
        Data::Bytes(bytes) => object.set("bytes", Buffer::from(bytes))?,
    }
    object.set("droppedBytes", chunk.dropped as f64)?;
    Ok(object)
}

/// Its shape is the `Capture` of src/engine/outcome.ts, so that nobody has to copy it.
fn capture<'env>(env: &'env Env, captured: Captured<Text>) -> Result<Object<'env>> {
    let mut object = Object::new(env)?;
    match captured.kept {
        Parts::Complete(text) => {
            object.set("kind", "complete")?;
            object.set("text", string(env, text)?)?;
        }
        Parts::Cut { head, tail, dropped } => {
            object.set("kind", "cut")?;
            object.set("head", string(env, head)?)?;
            object.set("tail", string(env, tail)?)?;
            object.set("dropped", counts(env, dropped)?)?;
        }
    }
    object.set("total", counts(env, captured.total)?)?;
    object.set("lossy", captured.lossy)?;
    Ok(object)
}

fn counts<'env>(env: &'env Env, counts: Counts) -> Result<Object<'env>> {
    let mut object = Object::new(env)?;
    object.set("bytes", counts.bytes as f64)?;
    object.set("characters", counts.characters as f64)?;
    object.set("lines", counts.lines as f64)?;
    Ok(object)
}

fn spill<'env>(env: &'env Env, report: &SpillReport) -> Result<Object<'env>> {
    let mut object = Object::new(env)?;
    object.set("bytes", report.written as f64)?;
    object.set("droppedBytes", report.dropped as f64)?;
    if let Some(errno) = report.error {
        object.set("errno", errno)?;
        object.set("message", errno_text(errno))?;
    }
    Ok(object)
}

fn background<'env>(env: &'env Env, process: BackgroundProcess) -> Result<Object<'env>> {
    let mut object = Object::new(env)?;
    object.set("pid", process.pid)?;
    object.set("processGroup", process.group)?;
    object.set("command", process.command)?;
    Ok(object)
}

fn string<'env>(env: &'env Env, text: Text) -> Result<Unknown<'env>> {
    match text {
        // ASCII is Latin-1, the form a one-byte string has inside the engine.
        Text::Ascii(bytes) => Ok(env.create_string_latin1(bytes)?.to_unknown()),
        Text::Utf16(units) => Ok(env.create_string_utf16(units)?.to_unknown()),
    }
}

fn array<'env, Item, Value: ToNapiValue>(
    env: &'env Env,
    items: Vec<Item>,
    convert: impl Fn(&'env Env, Item) -> Result<Value>,
) -> Result<Array<'env>> {
    let mut array = env.create_array(items.len() as u32)?;
    for (index, item) in items.into_iter().enumerate() {
        array.set(index as u32, convert(env, item)?)?;
    }
    Ok(array)
}

fn stream_name(label: Label) -> &'static str {
    match label {
        Label::Merged => "output",
        Label::Stdout => "stdout",
        Label::Stderr => "stderr",
    }
}

fn milliseconds(duration: std::time::Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}
