//! Output on its way to a listener: throttled, coalesced and bounded.
//!
//! A listener asks for one delivery at a time. Until it asks again, bytes gather
//! here; past the limit either the middle is dropped, and the listener told how
//! much, or (if it prefers) the pipe is left alone until there is room.

use std::time::{Duration, Instant};

use crate::capture::head_tail::{Kept, Window};
use crate::capture::utf8::{complete_prefix, severed_prefix};

/// Deliveries are at least this far apart, unless [`FULL_CHUNK`] bytes are waiting.
pub const INTERVAL: Duration = Duration::from_millis(50);
/// A delivery of this many bytes is worth making at once.
pub const FULL_CHUNK: usize = 64 * 1024;
/// How much may wait for a listener, in bytes; memory is taken only as it fills.
const LIMIT: usize = 1024 * 1024;

/// What happens to output that a slow listener leaves waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// The command goes on; the middle of what waits is lost and counted.
    DropMiddle,
    /// The command waits, as on any pipe nobody reads.
    Pause,
}

/// A stretch of output for a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The bytes; in text mode they end between characters.
    pub bytes: Vec<u8>,
    /// How many bytes were lost just before them.
    pub dropped: u64,
}

/// The output that waits for a listener of one stream.
#[derive(Debug)]
pub struct Live {
    window: Window,
    overflow: Overflow,
    whole_characters: bool,
    wanted: bool,
    last: Option<Instant>,
}

impl Live {
    /// `whole_characters`: hold back the bytes of an unfinished character.
    pub fn new(overflow: Overflow, whole_characters: bool) -> Self {
        let window = Window::new(LIMIT / 2, LIMIT / 2);
        Live { window, overflow, whole_characters, wanted: true, last: None }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, chunk: &[u8]) {
        self.window.push(chunk);
    }

    /// Whether the pipe should be left alone for now.
    pub fn is_full(&self) -> bool {
        self.overflow == Overflow::Pause && self.window.len() >= FULL_CHUNK * 2
    }

    /// The listener has left, and no longer makes the command wait.
    pub fn detach(&mut self) {
        self.overflow = Overflow::DropMiddle;
    }

    /// The listener can take another delivery.
    pub fn want(&mut self) {
        self.wanted = true;
    }

    /// When the waiting bytes may be delivered; None: nothing waits, or nobody wants it yet.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        if !self.wanted || self.window.is_empty() {
            return None;
        }
        if self.window.len() >= FULL_CHUNK {
            return Some(now);
        }
        Some(self.last.map_or(now, |last| last + INTERVAL))
    }

    /// Takes what is waiting; empty when all of it is an unfinished character.
    pub fn take(&mut self, now: Instant) -> Vec<Piece> {
        let pieces = self.pieces(false);
        if !pieces.is_empty() {
            self.wanted = false;
            self.last = Some(now);
        }
        pieces
    }

    /// Takes everything, the stream having ended.
    pub fn finish(&mut self) -> Vec<Piece> {
        self.pieces(true)
    }

    fn pieces(&mut self, ended: bool) -> Vec<Piece> {
        let mut pieces = match self.window.take() {
            Kept::All(bytes) => vec![Piece { bytes, dropped: 0 }],
            Kept::Ends { head, dropped, tail } => self.both_ends(head, dropped, tail),
        };
        if let (true, false, Some(last)) = (self.whole_characters, ended, pieces.last_mut()) {
            let unfinished = last.bytes.split_off(complete_prefix(&last.bytes));
            self.window.push(&unfinished);
        }
        pieces.retain(|piece| !piece.bytes.is_empty() || piece.dropped > 0);
        pieces
    }

    fn both_ends(&self, mut head: Vec<u8>, mut dropped: u64, mut tail: Vec<u8>) -> Vec<Piece> {
        if self.whole_characters {
            let kept = head.len() + tail.len();
            head.truncate(complete_prefix(&head));
            tail.drain(..severed_prefix(&tail));
            dropped += (kept - head.len() - tail.len()) as u64;
        }
        vec![Piece { bytes: head, dropped: 0 }, Piece { bytes: tail, dropped }]
    }
}

#[cfg(test)]
mod tests;
