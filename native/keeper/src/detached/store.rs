//! The files with a command's output, within a limit at every moment: the output's own file, and for the last
//! part of an output that is longer than the limit, pieces beside it.
//!
//! The name of a piece has the position of its first byte, `output.last-0000000000734003`, and that of an empty
//! file the length of the first part, `output.first-0000000000500000`. So a reader finds each byte by its
//! position in the output, also when this process was killed in the middle of a change. What is in the output's
//! own file beyond that first part is for people.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions, remove_file};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::quota::Shares;

pub struct Store {
    path: PathBuf,
    file: File,
    limit: u64,
    shares: Shares,
    /// Bytes that have arrived.
    total: u64,
    /// Bytes of the first part, in the output's own file.
    first: u64,
    /// Whether the first part is complete; and whether readers can see its length.
    is_divided: bool,
    is_marked: bool,
    /// The pieces of the last part, the oldest first.
    pieces: VecDeque<LastPiece>,
    /// Whether bytes could not be written.
    has_failed: bool,
    advised: bool,
}

struct LastPiece {
    path: PathBuf,
    file: File,
    start: u64,
    length: u64,
}

impl Store {
    /// Makes the output's own file, which must not exist.
    ///
    /// `advised`: whether the command's host reads these files as the command itself could; otherwise the command is
    /// in a sandbox, where the files beside it are not seen.
    pub fn create(path: &Path, limit: u64, advised: bool) -> io::Result<Store> {
        let mut options = OpenOptions::new();
        // Appended to: a command that finds the file by its name can't make this process overwrite it.
        options.read(true).append(true).create_new(true).mode(0o600);
        let file = options.custom_flags(libc::O_NOFOLLOW).open(path)?;
        Ok(Store {
            path: path.to_owned(),
            file,
            limit,
            shares: Shares::of(limit),
            total: 0,
            first: 0,
            is_divided: false,
            is_marked: false,
            pieces: VecDeque::new(),
            has_failed: false,
            advised,
        })
    }

