//! One call on a connection: messages and bytes in both directions, at the speed of the slower side.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use crate::wire::frames::{Frame, Kind};
use crate::wire::lane::{Lane, Pieces, SENT_PAYLOAD};

/// Callbacks for the events of a call; no lock is held meanwhile.
pub trait Events: Send + Sync {
    /// A message has arrived.
    fn message(&self, body: Value);
    /// Bytes have arrived; [`Connection::consumed`](crate::wire::Connection::consumed) is to be called
    /// once they are taken. Empty: end of file.
    fn data(&self, bytes: Vec<u8>);
    /// All waiting data has been sent.
    fn room(&self);
    /// The client wants the call to end.
    fn cancelled(&self, body: Value);
    /// The alarm set by [`Connection::wake`](crate::wire::Connection::wake) has fired.
    fn alarm(&self);
}

/// A message of which only a part has arrived.
#[derive(Debug, Default)]
pub struct Partial {
    /// The part that has arrived.
    pub bytes: Vec<u8>,
    /// Whether the message is too long, and is not kept.
    pub is_refused: bool,
}

/// A call of the client.
pub struct ActiveCall {
    id: u32,
    /// The callbacks. None: not known yet, or the call was refused.
    pub events: Option<Arc<dyn Events>>,
    /// The message that is arriving.
    pub partial: Option<Partial>,
    /// Whether the call is in the queue for its turn.
    pub is_ready: bool,
    /// When the alarm is due.
    pub alarm: Option<Instant>,
    /// The lane for messages.
    pub messages: Lane,
    /// The lane for output and input.
    pub bytes: Lane,
    /// The answer and how many bytes of it have been sent. It is not subject to flow control, since there
    /// is only one.
    end: Option<(Vec<u8>, usize)>,
    is_over: bool,
}

impl ActiveCall {
    /// Makes a call that has just begun.
    pub fn new(id: u32) -> Self {
        ActiveCall {
            id,
            events: None,
            partial: None,
            is_ready: false,
            alarm: None,
            messages: Lane::new(Pieces::Split),
            bytes: Lane::new(Pieces::Whole),
            end: None,
            is_over: false,
        }
    }

    /// Returns whether the call has been answered.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns whether the whole answer has been sent.
    pub fn is_concluded(&self) -> bool {
        self.is_over && self.end.is_none()
    }

    /// Returns how many bytes wait to be sent.
    pub fn waiting(&self) -> usize {
        self.messages.waiting() + self.bytes.waiting()
    }

    /// Returns whether something that waits can be sent now.
    pub fn can_send(&self) -> bool {
        self.end.is_some() || self.messages.can_send() || self.bytes.can_send()
    }

    /// Answers the call, after all that waits; nothing can be sent after that.
    pub fn finish(&mut self, body: Vec<u8>) {
        if self.is_over {
            return;
        }
        self.end = Some((body, 0));
        self.is_over = true;
        self.alarm = None;
        // The client may never take the waiting data, which is bounded: the answer must not wait for
        // that.
        self.messages.credited(u64::MAX);
        self.bytes.credited(u64::MAX);
    }

    /// Returns the next frame that can be sent now, and the credit frame that becomes due by sending it.
    pub fn next(&mut self) -> Option<(Frame, Option<Frame>)> {
        for kind in [Kind::Message, Kind::Data] {
            let lane = self.lane(kind);
            if let Some((payload, more)) = lane.next() {
                let granted = lane.consumed(0);
                let credit = granted.map(|bytes| self.credit(kind, bytes));
                return Some((Frame { kind, more, call: self.id, payload }, credit));
            }
        }
        let (body, at) = self.end.as_mut()?;
        let rest = body.get(*at..).unwrap_or_default();
        let payload = rest.get(..SENT_PAYLOAD).unwrap_or(rest).to_vec();
        *at += payload.len();
        let more = *at < body.len();
        if !more {
            self.end = None;
        }
        Some((Frame { kind: Kind::End, more, call: self.id, payload }, None))
    }

    /// Takes note that bytes of this kind were taken. Returns the credit frame that becomes due.
    pub fn consumed(&mut self, kind: Kind, bytes: usize) -> Option<Frame> {
        let granted = self.lane(kind).consumed(bytes);
        granted.map(|bytes| self.credit(kind, bytes))
    }

    /// Returns the lane for frames of this kind.
    pub fn lane(&mut self, kind: Kind) -> &mut Lane {
        if kind == Kind::Data { &mut self.bytes } else { &mut self.messages }
    }

    fn credit(&self, kind: Kind, bytes: u64) -> Frame {
        let mut payload = (bytes as u32).to_be_bytes().to_vec();
        payload.push(kind as u8);
        Frame { kind: Kind::Credit, more: false, call: self.id, payload }
    }
}
