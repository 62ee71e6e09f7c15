//! Translation of a command from JavaScript's form to the engine's.

use std::ffi::CString;
use std::path::PathBuf;
use std::time::Duration;

use forkline_engine::{
    Command, DetachedCommand, Directory, Form, Limits, Listen, Opening, Overflow, Priority, Size,
    SpillTarget, Stdin, Streams,
};
use napi::bindgen_prelude::{Either, Latin1String, Uint8Array};
use napi::{Error, Result, Status};

/// The numbers of a command, in the order of `encodeNumbers` in src/engine/addon/codec.ts: one array of
/// doubles costs less to hand over than ten properties with names.
pub struct CommandNumbers {
    /// The owner that starts the command.
    pub owner: u64,
    /// Whether JavaScript waits for the start.
    pub announce: bool,
    streams: Streams,
    listen: Option<Listen>,
    limits: Limits,
    grace: Duration,
    timeout: Option<Duration>,
    spill_max_bytes: u64,
    opening: Opening,
    follow: bool,
    priority: Priority,
    umask: Option<u32>,
    starts_at_once: Option<u32>,
    cpu: Option<u64>,
    oom_victim: bool,
}

impl CommandNumbers {
    /// Parses the array. A float becomes the nearest integer in range, so infinite means 'all'.
    pub fn parse(numbers: &[f64]) -> Result<Self> {
        let [
            owner,
            announce,
            separate,
            listen,
            pause,
            head,
            tail,
            grace,
            timeout,
            spill,
            after,
            follow,
            columns,
            rows,
            low_priority,
            cpu,
            oom_victim,
            umask,
            starts_at_once,
        ] = *numbers
        else {
            return Err(Error::new(Status::InvalidArg, "numbers: expected nineteen"));
        };
        let overflow = if pause == 0.0 { Overflow::DropMiddle } else { Overflow::Pause };
        let form = match listen as u8 {
            1 => Some(Form::Text),
            2 => Some(Form::Bytes),
            _ => None,
        };
        Ok(CommandNumbers {
            owner: owner as u64,
            announce: announce != 0.0,
            streams: match size(columns, rows) {
                Some(size) => Streams::Terminal(size),
                None if separate != 0.0 => Streams::Separate,
                None => Streams::Merged,
            },
            listen: form.map(|form| Listen { overflow, form }),
            limits: Limits { head: head as usize, tail: tail as usize },
            grace: milliseconds(grace),
            timeout: (timeout > 0.0).then(|| milliseconds(timeout)),
            spill_max_bytes: spill as u64,
            opening: if after < 0.0 { Opening::AtStart } else { Opening::After(after as u64) },
            follow: follow != 0.0,
            priority: priority_of(low_priority),
            umask: umask_of(umask),
            starts_at_once: most_of(starts_at_once),
            cpu: (cpu > 0.0).then_some(cpu as u64),
            oom_victim: oom_victim != 0.0,
        })
    }
}

/// A command's priority, of whether it is to be low.
fn priority_of(is_low: f64) -> Priority {
    if is_low == 0.0 { Priority::Normal } else { Priority::Low }
}

/// A command's umask; negative: the host's.
fn umask_of(umask: f64) -> Option<u32> {
    (umask >= 0.0).then_some(umask as u32)
}

/// The most young commands beside which one is started; 0: what is usual.
fn most_of(most: f64) -> Option<u32> {
    (most > 0.0).then_some(most as u32)
}

/// The other parts of a command.
pub struct Strings {
    /// The shell text; or the words of a program that runs without a shell, each ended by NUL.
    pub text: String,
    /// Paths of shells, separated by NUL. Empty: the usual ones.
    pub shells: String,
    /// `NAME=value` entries separated by NUL, one character a byte.
    pub environment: Latin1String,
    /// Bytes for stdin; true: a pipe to write to; false: no input.
    pub stdin: Either<bool, Uint8Array>,
    /// A file for the whole output.
    pub spill_path: Option<String>,
    /// The plan of its sandbox, in the format that the keeper reads.
    pub sandbox: Option<String>,
    /// Paths of `cgroup.procs` of its control groups, separated by NUL.
    pub groups: Option<String>,
}

