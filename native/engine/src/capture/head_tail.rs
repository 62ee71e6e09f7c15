//! The first and the last bytes of a stream, and how many were dropped between.

use crate::capture::ring::Ring;

/// Keeps the first `head` bytes and the last `tail` bytes of what is pushed.
#[derive(Debug)]
pub struct Window {
    head_limit: usize,
    head: Vec<u8>,
    tail: Ring,
    dropped: u64,
}

/// What a window kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// Every byte.
    All(Vec<u8>),
    /// The start and the end; `dropped` bytes between them are gone.
    Ends {
        /// The first bytes.
        head: Vec<u8>,
        /// How many bytes came between.
        dropped: u64,
        /// The last bytes.
        tail: Vec<u8>,
    },
}

impl Window {
    /// An empty window; it takes memory only as bytes arrive.
    pub fn new(head_limit: usize, tail_limit: usize) -> Self {
        Window { head_limit, head: Vec::new(), tail: Ring::new(tail_limit), dropped: 0 }
    }

    /// Appends bytes. Costs a copy of what is kept, however much is pushed.
    pub fn push(&mut self, chunk: &[u8]) {
        let room = self.head_limit - self.head.len();
        let (first, rest) = chunk.split_at(room.min(chunk.len()));
        self.head.extend_from_slice(first);
        self.dropped += self.tail.push(rest) as u64;
    }

    /// How many bytes it holds now.
    pub fn len(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Everything pushed so far, as the runs it is stored in; meaningless once bytes were dropped.
    pub fn runs(&self) -> [&[u8]; 3] {
        let (older, newer) = self.tail.as_slices();
        [&self.head, older, newer]
    }

    /// How many bytes it holds at most.
    pub fn capacity(&self) -> usize {
        self.head_limit.saturating_add(self.tail.limit())
    }

    /// A copy of what is kept so far.
    pub fn peek(&self) -> Kept {
        let (older, newer) = self.tail.as_slices();
        let tail = [older, newer].concat();
        self.kept(self.head.clone(), tail)
    }

    /// Takes what is kept and starts afresh.
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
