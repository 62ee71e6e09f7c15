//! One of the two ways that a call has over a line, in both directions: for messages, and for bytes.
//! What nobody takes on one holds up nothing on the other.

use std::collections::VecDeque;

/// Bytes of a lane that are on their way, or lie where nobody has taken them.
pub const WINDOW: u64 = 1024 * 1024;

/// A frame of ours carries so much, so that calls take turns on the line.
pub const SENT_PAYLOAD: usize = 64 * 1024;

/// So much at a time is granted anew.
const GRANTED: u64 = WINDOW / 4;

/// Whether a lane's pieces may be split over several frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pieces {
    /// A piece may be split; the receiver puts its parts together again.
    Split,
    /// A piece is sent in one frame, or waits.
    Whole,
}

/// A lane, as this side of the line sees it.
#[derive(Debug)]
pub struct Lane {
    /// Whether a piece may be split over several frames.
    pieces: Pieces,
    queue: VecDeque<Vec<u8>>,
    /// Where the first goes on.
    at: usize,
    waiting: usize,
    /// Bytes that the other side can take.
    credit: u64,
    /// Bytes that it may still send.
    window: u64,
    /// Bytes that were taken here, and not granted anew yet.
    taken: u64,
}

impl Lane {
    /// Makes an empty lane.
    pub fn new(pieces: Pieces) -> Self {
        let queue = VecDeque::new();
        Lane { pieces, queue, at: 0, waiting: 0, credit: WINDOW, window: WINDOW, taken: 0 }
    }

    /// Bytes that wait to be sent.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Whether something waits that could be sent.
    pub fn can_send(&self) -> bool {
        self.queue.front().is_some_and(|first| {
            let needed = match self.pieces {
                Pieces::Split => first.len().min(1),
                Pieces::Whole => first.len(),
            };
            self.credit >= needed as u64
        })
    }

    /// Queues a piece; one that is not cut must fit into a frame.
    pub fn put(&mut self, bytes: Vec<u8>) {
        self.waiting += bytes.len();
        self.queue.push_back(bytes);
    }

    /// The next that can be sent, and whether more of the same piece follows.
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

    /// The other side can take so much more.
    pub fn credited(&mut self, bytes: u64) {
        self.credit = self.credit.saturating_add(bytes);
    }

    /// So much has come; false: more than was granted.
    pub fn received(&mut self, bytes: usize) -> bool {
        let rest = self.window.checked_sub(bytes as u64);
        self.window = rest.unwrap_or(0);
        rest.is_some()
    }

    /// Bytes that came have been taken; how many are to be granted anew, if it is worth a frame. Not
    /// while more waits for the other side than it should: who does not read gets no room.
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
