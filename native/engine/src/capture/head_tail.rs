//! The first and the last bytes of a stream, and the number of bytes dropped between them.

use crate::capture::ring::Ring;

/// Keeps the first `head` bytes and the last `tail` bytes of what is pushed.
#[derive(Debug)]
pub struct Window {
    head_limit: usize,
    head: Vec<u8>,
    tail: Ring,
    dropped: u64,
}

/// The bytes that a window kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// Every byte.
    All(Vec<u8>),
    /// The start and the end; `dropped` bytes between them are gone.
    Ends {
        /// The first bytes.
        head: Vec<u8>,
        /// The number of bytes between them.
        dropped: u64,
        /// The last bytes.
        tail: Vec<u8>,
    },
}

impl Window {
    /// Makes an empty window, which takes memory only as bytes arrive.
    pub fn new(head_limit: usize, tail_limit: usize) -> Self {
        Window { head_limit, head: Vec::new(), tail: Ring::new(tail_limit), dropped: 0 }
    }

    /// Appends bytes. The cost is a copy of what is kept, however much is pushed.
    pub fn push(&mut self, chunk: &[u8]) {
        let room = self.head_limit - self.head.len();
        let (first, rest) = chunk.split_at(room.min(chunk.len()));
        self.head.extend_from_slice(first);
        self.dropped += self.tail.push(rest) as u64;
    }

    /// Returns the number of bytes held now.
    pub fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// Returns whether no bytes are held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all bytes pushed so far, as the runs they are stored in. Meaningless once bytes were dropped.
    pub fn runs(&self) -> [&[u8]; 3] {
        let (older, newer) = self.tail.as_slices();
        [&self.head, older, newer]
    }

    /// Returns the most bytes that can be held.
    pub fn capacity(&self) -> usize {
        self.head_limit.saturating_add(self.tail.limit())
    }

    /// Returns a copy of what is kept so far.
    pub fn peek(&self) -> Kept {
        let (older, newer) = self.tail.as_slices();
        let tail = [older, newer].concat();
        self.kept(self.head.clone(), tail)
    }

    /// Takes what is kept and starts again, empty.
    pub fn take(&mut self) -> Kept {
        let head = std::mem::take(&mut self.head);
        let tail = self.tail.take();
        let kept = self.kept(head, tail);
        self.dropped = 0;
        kept
    }

    fn kept(&self, mut head: Vec<u8>, tail: Vec<u8>) -> Kept {
        if self.dropped > 0 {
            return Kept::Ends { head, dropped: self.dropped, tail };
        }
        head.extend_from_slice(&tail);
        Kept::All(head)
    }
}
