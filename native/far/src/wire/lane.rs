//! A lane: one of the two channels of a call, in both directions. One is for messages, one for bytes.
//! Data that is not taken on one does not block the other.

use std::collections::VecDeque;

/// The most bytes of a lane that are under way, or have not been taken by the receiver.
pub const WINDOW: u64 = 1024 * 1024;

/// The longest payload of a frame that is sent, in bytes; short enough for calls to take turns.
pub const SENT_PAYLOAD: usize = 64 * 1024;

/// The number of taken bytes after which credit is granted.
const GRANTED: u64 = WINDOW / 4;

/// Whether a lane's pieces may be split over several frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pieces {
    /// A piece may be split; the receiver puts its parts together again.
    Split,
    /// A piece is sent in one frame, or waits.
    Whole,
}

/// A lane, as seen from this side of the connection.
#[derive(Debug)]
pub struct Lane {
    /// Whether a piece may be split over several frames.
    pieces: Pieces,
    queue: VecDeque<Vec<u8>>,
    /// The offset at which the first piece continues.
    at: usize,
    waiting: usize,
    /// Bytes that the other side can take.
    credit: u64,
    /// Bytes that the other side may still send.
    window: u64,
    /// Bytes that were taken here, for which no credit has been granted yet.
    taken: u64,
}

impl Lane {
    /// Makes an empty lane.
    pub fn new(pieces: Pieces) -> Self {
        let queue = VecDeque::new();
        Lane { pieces, queue, at: 0, waiting: 0, credit: WINDOW, window: WINDOW, taken: 0 }
    }

    /// Returns how many bytes wait to be sent.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Returns whether a piece that waits can be sent now.
    pub fn can_send(&self) -> bool {
        self.queue.front().is_some_and(|first| {
            let needed = match self.pieces {
                Pieces::Split => first.len().min(1),
                Pieces::Whole => first.len(),
            };
            self.credit >= needed as u64
        })
    }

    /// Queues a piece; one that may not be split must fit into a frame.
    pub fn put(&mut self, bytes: Vec<u8>) {
        self.waiting += bytes.len();
        self.queue.push_back(bytes);
    }

    /// Returns the next bytes that can be sent, and whether more of the same piece follows.
    pub fn next(&mut self) -> Option<(Vec<u8>, bool)> {
        if !self.can_send() {
            return None;
        }
        let first = self.queue.front()?;
        let most = SENT_PAYLOAD.min(usize::try_from(self.credit).unwrap_or(usize::MAX));
        let size = (first.len() - self.at).min(most);
        let more = self.at + size < first.len();
        let bytes = match (self.at, more) {
            (0, false) => self.queue.pop_front()?,
            _ => first.get(self.at..self.at + size).unwrap_or_default().to_vec(),
        };
        if !more && self.at > 0 {
            self.queue.pop_front();
        }
        self.at = if more { self.at + size } else { 0 };
        self.credit -= size as u64;
        self.waiting -= size;
        Some((bytes, more))
    }

    /// Takes note that the other side can take more bytes.
    pub fn credited(&mut self, bytes: u64) {
        self.credit = self.credit.saturating_add(bytes);
    }

    /// Takes note of received bytes. Returns whether they were within what was granted.
    pub fn received(&mut self, bytes: usize) -> bool {
        let rest = self.window.checked_sub(bytes as u64);
        self.window = rest.unwrap_or(0);
        rest.is_some()
    }

    /// Takes note that received bytes were taken. Returns how many to grant again, if that is worth a
    /// frame. Grants nothing while too much waits for the other side: a side that does not read gets no
    /// credit.
    pub fn consumed(&mut self, bytes: usize) -> Option<u64> {
        self.taken += bytes as u64;
        if self.taken < GRANTED || self.waiting as u64 > WINDOW {
            return None;
        }
        let granted = std::mem::take(&mut self.taken);
        self.window += granted;
        Some(granted)
    }
}

#[cfg(test)]
mod tests;
