//! The calls of a connection, which take turns.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use crate::wire::call::{ActiveCall, Events, Partial};
use crate::wire::frames::{Fault, Frame, Kind, encode};
use crate::wire::table::checked;

/// The number of bytes after which a batch of frames is sent.
const BATCH: usize = 128 * 1024;

/// The work that a frame causes, to be done without the connection's lock.
pub enum Taken {
    /// No work.
    Nothing,
    /// The client's first message.
    Hello(Value),
    /// The client has begun a call. None: too many bytes of messages are arriving for that.
    Opened(u32, Option<Vec<u8>>),
    /// A message for these callbacks.
    Message(Arc<dyn Events>, Value),
    /// Bytes for these callbacks.
    Data(Arc<dyn Events>, Vec<u8>),
    /// The client's wish that the call ends, for these callbacks.
    Cancelled(Arc<dyn Events>, Value),
}

/// The calls that are under way.
pub struct Calls {
    max_bytes: usize,
    calls: HashMap<u32, ActiveCall>,
    /// The calls with something to send, in the order of their turns.
    ready: VecDeque<u32>,
    /// Frames that are sent before all others.
    urgent: Vec<Frame>,
    /// Bytes of incomplete messages.
    partial_bytes: usize,
    last_id: u32,
    is_closed: bool,
}

impl Calls {
    /// Makes an empty list of calls. `max_bytes`: the most bytes of incomplete messages.
    pub fn new(max_bytes: usize) -> Self {
        Calls {
            max_bytes,
            calls: HashMap::new(),
            ready: VecDeque::new(),
            urgent: Vec::new(),
            partial_bytes: 0,
            last_id: 0,
            is_closed: false,
        }
    }

    /// Returns the number of calls.
    pub fn load(&self) -> usize {
        self.calls.len()
    }

    /// Queues a frame before all others.
    pub fn urgent(&mut self, frame: Frame) {
        self.urgent.push(frame);
    }

    /// Changes a call, if it still exists.
    pub fn with<Answer>(
        &mut self,
        id: u32,
        change: impl FnOnce(&mut ActiveCall) -> Answer,
    ) -> Option<Answer> {
        self.calls.get_mut(&id).map(change)
    }

    /// Changes a call that has not been answered, and queues it for its turn.
    pub fn send(&mut self, id: u32, put: impl FnOnce(&mut ActiveCall)) {
        if let Some(call) = self.calls.get_mut(&id).filter(|call| !call.is_over()) {
            put(call);
            self.ready(id);
        }
    }

    /// Answers a call.
    pub fn finish(&mut self, id: u32, body: Vec<u8>) {
        self.with(id, |call| call.finish(body));
        self.ready(id);
    }

    /// Takes note that received bytes of a call were taken.
    pub fn consumed(&mut self, id: u32, bytes: usize) {
        let credit = self.with(id, |call| call.consumed(Kind::Data, bytes));
        self.urgent.extend(credit.flatten());
    }

    /// Stops sending.
    pub fn close(&mut self) {
        self.is_closed = true;
        self.ready.clear();
        self.urgent.clear();
    }

    /// Returns the callbacks whose alarms are due, and the time of the next alarm.
    pub fn alarms(&mut self, now: Instant) -> (Vec<Arc<dyn Events>>, Option<Instant>) {
        let due = self.calls.values_mut().filter(|call| call.alarm.is_some_and(|at| at <= now));
        let rung = due.filter_map(|call| {
            call.alarm = None;
            call.events.clone()
        });
        let rung = rung.collect();
        (rung, self.calls.values().filter_map(|call| call.alarm).min())
    }

    /// Returns the next frames that can be sent, and the callbacks of the calls of which nothing is left
    /// to send.
    pub fn batch(&mut self) -> (Vec<u8>, Vec<Arc<dyn Events>>) {
        let (mut bytes, mut roomy) = (Vec::new(), Vec::new());
        if self.is_closed {
            return (bytes, roomy);
        }
        self.hurry(&mut bytes);
        while bytes.len() < BATCH {
            let Some(id) = self.ready.pop_front() else { break };
            let Some(call) = self.calls.get_mut(&id) else { continue };
            call.is_ready = false;
            let Some((frame, credit)) = call.next() else { continue };
            encode(&frame, &mut bytes);
            self.urgent.extend(credit);
            if call.is_concluded() {
                self.forget_partial(id);
                self.calls.remove(&id);
            } else if call.can_send() {
                // Its next turn is after all others.
                self.ready(id);
            } else if call.waiting() == 0 {
                roomy.extend(call.events.clone());
            }
        }
        // Credit that became due meanwhile.
        self.hurry(&mut bytes);
        (bytes, roomy)
    }

