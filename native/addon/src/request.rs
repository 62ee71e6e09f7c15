//! A command as JavaScript describes it, to one as the engine takes it.

use std::ffi::CString;
use std::path::PathBuf;
use std::time::Duration;

use forkline_engine::{Command, Form, Limits, Listen, Overflow, SpillTarget, Stdin, Streams};
use napi::bindgen_prelude::{Either, Latin1String, Uint8Array};
use napi_derive::napi;

/// What to run. The TypeScript side has checked every field.
#[napi(object, object_to_js = false)]
pub struct NativeCommand {
    /// The shell text.
    pub text: String,
    /// Paths of shells, separated by NUL.
    pub shells: String,
    /// `NAME=value` entries separated by NUL, one character a byte.
    pub environment: Latin1String,
    /// The working directory.
    pub directory: Option<String>,
    /// Bytes for stdin; true: a pipe to write to; false: nothing.
    pub stdin: Either<bool, Uint8Array>,
    /// Whether stdout and stderr are kept apart.
    pub separate: bool,
    /// Bytes kept from the start of each stream.
    pub head_bytes: f64,
    /// Bytes kept from the end of each stream.
    pub tail_bytes: f64,
    /// 'text' or 'bytes': deliver output while it runs.
    pub listen: Option<String>,
    /// Whether the command waits for a slow listener.
    pub pause: bool,
    /// A file for the whole output.
    pub spill_path: Option<String>,
    /// Its quota in bytes.
    pub spill_max_bytes: f64,
    /// Milliseconds from the start; absent: no deadline.
    pub timeout_ms: Option<f64>,
    /// Milliseconds from SIGTERM to SIGKILL.
    pub grace_ms: f64,
}

impl NativeCommand {
    /// As the engine takes it.
    pub fn resolve(self) -> Command {
        let form = match self.listen.as_deref() {
            Some("bytes") => Some(Form::Bytes),
            Some(_) => Some(Form::Text),
            None => None,
        };
        let overflow = if self.pause { Overflow::Pause } else { Overflow::DropMiddle };
        Command {
            text: self.text.into_bytes(),
            shells: self.shells.split('\0').filter_map(|path| CString::new(path).ok()).collect(),
            environment: self.environment.to_vec(),
            directory: self.directory.and_then(|directory| CString::new(directory).ok()),
            stdin: match self.stdin {
                Either::A(true) => Stdin::Pipe,
                Either::A(false) => Stdin::Null,
                Either::B(bytes) => Stdin::Bytes(bytes.to_vec()),
            },
            streams: if self.separate { Streams::Separate } else { Streams::Merged },
            // A float becomes the nearest integer in range: huge and infinite mean 'all'.
            limits: Limits { head: self.head_bytes as usize, tail: self.tail_bytes as usize },
            listen: form.map(|form| Listen { overflow, form }),
            spill: self.spill_path.map(|path| SpillTarget {
                path: PathBuf::from(path),
                max_bytes: self.spill_max_bytes as u64,
            }),
            timeout: self.timeout_ms.map(milliseconds),
            grace: milliseconds(self.grace_ms),
        }
    }
}

/// A duration of at most a year: nothing waits longer, and an Instant can still hold it.
pub fn milliseconds(count: f64) -> Duration {
    const YEAR: u64 = 365 * 24 * 3600 * 1000;
    Duration::from_micros(((count * 1000.0) as u64).min(YEAR * 1000))
}
