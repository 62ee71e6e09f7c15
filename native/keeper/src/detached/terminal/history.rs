//! The latest output of a terminal, in memory.

use std::collections::VecDeque;

use forkline_protocol::task::{Stretch, TerminalSize};

use super::modes::Modes;

/// The bytes that are kept. A screen is drawn anew from these: the largest has 80,000 cells.
const KEPT: usize = 256 * 1024;
/// The most changes of the size that are kept.
const MOST_SIZES: usize = 64;

/// The last bytes of the output, and the sizes that the terminal had as they were printed.
pub struct ScreenHistory {
    bytes: VecDeque<u8>,
    /// The position of the first kept byte.
    start: u64,
    /// The modes that were set before that.
    modes: Modes,
    /// The sizes, each with the position of its first byte. Never empty; the first one counts from the
    /// start.
    sizes: VecDeque<(u64, TerminalSize)>,
}

impl ScreenHistory {
    pub fn new(size: TerminalSize) -> ScreenHistory {
        let modes = Modes::default();
        ScreenHistory { bytes: VecDeque::new(), start: 0, modes, sizes: [(0, size)].into() }
    }

    /// Adds output, and forgets the oldest.
    pub fn push(&mut self, piece: &[u8]) {
        self.bytes.extend(piece);
        let surplus = self.bytes.len().saturating_sub(KEPT);
        if surplus == 0 {
            return;
        }
        // A character is kept whole, or not at all.
        let is_continuation = |byte: &&u8| **byte & 0xc0 == 0x80;
        let split = self.bytes.iter().skip(surplus).take(3).take_while(is_continuation).count();
        for byte in self.bytes.drain(..surplus + split) {
            self.modes.read(byte);
            self.start += 1;
        }
        while self.sizes.get(1).is_some_and(|(from, _)| *from <= self.start) {
            self.sizes.pop_front();
        }
    }

    /// Takes note of another size.
    pub fn resize(&mut self, size: TerminalSize) {
        let end = self.end();
        if self.sizes.back().is_some_and(|(from, _)| *from == end) {
            self.sizes.pop_back();
        }
        self.sizes.push_back((end, size));
        if self.sizes.len() > MOST_SIZES {
            self.sizes.pop_front();
        }
    }

    /// Returns the size now.
    pub fn size(&self) -> TerminalSize {
        self.sizes.back().map_or(TerminalSize::default(), |(_, size)| *size)
    }

    /// Returns the size as the byte at this position was printed, or will be.
    pub fn size_at(&self, position: u64) -> TerminalSize {
        let (_, first) = self.sizes.front().copied().unwrap_or_default();
        let before = self.sizes.iter().rev().find(|(from, _)| *from <= position);
        before.map_or(first, |(_, size)| *size)
    }

    /// Returns the position after the last byte.
    pub fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Returns output from a position on, or from the first byte that is kept: at most so many bytes, all
    /// printed at one size. None: there is no later output.
    pub fn stretch(&self, since: u64, most: usize) -> Option<Stretch> {
        let from = since.max(self.start);
        let resized = self.sizes.iter().map(|(from, _)| *from).find(|at| *at > from);
        let end = self.end().min(resized.unwrap_or(u64::MAX));
        let count = usize::try_from(end.checked_sub(from)?).ok()?.min(most);
        if count == 0 {
            return None;
        }
        let first = usize::try_from(from - self.start).ok()?;
        let bytes = self.bytes.range(first..first + count).copied().collect();
        let modes = if from > since { self.modes.sequences() } else { Vec::new() };
        Some(Stretch { from, modes, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: TerminalSize = TerminalSize { columns: 80, rows: 24 };
    const WIDE: TerminalSize = TerminalSize { columns: 120, rows: 24 };

    /// Reads all that is kept since a position.
    fn all(history: &ScreenHistory, since: u64) -> (u64, Vec<u8>) {
        let (mut at, mut from, mut read) = (since, since, Vec::new());
        while let Some(stretch) = history.stretch(at, 1000) {
            if read.is_empty() {
                from = stretch.from;
            }
            at = stretch.from + stretch.bytes.len() as u64;
            read.extend(stretch.bytes);
        }
        (from, read)
    }

    #[test]
    fn the_last_bytes_are_kept_with_their_positions() {
        let mut history = ScreenHistory::new(SIZE);
        let printed: Vec<u8> = (0..3 * KEPT + 77).map(|at| b'a' + (at % 26) as u8).collect();
        for piece in printed.chunks(4096) {
            history.push(piece);
        }
        let total = printed.len();
        assert_eq!(history.end(), total as u64);
        let (from, read) = all(&history, 0);
        assert_eq!(from as usize, total - KEPT);
        assert!(read == printed[total - KEPT..]);
        assert_eq!(all(&history, total as u64 - 5).1, &printed[total - 5..]);
        assert_eq!(history.stretch(total as u64, 10), None);
        assert_eq!(history.stretch(u64::MAX, 10), None);
    }

    #[test]
    fn a_character_is_not_split() {
        let mut history = ScreenHistory::new(SIZE);
        history.push("é".repeat(KEPT / 2).as_bytes());
        history.push(b"x");
        let (from, read) = all(&history, 0);
        assert_eq!((from, read.len()), (2, KEPT - 1));
        assert!(std::str::from_utf8(&read).is_ok());
    }

    #[test]
    fn a_stretch_ends_where_the_size_changes() {
        let mut history = ScreenHistory::new(SIZE);
        history.push(b"ab");
        history.resize(WIDE);
        history.push(b"cd");
        assert_eq!(history.stretch(0, 10).unwrap().bytes, b"ab");
        assert_eq!(history.stretch(2, 10).unwrap().bytes, b"cd");
        assert_eq!((history.size_at(1), history.size_at(2), history.size()), (SIZE, WIDE, WIDE));
        for _ in 0..1000 {
            history.resize(SIZE);
            history.push(b"x");
            history.resize(WIDE);
            history.push(b"x");
        }
        assert!(history.sizes.len() <= MOST_SIZES);
        history.push(&vec![b'y'; KEPT]);
        assert_eq!((history.sizes.len(), history.size_at(0)), (1, WIDE));
    }

    #[test]
    fn a_gap_tells_the_modes() {
        let mut history = ScreenHistory::new(SIZE);
        history.push(b"\x1b[?1049h\x1b[?25l");
        assert_eq!(history.stretch(0, 4).unwrap().modes, b"");
        history.push(&vec![b'y'; KEPT]);
        let stretch = history.stretch(0, 4).unwrap();
        assert_eq!(stretch.bytes, b"yyyy");
        assert_eq!(String::from_utf8(stretch.modes).unwrap(), "\x1b[?25l\x1b[?1049h");
    }
}
