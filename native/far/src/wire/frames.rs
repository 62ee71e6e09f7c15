//! Frames, as `src/remote/wire/frames.ts` has them: each a piece of one call.
//!
//! Four bytes of the payload's length, one of its kind, one that tells whether the message goes on, four
//! of the call's number, the payload. Numbers are big endian.

use std::fmt;

/// What a frame does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Who speaks; the first in each direction.
    Hello = 1,
    /// The client begins a call.
    Open = 2,
    /// Something about a call, as JSON.
    Message = 3,
    /// Bytes of a call: output or input.
    Data = 4,
    /// The receiver can take so many bytes more of a call.
    Credit = 5,
    /// The client wants the call to end.
    Cancel = 6,
    /// The far side has answered the call; nothing follows.
    End = 7,
    /// Something about the line itself, as JSON.
    Notice = 8,
}

const KINDS: [Kind; 8] = [
    Kind::Hello,
    Kind::Open,
    Kind::Message,
    Kind::Data,
    Kind::Credit,
    Kind::Cancel,
    Kind::End,
    Kind::Notice,
];

/// A piece of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// What it does.
    pub kind: Kind,
    /// The message goes on in the next frame of its call.
    pub more: bool,
    /// The number of the call; 0: the line itself.
    pub call: u32,
    /// What it carries.
    pub payload: Vec<u8>,
}

/// The most that a frame carries, in bytes; we send a quarter of it.
const MOST_PAYLOAD: usize = 256 * 1024;

/// What came is not what the other side of this protocol sends; nothing can be read after that.
#[derive(Debug)]
pub struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Appends a frame as bytes.
pub fn encode(frame: &Frame, out: &mut Vec<u8>) {
    out.extend_from_slice(&(frame.payload.len() as u32).to_be_bytes());
    out.extend_from_slice(&[frame.kind as u8, frame.more.into()]);
    out.extend_from_slice(&frame.call.to_be_bytes());
    out.extend_from_slice(&frame.payload);
}

/// Puts frames together again from bytes that come in pieces of any size.
#[derive(Debug, Default)]
pub struct Parser {
    bytes: Vec<u8>,
    at: usize,
}

impl Parser {
    /// Takes what has come.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.at);
        self.at = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next frame that is whole by now.
    pub fn next(&mut self) -> Result<Option<Frame>, Fault> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some((header, rest)) = rest.split_first_chunk::<10>() else { return Ok(None) };
        let [a, b, c, d, kind, more, e, f, g, h] = *header;
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        let kind = KINDS.into_iter().find(|known| *known as u8 == kind);
        let (Some(kind), true) = (kind, length <= MOST_PAYLOAD && more <= 1) else {
            let shown: String = header.iter().map(|byte| format!("{byte:02x}")).collect();
            return Err(Fault(format!("expected a frame, got {shown}")));
        };
        let Some(payload) = rest.get(..length) else { return Ok(None) };
        let call = u32::from_be_bytes([e, f, g, h]);
        let frame = Frame { kind, more: more == 1, call, payload: payload.to_vec() };
        self.at += header.len() + length;
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests;