/// Makes the engine's command. The TypeScript side has checked every field.
pub fn command(
    strings: Strings,
    directory: Option<Directory>,
    numbers: &CommandNumbers,
) -> Command {
    Command {
        text: strings.text.into_bytes(),
        shells: paths(&strings.shells),
        environment: strings.environment.to_vec(),
        directory,
        follow: numbers.follow,
        announce: numbers.announce,
        priority: numbers.priority,
        starts_at_once: numbers.starts_at_once,
        umask: numbers.umask,
        groups: strings
            .groups
            .iter()
            .flat_map(|paths| paths.split('\0'))
            .map(PathBuf::from)
            .collect(),
        oom_victim: numbers.oom_victim,
        cpu: numbers.cpu,
        sandbox: strings.sandbox.map(|plan| plan.into_bytes().into()),
        stdin: match strings.stdin {
            Either::A(true) => Stdin::Pipe,
            Either::A(false) => Stdin::Null,
            Either::B(bytes) => Stdin::Bytes(bytes.to_vec()),
        },
        streams: numbers.streams,
        limits: numbers.limits,
        listen: numbers.listen,
        spill: strings.spill_path.map(|path| SpillTarget {
            path: PathBuf::from(path),
            max_bytes: numbers.spill_max_bytes,
            opening: numbers.opening,
        }),
        timeout: numbers.timeout,
        grace: numbers.grace,
    }
}

/// The paths of a detached command.
pub struct Paths<'a> {
    /// Paths of shells, separated by NUL. Empty: the usual ones.
    pub shells: &'a str,
    /// The working directory.
    pub directory: &'a str,
    /// The file for the output.
    pub output: &'a str,
}

/// Makes the engine's detached command. `numbers`: those of `encodeDetached` in
/// src/engine/addon/codec.ts.
pub fn detached(
    text: String,
    environment: Latin1String,
    given: &Paths,
    numbers: &[f64],
    sandbox: Option<String>,
) -> Result<DetachedCommand> {
    let [
        quota,
        timeout_ms,
        grace_ms,
        input,
        line,
        low_priority,
        umask,
        columns,
        rows,
        starts_at_once,
    ] = *numbers
    else {
        return Err(Error::new(Status::InvalidArg, "numbers: expected ten"));
    };
    let path = |path: &str| {
        CString::new(path).map_err(|error| Error::new(Status::InvalidArg, error.to_string()))
    };
    Ok(DetachedCommand {
        text: text.into_bytes(),
        shells: paths(given.shells),
        environment: environment.to_vec(),
        directory: Some(path(given.directory)?),
        output: path(given.output)?,
        sandbox: sandbox.map(|plan| plan.into_bytes().into()),
        input: input != 0.0,
        line: line != 0.0,
        priority: priority_of(low_priority),
        umask: umask_of(umask),
        starts_at_once: most_of(starts_at_once),
        terminal: size(columns, rows),
        quota: quota as u64,
        timeout: match timeout_ms {
            f64::INFINITY => Duration::MAX,
            limit => milliseconds(limit),
        },
        grace: milliseconds(grace_ms),
    })
}

/// Splits a list separated by NUL.
fn paths(list: &str) -> Vec<CString> {
    let shells = list.split('\0').filter(|shell| !shell.is_empty());
    shells.filter_map(|shell| CString::new(shell).ok()).collect()
}

/// Returns a terminal's size. None: zero columns, which means no terminal.
pub fn size(columns: f64, rows: f64) -> Option<Size> {
    (columns > 0.0).then_some(Size { columns: columns as u16, rows: rows as u16 })
}

/// Returns a duration of at most a year: no wait is longer, and an Instant can still hold it.
pub fn milliseconds(count: f64) -> Duration {
    const YEAR: u64 = 365 * 24 * 3600 * 1000;
    Duration::from_micros(((count * 1000.0) as u64).min(YEAR * 1000))
}
