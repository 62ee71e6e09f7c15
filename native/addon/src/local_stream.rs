//! Streams that JavaScript reads: named pipes, which Node cannot make, captures of them; and descriptors that
//! only the addon can close, since some runtimes close none but their own.

use std::fs::File;
use std::io::Write;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::Arc;

use forkline_engine::{Capture, Errno, Limits, LocalPipe, Readiness};
use napi::bindgen_prelude::{Array, Uint8ArraySlice};
use napi::{Env, Result};
use napi_derive::napi;

use crate::capture;
use crate::channel::EventQueue;
use crate::event::{EngineEvent, EngineReply};
use crate::record::JsRecord;

/// Takes a socket of a sandbox back from JavaScript, and closes it.
#[napi]
pub fn close_socket(descriptor: i32) {
    // SAFETY: the engine has given the descriptor away, and JavaScript passes it on once.
    drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
}

/// Tells a sandbox by its pipe whether its proxy is served, and closes the pipe.
#[napi]
pub fn answer_sandbox(answer: i32, served: bool) {
    // SAFETY: as above.
    let mut answer = File::from(unsafe { OwnedFd::from_raw_fd(answer) });
    if served {
        // The reader may have closed its end.
        let _ = answer.write_all(b"1");
    }
}

/// A named pipe that JavaScript reads or writes. No call of it waits.
#[napi]
pub struct NamedPipe {
    /// None once it is closed.
    pipe: Option<LocalPipe>,
    events: Arc<EventQueue>,
}

impl NamedPipe {
    /// Makes a pipe whose readiness is told to this queue.
    pub fn new(pipe: LocalPipe, events: Arc<EventQueue>) -> Self {
        NamedPipe { pipe: Some(pipe), events }
    }
}

#[napi]
impl NamedPipe {
    /// The number of the descriptor, for paths in `/proc`; -1 once it is closed.
    #[napi(getter)]
    pub fn descriptor(&self) -> i32 {
        self.pipe.as_ref().map_or(-1, LocalPipe::number)
    }

    /// Reads once. Returns the number of bytes, 0 without a writer, or a negative errno.
    #[napi]
    pub fn read(&self, mut into: Uint8ArraySlice) -> i32 {
        // SAFETY: JavaScript uses the memory on this very thread, after this call.
        let into = unsafe { into.as_mut() };
        self.with(|pipe| pipe.read(into).map(|count| count as i32))
    }

    /// Writes as much as there is room for. Returns the number of bytes, or a negative errno.
    #[napi]
    pub fn write(&self, bytes: &[u8]) -> i32 {
        self.with(|pipe| pipe.write(bytes).map(|count| count as i32))
    }

    /// Returns the number of unread bytes, or a negative errno.
    #[napi]
    pub fn unread(&self) -> i32 {
        self.with(|pipe| pipe.unread().map(|count| count as i32))
    }

    /// Replies once the pipe can be read or written: with false when it is closed before. One call at a time.
    #[napi]
    pub fn when_ready(&mut self, request: f64, writable: bool) {
        let events = self.events.clone();
        let reply = move |is_ready| {
            events.push(EngineEvent::Reply { request, reply: EngineReply::Done(is_ready) });
        };
        let readiness = if writable { Readiness::Writable } else { Readiness::Readable };
        match &mut self.pipe {
            Some(pipe) => pipe.when_ready(readiness, Box::new(reply)),
            None => reply(false),
        }
    }

    /// Closes the pipe; a second call has no effect.
    #[napi]
    pub fn close(&mut self) {
        self.pipe = None;
    }

    fn with(&self, call: impl FnOnce(&LocalPipe) -> std::result::Result<i32, Errno>) -> i32 {
        let called = self.pipe.as_ref().map_or(Err(Errno::BADF), call);
        called.unwrap_or_else(|errno| -errno.raw_os_error())
    }
}

/// The capture of a stream that JavaScript reads.
#[napi]
pub struct TextCapture {
    capture: Capture,
}

#[napi]
impl TextCapture {
    /// Makes an empty capture.
    #[napi(constructor)]
    pub fn new(head_bytes: f64, tail_bytes: f64) -> Self {
        let limits = Limits { head: head_bytes as usize, tail: tail_bytes as usize };
        TextCapture { capture: Capture::new(limits) }
    }

    /// Takes the next bytes of the stream.
    #[napi]
    pub fn push(&mut self, bytes: &[u8]) {
        self.capture.push(bytes);
    }

    /// Returns the elements of the capture so far.
    #[napi]
    pub fn snapshot<'env>(&self, env: &'env Env) -> Result<Array<'env>> {
        let mut record = JsRecord::new(env)?;
        capture::capture(&mut record, self.capture.snapshot())?;
        Ok(record.finish())
    }
}
