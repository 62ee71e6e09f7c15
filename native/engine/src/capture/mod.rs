//! Capture of one output stream: head, tail, and exact counts of everything.

pub mod head_tail;
pub mod live;
pub mod ring;
pub mod scan;
pub mod text;
pub mod utf8;

use crate::capture::head_tail::{Kept, Window};
use crate::capture::scan::{ByteContent, scan};
use crate::capture::text::Text;
use crate::capture::utf8::{CharacterCount, complete_prefix, severed_prefix};

/// The most bytes of a stream that are kept.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The first bytes.
    pub head: usize,
    /// The last bytes.
    pub tail: usize,
}

/// Exact counts of a stretch of output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes.
    pub bytes: u64,
    /// Characters of the decoded text.
    pub characters: u64,
    /// Lines; a last one without a newline counts.
    pub lines: u64,
}

/// A stream's capture, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured<Part> {
    /// The text or bytes that were kept.
    pub kept: Parts<Part>,
    /// Counts of everything the stream carried.
    pub total: Counts,
    /// Bytes of the last line, without its newline.
    pub last_line: u64,
    /// Whether the text differs from the bytes: some were not UTF-8, or were NUL.
    pub lossy: bool,
}

/// The part of a stream that was kept, as text or as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parts<Part> {
    /// All of the stream.
    Complete(Part),
    /// Both ends, cut between characters.
    Cut {
        /// The start.
        head: Part,
        /// The end.
        tail: Part,
        /// Counts of what is missing between them. `lines` is the number of newlines in it.
        dropped: Counts,
    },
}

/// Keeps both ends of a stream and counts all of it.
#[derive(Debug)]
pub struct Capture {
    window: Window,
    bytes: u64,
    newlines: u64,
    has_nul: bool,
    ends_with_newline: bool,
    last_line: u64,
    characters: CharacterCount,
}

impl Capture {
    /// Makes an empty capture.
    pub fn new(limits: Limits) -> Self {
        Capture {
            window: Window::new(limits.head, limits.tail),
            bytes: 0,
            newlines: 0,
            has_nul: false,
            ends_with_newline: true,
            last_line: 0,
            characters: CharacterCount::default(),
        }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, chunk: &[u8]) {
        let Some(last) = chunk.last() else { return };
        self.bytes += chunk.len() as u64;
        let content = scan(chunk);
        self.newlines += content.newlines;
        self.has_nul |= content.has_nul;
        self.measure_last_line(chunk, content);
        self.ends_with_newline = *last == b'\n';
        self.characters.push(chunk, content);
        self.window.push(chunk);
    }

    /// Returns whether every byte is still held once `more` bytes have been pushed, and the total is at most
    /// `limit`.
    pub fn holds(&self, more: usize, limit: u64) -> bool {
        self.bytes + more as u64 <= limit.min(self.window.capacity() as u64)
    }

    /// The bytes held: everything, as long as the capture [`holds`](Self::holds) it.
    pub fn bytes(&self) -> Vec<u8> {
        self.window.runs().concat()
    }

    /// Updates the length of the last line. A line with its newline is the last one until another begins.
    fn measure_last_line(&mut self, chunk: &[u8], content: ByteContent) {
        if self.ends_with_newline {
            self.last_line = 0;
        }
        if content.newlines == 0 {
            self.last_line += chunk.len() as u64;
            return;
        }
        let text = chunk.strip_suffix(b"\n").unwrap_or(chunk);
        match memchr::memrchr(b'\n', text) {
            Some(newline) => self.last_line = (text.len() - newline - 1) as u64,
            None => self.last_line += text.len() as u64,
        }
    }

    /// The capture so far, as text. The capture goes on.
    pub fn snapshot(&self) -> Captured<Text> {
        self.captured(self.window.peek())
    }

    /// The final capture, as text.
    pub fn finish(mut self) -> Captured<Text> {
        let kept = self.window.take();
        self.captured(kept)
    }

    fn captured(&self, kept: Kept) -> Captured<Text> {
        let (characters, invalid) = self.characters.total();
        let lines = self.newlines + u64::from(!self.ends_with_newline);
        let total = Counts { bytes: self.bytes, characters, lines };
        let kept = match kept {
            Kept::All(bytes) => Parts::Complete(Text::decode(bytes)),
            Kept::Ends { head, tail, .. } => self.cut(head, tail, total),
        };
        let last_line = self.last_line;
        Captured { kept, total, last_line, lossy: invalid || self.has_nul }
    }

    /// Trims both ends to whole characters, and counts what lies between them.
    fn cut(&self, mut head: Vec<u8>, mut tail: Vec<u8>, total: Counts) -> Parts<Text> {
        head.truncate(complete_prefix(&head));
        tail.drain(..severed_prefix(&tail));
        let bytes = total.bytes - (head.len() + tail.len()) as u64;
        let kept_newlines = bytecount::count(&head, b'\n') + bytecount::count(&tail, b'\n');
        let head = Text::decode(head);
        let tail = Text::decode(tail);
        let kept_characters = head.characters() + tail.characters();
        let dropped = Counts {
            bytes,
            // Binary data can decode to more pieces when cut than when whole.
            characters: total.characters.saturating_sub(kept_characters),
            lines: self.newlines - kept_newlines as u64,
        };
        Parts::Cut { head, tail, dropped }
    }
}

#[cfg(test)]
mod tests;
