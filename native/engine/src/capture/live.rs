//! Output on its way to a listener: throttled, coalesced and bounded.
//!
//! A listener asks for one delivery at a time. Until it asks again, bytes gather here. Past the limit, either
//! the middle is dropped and the listener is told how much, or (if the listener prefers) the pipe is not read
//! until there is room.

use std::time::{Duration, Instant};

use crate::capture::head_tail::{Kept, Window};
use crate::capture::utf8::{complete_prefix, severed_prefix};

/// The least time between two deliveries, unless [`FULL_CHUNK`] bytes are waiting.
pub const INTERVAL: Duration = Duration::from_millis(50);
/// The number of bytes that are delivered at once.
pub const FULL_CHUNK: usize = 64 * 1024;
/// The most bytes that may wait for a listener. Memory is taken only as it fills.
const LIMIT: usize = 1024 * 1024;

/// The treatment of output that a slow listener leaves waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// The command goes on; the middle of what waits is dropped and counted.
    DropMiddle,
    /// The command waits, as on any pipe without a reader.
    Pause,
}

/// A stretch of output for a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The bytes. In text mode they end between characters.
    pub bytes: Vec<u8>,
    /// The number of bytes dropped just before them.
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
    /// Makes an empty queue. `whole_characters`: whether the bytes of an unfinished character are held back.
    pub fn new(overflow: Overflow, whole_characters: bool) -> Self {
        let window = Window::new(LIMIT / 2, LIMIT / 2);
        Live { window, overflow, whole_characters, wanted: true, last: None }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, chunk: &[u8]) {
        self.window.push(chunk);
    }

    /// Returns whether the pipe should not be read for now.
    pub fn is_full(&self) -> bool {
        self.overflow == Overflow::Pause && self.window.len() >= FULL_CHUNK * 2
    }

    /// Notes that the listener has left: it no longer makes the command wait.
    pub fn detach(&mut self) {
        self.overflow = Overflow::DropMiddle;
    }

    /// Notes that the listener can take another delivery.
    pub fn want(&mut self) {
        self.wanted = true;
    }

    /// The time at which the waiting bytes may be delivered. None: no bytes wait, or no delivery is wanted
    /// yet.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        if !self.wanted || self.window.is_empty() {
            return None;
        }
        if self.window.len() >= FULL_CHUNK {
            return Some(now);
        }
        Some(self.last.map_or(now, |last| last + INTERVAL))
    }

    /// Takes the waiting bytes. Empty when all of them are an unfinished character.
    pub fn take(&mut self, now: Instant) -> Vec<Piece> {
        let pieces = self.pieces(false);
        if !pieces.is_empty() {
            self.wanted = false;
            self.last = Some(now);
        }
        pieces
    }

    /// Takes everything: the stream has ended.
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