    /// Takes bytes of the output. Those that the disk does not take are left out, and counted.
    pub fn put(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let taken = if self.is_divided { self.put_last(bytes) } else { self.put_first(bytes) };
            self.total += taken as u64;
            bytes = bytes.get(taken..).unwrap_or_default();
        }
    }

    /// Returns how many bytes are kept.
    pub fn kept(&self) -> u64 {
        self.first + self.in_pieces()
    }

    /// Returns how many bytes were left out, in the middle or because the disk was full.
    pub fn cut(&self) -> u64 {
        self.total - self.kept()
    }

    /// Writes text for people into the output's own file. While that is all of the output, it is a part of it,
    /// above the limit.
    pub fn append(&mut self, text: &str) -> io::Result<()> {
        // At once, so that it is not split on a disk that is full.
        self.file.write_all(text.as_bytes())?;
        if !self.is_divided {
            let length = text.len() as u64;
            self.limit = self.limit.saturating_add(length);
            self.shares.whole = self.shares.whole.saturating_add(length);
            self.shares.first = self.shares.first.saturating_add(length);
            self.first += length;
            self.total += length;
        }
        Ok(())
    }

    /// Returns a line about what is not in the output's own file. None: nothing is missing there.
    pub fn line(&self) -> Option<String> {
        let (cut, last) = (self.cut(), self.in_pieces());
        let place = format!("the last {last} bytes{}", self.place());
        match (cut, last) {
            (0, 0) => None,
            (0, _) => Some(format!("[output continued in other files, {place}]")),
            _ if self.has_failed => {
                let rest = if last > 0 { format!("; {place}") } else { String::new() };
                Some(format!("[output not written, {cut} bytes are left out{rest}]"))
            }
            (_, 0) => Some(format!(
                "[output cut off after {} bytes, {cut} bytes are left out]",
                self.first
            )),
            _ => Some(format!(
                "[output cut after {} bytes, {cut} bytes are left out here; {place}]",
                self.first
            )),
        }
    }

    /// Says where the last part is.
    fn place(&self) -> String {
        let path = quoted(&self.path);
        match self.advised {
            true => format!(": cat {path}.last-*"),
            false => format!(" is outside of the sandbox: {path}.last-*"),
        }
    }

    fn in_pieces(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.length).sum()
    }

    /// Writes to the output's own file. Returns how many bytes.
    fn put_first(&mut self, bytes: &[u8]) -> usize {
        let room = self.shares.whole.saturating_sub(self.first);
        if room == 0 {
            self.divide();
            return 0;
        }
        match self.file.write(up_to(bytes, room)) {
            Ok(written) if written > 0 => {
                self.first += written as u64;
                written
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            // The disk is full: where there is room again, the output goes on in a piece.
            _ => {
                self.is_divided = true;
                0
            }
        }
    }

    /// Moves all but the first part into pieces, the last one first.
    fn divide(&mut self) {
        self.is_divided = true;
        let Shares { first, piece, .. } = self.shares;
        while self.first > first && piece > 0 {
            let start = first.max(self.first - piece);
            let Ok(moved) = self.copy_from(start) else { break };
            if self.file.set_len(start).is_err() {
                let _ = remove_file(&moved.path);
                break;
            }
            self.first = start;
            self.pieces.push_front(moved);
        }
    }

    /// Copies the end of the output's own file into a piece.
    fn copy_from(&mut self, start: u64) -> io::Result<LastPiece> {
        let length = self.first - start;
        let mut piece = LastPiece::create(&self.path, start)?;
        self.file.seek(SeekFrom::Start(start))?;
        match io::copy(&mut (&self.file).take(length), &mut piece.file) {
            Ok(copied) if copied == length => {
                piece.length = length;
                Ok(piece)
            }
            failed => {
                let _ = remove_file(&piece.path);
                Err(failed.err().unwrap_or_else(|| ErrorKind::UnexpectedEof.into()))
            }
        }
    }

    /// Shows readers where the first part ends, and people where the output goes on.
    fn mark(&mut self) -> bool {
        if !self.is_marked {
            let name = beside(&self.path, "first", self.first);
            self.is_marked = new_file(&name).is_ok();
            if self.is_marked && self.shares.piece > 0 {
                let (first, place) = (self.first, self.place());
                let line = format!(
                    "\n\n[output goes on after these {first} bytes; the last of it{place}]\n"
                );
                // On a full disk it is missing.
                let _ = self.file.write_all(line.as_bytes());
            }
        }
        self.is_marked
    }

    /// Writes to the last piece, or leaves bytes out. Returns how many bytes that are.
    fn put_last(&mut self, bytes: &[u8]) -> usize {
        let capacity = self.limit.saturating_sub(self.first);
        if !self.mark() {
            self.has_failed = true;
            return bytes.len();
        }
        if capacity == 0 || self.shares.piece == 0 {
            return bytes.len();
        }
        let excess = (bytes.len() as u64).saturating_sub(capacity);
        if excess > 0 {
            // None but the end of them would remain.
            while self.drop_oldest() {}
            return excess as usize;
        }
        let total = self.total;
        let is_open = |piece: &LastPiece| piece.start + piece.length == total;
        let filled = self.pieces.back().filter(|piece| is_open(piece)).map(|piece| piece.length);
        let filled = filled.filter(|length| *length < self.shares.piece);
        let part = up_to(bytes, self.shares.piece - filled.unwrap_or(0));
        while self.in_pieces() + part.len() as u64 > capacity && self.drop_oldest() {}
        match self.write_last(part, filled.is_some()) {
            Ok(written) => written,
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            // The disk is full: the oldest gives room to the newest.
            Err(_) if self.pieces.len() > 1 && self.drop_oldest() => 0,
            Err(_) => {
                self.has_failed = true;
                bytes.len()
            }
        }
    }

    fn write_last(&mut self, part: &[u8], goes_on: bool) -> io::Result<usize> {
        if !goes_on || self.pieces.is_empty() {
            self.pieces.push_back(LastPiece::create(&self.path, self.total)?);
        }
        let Some(piece) = self.pieces.back_mut() else { return Ok(0) };
        let written = piece.file.write(part);
        if let Ok(written) = written {
            piece.length += written as u64;
        }
        if piece.length == 0 {
            let _ = remove_file(&piece.path);
            self.pieces.pop_back();
        }
        written
    }

    fn drop_oldest(&mut self) -> bool {
        let oldest = self.pieces.pop_front();
        oldest.is_some_and(|piece| remove_file(&piece.path).is_ok())
    }
}

impl LastPiece {
    fn create(output: &Path, start: u64) -> io::Result<LastPiece> {
        let path = beside(output, "last", start);
        let file = new_file(&path)?;
        Ok(LastPiece { path, file, start, length: 0 })
    }
}

/// Returns the name of a file beside the output. Names are in the order of their positions.
fn beside(output: &Path, what: &str, position: u64) -> PathBuf {
    output.with_extension(format!("{what}-{position:016}"))
}

fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

fn up_to(bytes: &[u8], most: u64) -> &[u8] {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    bytes.get(..most).unwrap_or(bytes)
}

/// Quotes a path for a shell.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%".contains(c);
    if text.chars().all(is_plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
