//! One call on a line: messages and bytes both ways, as fast as the slower side takes them.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use crate::wire::frames::{Frame, Kind};
use crate::wire::lane::{Lane, Pieces, SENT_PAYLOAD};

/// Who is told what happens to a call, without a lock being held.
pub trait Events: Send + Sync {
    /// A message about it.
    fn message(&self, body: Value);
    /// Bytes; [`Connection::consumed`](crate::wire::Connection::consumed) is to be called for them. None: the other
    /// side has no more.
    fn data(&self, bytes: Vec<u8>);
    /// All that was to be sent has been.
    fn room(&self);
    /// The client wants it to end.
    fn cancelled(&self, body: Value);
    /// It is as late as was asked for.
    fn alarm(&self);
}

/// A message that is not whole yet.
#[derive(Debug, Default)]
pub struct Partial {
    /// What has come of it.
    pub bytes: Vec<u8>,
    /// It is too much, and not kept.
    pub is_refused: bool,
}

/// A call of the client's.
pub struct ActiveCall {
    id: u32,
    /// Who is told; None: nobody yet, or it came to nothing.
    pub events: Option<Arc<dyn Events>>,
    /// What has come of a message.
    pub partial: Option<Partial>,
    /// Whether it waits for its turn.
    pub is_ready: bool,
    /// When it wants to be told the time.
    pub alarm: Option<Instant>,
    /// Messages about it.
    pub messages: Lane,
    /// Output and input.
    pub bytes: Lane,
    /// Its answer, which goes by no window: there is one. And how much of that has been sent.
    end: Option<(Vec<u8>, usize)>,
    is_over: bool,
}

impl ActiveCall {
    /// One that has just begun.
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

    /// Whether it has been answered.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether all of its answer has been sent.
    pub fn is_concluded(&self) -> bool {
        self.is_over && self.end.is_none()
    }

    /// Bytes that wait to be sent.
    pub fn waiting(&self) -> usize {
        self.messages.waiting() + self.bytes.waiting()
    }

    /// Whether something waits that could be sent.
    pub fn can_send(&self) -> bool {
        self.end.is_some() || self.messages.can_send() || self.bytes.can_send()
    }

    /// Answers it, after all that waits; nothing can be sent after that.
    pub fn finish(&mut self, body: Vec<u8>) {
        if self.is_over {
            return;
        }
        self.end = Some((body, 0));
        self.is_over = true;
        self.alarm = None;
        // What waits is bounded, and nobody may ever take it: the answer must not wait for that.
        self.messages.credited(u64::MAX);
        self.bytes.credited(u64::MAX);
    }

    /// The next frame that can be sent now, and what is granted because of it.
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

    /// Bytes that came by this lane have been taken; what is granted for them.
    pub fn consumed(&mut self, kind: Kind, bytes: usize) -> Option<Frame> {
        let granted = self.lane(kind).consumed(bytes);
        granted.map(|bytes| self.credit(kind, bytes))
    }

    /// The lane of this kind of frames.
    pub fn lane(&mut self, kind: Kind) -> &mut Lane {
        if kind == Kind::Data { &mut self.bytes } else { &mut self.messages }
    }

    fn credit(&self, kind: Kind, bytes: u64) -> Frame {
        let mut payload = (bytes as u32).to_be_bytes().to_vec();
        payload.push(kind as u8);
        Frame { kind: Kind::Credit, more: false, call: self.id, payload }
    }
}