    /// Takes a frame from the client. Returns the work that it causes.
    pub fn take(&mut self, frame: Frame) -> Result<Taken, Fault> {
        if frame.call == 0 {
            return match frame.kind {
                Kind::Hello => {
                    let body = checked("hello", "line", parse(&frame.payload)?)?;
                    Ok(body.map_or(Taken::Nothing, Taken::Hello))
                }
                Kind::Notice => Ok(Taken::Nothing),
                kind => Err(Fault(format!("a frame of kind {} belongs to no call", kind as u8))),
            };
        }
        let id = frame.call;
        if !self.begin(id, frame.kind)? {
            return Ok(Taken::Nothing);
        }
        let Some(call) = self.calls.get_mut(&id) else { return Ok(Taken::Nothing) };
        match frame.kind {
            Kind::Credit => self.credited(id, &frame.payload),
            Kind::Cancel if call.events.is_none() && call.partial.is_some() => {
                // The call was cancelled before its first message was complete.
                self.forget_partial(id);
                self.finish(id, br#"{"neverStarted":true}"#.to_vec());
                Ok(Taken::Nothing)
            }
            Kind::Cancel => {
                let events = call.events.clone();
                told(events, |events| {
                    let body = checked("cancel", "command", parse(&frame.payload)?)?;
                    Ok(body.map_or(Taken::Nothing, |body| Taken::Cancelled(events, body)))
                })
            }
            Kind::Data => {
                if !call.bytes.received(frame.payload.len()) {
                    return Err(flood());
                }
                let Some(events) = call.events.clone() else {
                    self.consumed(id, frame.payload.len());
                    return Ok(Taken::Nothing);
                };
                Ok(Taken::Data(events, frame.payload))
            }
            Kind::Message => {
                let is_granted = call.messages.received(frame.payload.len());
                let credit = call.consumed(Kind::Message, frame.payload.len());
                self.urgent.extend(credit);
                if is_granted { self.assemble(frame) } else { Err(flood()) }
            }
            _ => self.assemble(frame),
        }
    }

    /// Returns whether a call of this number exists; a frame may begin it.
    fn begin(&mut self, id: u32, kind: Kind) -> Result<bool, Fault> {
        if self.calls.contains_key(&id) {
            return Ok(true);
        }
        if kind != Kind::Open {
            return Ok(false);
        }
        if id <= self.last_id {
            return Err(Fault(format!("the number of call {id} was used before")));
        }
        self.last_id = id;
        self.calls.insert(id, ActiveCall::new(id));
        Ok(true)
    }

    fn credited(&mut self, id: u32, payload: &[u8]) -> Result<Taken, Fault> {
        let [a, b, c, d, kind] = *payload else { return Err(Fault("no credit".to_owned())) };
        let kind = if kind == Kind::Data as u8 { Kind::Data } else { Kind::Message };
        let bytes = u32::from_be_bytes([a, b, c, d]);
        let can_send = self.with(id, |call| {
            call.lane(kind).credited(bytes.into());
            call.can_send()
        });
        if can_send == Some(true) {
            self.ready(id);
        }
        Ok(Taken::Nothing)
    }

    /// Takes a part of a message. Returns the work that a complete message causes.
    fn assemble(&mut self, frame: Frame) -> Result<Taken, Fault> {
        let Some(call) = self.calls.get_mut(&frame.call) else { return Ok(Taken::Nothing) };
        let partial = call.partial.get_or_insert_default();
        if !partial.is_refused {
            self.partial_bytes += frame.payload.len();
            partial.bytes.extend_from_slice(&frame.payload);
        }
        if self.partial_bytes > self.max_bytes {
            if frame.kind != Kind::Open {
                return Err(Fault("a message is too long".to_owned()));
            }
            self.partial_bytes -= partial.bytes.len();
            *partial = Partial { bytes: Vec::new(), is_refused: true };
        }
        if frame.more {
            return Ok(Taken::Nothing);
        }
        let events = call.events.clone();
        let Partial { bytes, is_refused } = call.partial.take().unwrap_or_default();
        self.partial_bytes -= bytes.len();
        match frame.kind {
            Kind::Open => Ok(Taken::Opened(frame.call, Some(bytes).filter(|_| !is_refused))),
            _ => told(events, |events| {
                let body = checked("message", "command", parse(&bytes)?)?;
                Ok(body.map_or(Taken::Nothing, |body| Taken::Message(events, body)))
            }),
        }
    }

    fn forget_partial(&mut self, id: u32) {
        let partial = self.with(id, |call| call.partial.take()).flatten();
        self.partial_bytes -= partial.map_or(0, |partial| partial.bytes.len());
    }

    fn ready(&mut self, id: u32) {
        let Some(call) = self.calls.get_mut(&id) else { return };
        if !std::mem::replace(&mut call.is_ready, true) {
            self.ready.push_back(id);
        }
    }

    fn hurry(&mut self, bytes: &mut Vec<u8>) {
        self.urgent.drain(..).for_each(|frame| encode(&frame, bytes));
    }
}

fn told(
    events: Option<Arc<dyn Events>>,
    tell: impl FnOnce(Arc<dyn Events>) -> Result<Taken, Fault>,
) -> Result<Taken, Fault> {
    events.map_or(Ok(Taken::Nothing), tell)
}

/// Parses a payload as JSON.
fn parse(payload: &[u8]) -> Result<Value, Fault> {
    serde_json::from_slice(payload).map_err(|error| Fault(error.to_string()))
}

/// The fault of a client that sends more than it was granted.
fn flood() -> Fault {
    Fault("more bytes were sent than the window allows".to_owned())
}
