//! One output pipe, or terminal, being drained.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use rustix::io::Errno;

use crate::capture::Capture;
use crate::capture::live::{Live, Piece};
use crate::capture::text::Text;
use crate::command::Form;
use crate::command::sink::{Chunk, Data, Label, Sink};

/// What a stream's bytes go into. Locked only for work in memory, never for input or output.
#[derive(Debug)]
pub struct Tap {
    /// None once the result has been made: what comes later is drained and dropped.
    pub capture: Option<Capture>,
    /// The listener's side.
    pub live: Option<Live>,
    /// What is to be kept for a spill file that waits for its first byte.
    pub reserve: Reserve,
    /// When bytes last came.
    pub last_data: Instant,
    /// Nobody holds the other end any more.
    pub ended: bool,
}

/// The output from its first byte on, for a spill file that is opened when it gets long.
#[derive(Debug)]
pub enum Reserve {
    /// No file waits for it.
    No,
    /// The capture still holds all of it; it will not once it is longer than this.
    InCapture(u64),
    /// All of it up to the moment at which the capture could not hold it any more.
    Taken(Vec<u8>),
}

/// One of its outputs.
pub struct Output {
    /// Which.
    pub label: Label,
    /// What was captured.
    pub tap: Arc<Mutex<Tap>>,
}

/// The reading end of a command's output.
#[derive(Debug)]
pub struct Stream {
    /// Non-blocking.
    pub descriptor: OwnedFd,
    /// Which one it is.
    pub label: Label,
    /// Shared with whoever makes the result.
    pub tap: Arc<Mutex<Tap>>,
    /// A read shorter than this has emptied it.
    pub short_read: usize,
}

/// How a turn of draining ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nothing more for now.
    Dry,
    /// There is more, but others want a turn.
    More,
    /// The listener is behind and wants the command to wait.
    Full,
    /// The other end is closed.
    Ended,
    /// The capture does not hold everything any more: it is time for the spill file.
    Overflowing,
}

/// Reads in one turn; with full buffers this is 1 MiB.
const READS: usize = 16;
/// A read shorter than this has emptied the pipe of a command that prints now and then. One that
/// prints all the time is read until there is nothing: that costs fewer wake-ups on both sides.
pub const SHORT_OF_PIPE: usize = 4096;
/// A terminal gives less than it has, so no read of one is short.
pub const SHORT_OF_TERMINAL: usize = 0;

impl Stream {
    /// Reads what there is into the tap; `also` sees the same bytes.
    pub fn drain(&mut self, buffer: &mut [u8], mut also: impl FnMut(&[u8])) -> Progress {
        for _ in 0..READS {
            let count = match rustix::io::read(&self.descriptor, &mut *buffer) {
                // EIO is a terminal's way to say it.
                Ok(0) | Err(Errno::IO) => return self.end(),
                Ok(count) => count,
                Err(Errno::INTR) => continue,
                Err(_) => return Progress::Dry,
            };
            let (chunk, _) = buffer.split_at(count);
            let (full, overflowing) = {
                let mut tap = self.tap.lock();
                let overflowing = tap.keep_reserve(chunk);
                (tap.push(chunk), overflowing)
            };
            also(chunk);
            if overflowing {
                return Progress::Overflowing;
            }
            if full {
                return Progress::Full;
            }
            if count < self.short_read {
                return Progress::Dry;
            }
        }
        Progress::More
    }

    fn end(&self) -> Progress {
        self.tap.lock().ended = true;
        Progress::Ended
    }
}

impl Tap {
    /// Whether the listener is so far behind that the command should wait.
    fn push(&mut self, chunk: &[u8]) -> bool {
        // Nobody is told anything about bytes that come after the result.
        let Some(capture) = &mut self.capture else { return false };
        capture.push(chunk);
        self.last_data = Instant::now();
        let Some(live) = &mut self.live else { return false };
        live.push(chunk);
        live.is_full()
    }

    /// Saves what the capture is about to lose, for the file; true when it had to.
    fn keep_reserve(&mut self, chunk: &[u8]) -> bool {
        let (Some(capture), Reserve::InCapture(limit)) = (&self.capture, &self.reserve) else {
            return false;
        };
        if capture.holds(chunk.len(), *limit) {
            return false;
        }
        let mut bytes = capture.bytes();
        bytes.extend_from_slice(chunk);
        self.reserve = Reserve::Taken(bytes);
        true
    }

    /// Everything so far, for the file that is to have it; what comes next goes there at once.
    pub fn take_reserve(&mut self) -> Vec<u8> {
        match std::mem::replace(&mut self.reserve, Reserve::No) {
            Reserve::No => Vec::new(),
            Reserve::InCapture(_) => self.capture.as_ref().map(Capture::bytes).unwrap_or_default(),
            Reserve::Taken(bytes) => bytes,
        }
    }

    /// Whether its pipe is left alone for the listener's sake.
    pub fn is_paused(&self) -> bool {
        self.live.as_ref().is_some_and(Live::is_full)
    }
}

/// Delivers what is due to the listener; returns when to come again.
pub fn deliver(
    tap: &Mutex<Tap>,
    label: Label,
    form: Form,
    sink: &dyn Sink,
    now: Instant,
) -> Option<Instant> {
    let pieces = {
        let mut tap = tap.lock();
        let live = tap.live.as_mut()?;
        let due = live.due(now)?;
        if due > now {
            return Some(due);
        }
        live.take(now)
    };
    if !pieces.is_empty() {
        sink.output(label, chunks(pieces, form));
    }
    None
}

/// Delivers all that is left, the command having ended.
pub fn deliver_rest(tap: &Mutex<Tap>, label: Label, form: Form, sink: &dyn Sink) {
    let pieces = tap.lock().live.take().map(|mut live| live.finish()).unwrap_or_default();
    if !pieces.is_empty() {
        sink.output(label, chunks(pieces, form));
    }
}

fn chunks(pieces: Vec<Piece>, form: Form) -> Vec<Chunk> {
    let chunk = |piece: Piece| Chunk {
        dropped: piece.dropped,
        data: match form {
            Form::Text => Data::Text(Text::decode(piece.bytes)),
            Form::Bytes => Data::Bytes(piece.bytes),
        },
    };
    pieces.into_iter().map(chunk).collect()
}

#[cfg(test)]
mod tests;
