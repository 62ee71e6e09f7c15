//! Frames, as `src/remote/wire/frames.ts` defines them: each is a piece of one call.
//!
//! A frame is the length of its payload (four bytes), its kind (one), whether the message goes on (one),
//! the number of the call (four), and the payload. Numbers are big-endian.

use std::fmt;

/// The kinds of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The first frame in each direction: version and limits of the sender.
    Hello = 1,
    /// The client begins a call.
    Open = 2,
    /// A message about a call, as JSON.
    Message = 3,
    /// Bytes of a call: output or input.
    Data = 4,
    /// The receiver can take this many more bytes of a call.
    Credit = 5,
    /// The client wants the call to end.
    Cancel = 6,
    /// The far side has answered the call; nothing follows.
    End = 7,
    /// A message about the connection itself, as JSON.
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
    /// The kind.
    pub kind: Kind,
    /// Whether the message goes on in the next frame of its call.
    pub more: bool,
    /// The number of the call; 0: the connection itself.
    pub call: u32,
    /// The payload.
    pub payload: Vec<u8>,
}

/// The longest payload that is accepted, in bytes; a quarter of it is sent at most.
const MOST_PAYLOAD: usize = 256 * 1024;

/// A violation of the protocol by the other side; nothing can be read after that.
#[derive(Debug)]
pub struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Appends a frame to bytes.
pub fn encode(frame: &Frame, out: &mut Vec<u8>) {
    out.extend_from_slice(&(frame.payload.len() as u32).to_be_bytes());
    out.extend_from_slice(&[frame.kind as u8, frame.more.into()]);
    out.extend_from_slice(&frame.call.to_be_bytes());
    out.extend_from_slice(&frame.payload);
}

/// Parses frames from bytes that arrive in pieces of any size.
#[derive(Debug, Default)]
pub struct Parser {
    bytes: Vec<u8>,
    at: usize,
}

impl Parser {
    /// Takes bytes that have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.at);
        self.at = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next frame that is complete.
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
