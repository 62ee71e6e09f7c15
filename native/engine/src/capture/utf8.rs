//! Positions at which UTF-8 may be cut, and counts of its characters.
//!
//! 'Character' means a Unicode code point of the decoded text, where each maximal invalid sequence decodes to
//! one U+FFFD (the rule of the WHATWG decoder and of `String::from_utf8_lossy`).

use std::str::from_utf8;

use crate::capture::scan::ByteContent;

/// Returns the length of the prefix of `bytes` that does not end inside a character.
///
/// Only a sequence that could still become valid is left out: at most 3 bytes.
pub fn complete_prefix(bytes: &[u8]) -> usize {
    // A sequence that starts more than 3 bytes before the end is complete or invalid.
    let window = bytes.len().saturating_sub(3);
    for start in (window..bytes.len()).rev() {
        let (_, suffix) = bytes.split_at(start);
        match suffix.first() {
            Some(byte) if is_continuation(*byte) => {}
            _ => return if is_incomplete(suffix) { start } else { bytes.len() },
        }
    }
    bytes.len()
}

/// Returns how many bytes at the start of `bytes` are the rest of a character that was cut: at most 3.
pub fn severed_prefix(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|byte| is_continuation(**byte)).count()
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

fn is_incomplete(sequence: &[u8]) -> bool {
    from_utf8(sequence).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}

/// Counts the characters of a stream that arrives in arbitrary pieces.
#[derive(Debug, Default, Clone)]
pub struct CharacterCount {
    characters: u64,
    invalid: bool,
    /// The start of a character whose rest has not arrived; at most 3 bytes.
    pending: Vec<u8>,
}

impl CharacterCount {
    /// Counts the next piece, which consists of this.
    pub fn push(&mut self, chunk: &[u8], content: ByteContent) {
        let rest = self.finish_pending(chunk);
        if content.is_ascii {
            self.characters += rest.len() as u64;
        } else {
            self.count(rest);
        }
    }

    /// Returns the count so far, where an unfinished character counts as one, and whether any sequence was
    /// invalid.
    pub fn total(&self) -> (u64, bool) {
        let unfinished = !self.pending.is_empty();
        (self.characters + u64::from(unfinished), self.invalid || unfinished)
    }

    /// Completes a character that began in an earlier piece. Returns the bytes that follow it.
    fn finish_pending<'a>(&mut self, mut chunk: &'a [u8]) -> &'a [u8] {
        while !self.pending.is_empty() {
            let Some((byte, rest)) = chunk.split_first() else { break };
            self.pending.push(*byte);
            match from_utf8(&self.pending) {
                Ok(_) => self.end_pending(false),
                Err(error) if error.error_len().is_none() => {}
                // The byte just added does not belong to this character: it begins the next one.
                Err(_) => {
                    self.end_pending(true);
                    continue;
                }
            }
            chunk = rest;
        }
        chunk
    }

    fn end_pending(&mut self, invalid: bool) {
        self.characters += 1;
        self.invalid |= invalid;
        self.pending.clear();
    }

    fn count(&mut self, mut bytes: &[u8]) {
        loop {
            let Err(error) = from_utf8(bytes) else {
                self.characters += bytecount::num_chars(bytes) as u64;
                return;
            };
            let (valid, broken) = bytes.split_at(error.valid_up_to());
            self.characters += bytecount::num_chars(valid) as u64;
            let Some(length) = error.error_len() else {
                self.pending.extend_from_slice(broken);
                return;
            };
            self.characters += 1;
            self.invalid = true;
            bytes = broken.split_at(length).1;
        }
    }
}

#[cfg(test)]
mod tests;
