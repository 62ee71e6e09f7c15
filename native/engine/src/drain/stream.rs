//! One output pipe or terminal of a command, while it is drained.

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

/// The targets of a stream's bytes. Locked only for work in memory, never during input or output.
#[derive(Debug)]
pub struct Tap {
    /// The capture. None once the result has been made: later bytes are read and dropped.
    pub capture: Option<Capture>,
    /// The queue for the listener.
    pub live: Option<Live>,
    /// The output kept for a spill file that is not open yet.
    pub reserve: Reserve,
    /// The time at which bytes last came.
    pub last_data: Instant,
    /// Whether no process has the other end open any more.
    pub ended: bool,
}

/// The output from its first byte on, kept for a spill file that is opened once the output is long.
#[derive(Debug)]
pub enum Reserve {
    /// No file is to be opened.
    No,
    /// The capture holds all of it, until it is longer than this many bytes.
    InCapture(u64),
    /// All output up to the moment at which the capture could no longer hold it.
    Taken(Vec<u8>),
}

/// One output of a command.
pub struct Output {
    /// Which output it is.
    pub label: Label,
    /// The capture and listener.
    pub tap: Arc<Mutex<Tap>>,
}

/// The reading end of a command's output.
#[derive(Debug)]
pub struct Stream {
    /// The descriptor; non-blocking.
    pub descriptor: OwnedFd,
    /// Which output it is.
    pub label: Label,
    /// The capture and listener, shared with the reactor, which makes the result.
    pub tap: Arc<Mutex<Tap>>,
    /// A read of fewer bytes than this has emptied the pipe.
    pub short_read: usize,
}

/// The reason for which a turn of draining ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There are no more bytes for now.
    Dry,
    /// There are more bytes, but other streams need a turn.
    More,
    /// The listener is slow and wants the command to wait.
    Full,
    /// The other end is closed.
    Ended,
    /// The capture no longer holds everything: the spill file is to be opened.
    Overflowing,
}

/// The most reads in one turn; with full buffers this is 1 MiB.
const READS: usize = 16;
/// For a pipe: a read of fewer bytes has emptied the pipe of a command that prints now and then. A command
/// that prints all the time is read until there is nothing, which costs fewer wake-ups on both sides.
pub const SHORT_OF_PIPE: usize = 4096;
/// For a terminal: a read can return less than there is, so no read counts as short.
pub const SHORT_OF_TERMINAL: usize = 0;

impl Stream {
    /// Reads the available bytes into the tap. `also` sees the same bytes.
    pub fn drain(&mut self, buffer: &mut [u8], mut also: impl FnMut(&[u8])) -> Progress {
        for _ in 0..READS {
            let count = match rustix::io::read(&self.descriptor, &mut *buffer) {
                // A terminal reports its end by EIO.
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
    /// Adds bytes to the capture and the listener's queue. Returns whether the command should wait for the
    /// listener.
    fn push(&mut self, chunk: &[u8]) -> bool {
        // The listener is told nothing about bytes that come after the result.
        let Some(capture) = &mut self.capture else { return false };
        capture.push(chunk);
        self.last_data = Instant::now();
        let Some(live) = &mut self.live else { return false };
        live.push(chunk);
        live.is_full()
    }

    /// Saves the bytes that the capture is about to lose, for the file. Returns whether that was needed.
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

    /// Takes all output so far, for the file that is to have it. Later output goes to the file at once.
    pub fn take_reserve(&mut self) -> Vec<u8> {
        match std::mem::replace(&mut self.reserve, Reserve::No) {
            Reserve::No => Vec::new(),
            Reserve::InCapture(_) => self.capture.as_ref().map(Capture::bytes).unwrap_or_default(),
            Reserve::Taken(bytes) => bytes,
        }
    }

    /// Returns whether its pipe is not read at the moment because the listener is slow.
    pub fn is_paused(&self) -> bool {
        self.live.as_ref().is_some_and(Live::is_full)
    }
}

/// Delivers due output to the listener. Returns the time of the next delivery.
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

/// Delivers the remaining output of a command that has ended.
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
