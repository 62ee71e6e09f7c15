//! The connection to the client, on which calls take turns. `src/remote/wire` is the other side.

pub mod call;
mod calls;
pub mod frames;
pub mod lane;
pub mod table;

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use serde::Serialize;

use crate::wire::call::Events;
use crate::wire::calls::Calls;
pub use crate::wire::calls::Taken;
use crate::wire::frames::{Fault, Frame, Kind};

/// The connection, shared by all threads that send something.
pub struct Connection {
    calls: Mutex<Calls>,
    /// Notified when something is to be sent, or an alarm has changed.
    changed: Condvar,
}

/// The work that is due.
struct DueWork {
    /// Bytes to send.
    bytes: Vec<u8>,
    /// Callbacks of calls of which nothing is left to send after that.
    roomy: Vec<Arc<dyn Events>>,
    /// Callbacks whose alarms are due.
    rung: Vec<Arc<dyn Events>>,
}

impl Connection {
    /// Makes a connection that accepts this many bytes of incomplete messages.
    pub fn new(max_bytes: usize) -> Self {
        Connection { calls: Mutex::new(Calls::new(max_bytes)), changed: Condvar::new() }
    }

    /// Sends the first frame.
    pub fn hello(&self, body: &impl Serialize) {
        let frame = Frame { kind: Kind::Hello, more: false, call: 0, payload: json(body) };
        self.change(|calls| calls.urgent(frame));
    }

    /// Takes a frame from the client. Returns the work that it causes.
    pub fn take(&self, frame: Frame) -> Result<Taken, Fault> {
        self.change(|calls| calls.take(frame))
    }

    /// Returns the number of calls under way.
    pub fn load(&self) -> usize {
        self.calls.lock().load()
    }

    /// Sets the callbacks of a call.
    pub fn attend(&self, call: u32, events: Arc<dyn Events>) {
        self.change(|calls| calls.with(call, |call| call.events = Some(events)));
    }

    /// Sends a message.
    pub fn say(&self, call: u32, body: &impl Serialize) {
        self.change(|calls| calls.send(call, |call| call.messages.put(json(body))));
    }

    /// Sends bytes that fit into a frame.
    pub fn send(&self, call: u32, bytes: Vec<u8>) {
        self.change(|calls| calls.send(call, |call| call.bytes.put(bytes)));
    }

    /// Answers a call; nothing can be sent after that.
    pub fn finish(&self, call: u32, body: &impl Serialize) {
        let body = json(body);
        self.change(|calls| calls.finish(call, body));
    }

    /// Takes note that received bytes of a call were taken.
    pub fn consumed(&self, call: u32, bytes: usize) {
        self.change(|calls| calls.consumed(call, bytes));
    }

    /// Sets the alarm of a call, to fire after this time: see [`alarm`](Events::alarm).
    pub fn wake(&self, call: u32, after: Duration) {
        let at = Instant::now() + after;
        self.change(|calls| {
            calls.with(call, |call| call.alarm = Some(at).filter(|_| !call.is_over()));
        });
    }

    /// Returns whether something of a call waits to be sent.
    pub fn has_waiting(&self, call: u32) -> bool {
        let waiting = self.calls.lock().with(call, |call| call.waiting());
        waiting.unwrap_or(0) > 0
    }

    /// Stops sending.
    pub fn close(&self) {
        self.change(Calls::close);
    }

    /// Sends what is due, for as long as the process lives. Once the client no longer reads, the data is
    /// dropped, and the client's messages are still served.
    pub fn run<Error>(&self, write: impl Fn(&[u8]) -> Result<(), Error>) {
        let mut is_read = true;
        loop {
            let DueWork { bytes, roomy, rung } = self.turn();
            roomy.iter().for_each(|one| one.room());
            rung.iter().for_each(|one| one.alarm());
            is_read = is_read && write(&bytes).is_ok();
        }
    }

    /// Waits until something is due.
    fn turn(&self) -> DueWork {
        let mut calls = self.calls.lock();
        loop {
            let (bytes, roomy) = calls.batch();
            let (rung, next) = calls.alarms(Instant::now());
            if !bytes.is_empty() || !rung.is_empty() {
                return DueWork { bytes, roomy, rung };
            }
            match next {
                None => self.changed.wait(&mut calls),
                Some(at) => drop(self.changed.wait_until(&mut calls, at)),
            }
        }
    }

    fn change<Answer>(&self, change: impl FnOnce(&mut Calls) -> Answer) -> Answer {
        let answer = change(&mut self.calls.lock());
        self.changed.notify_one();
        answer
    }
}

fn json(body: &impl Serialize) -> Vec<u8> {
    // Fails only for keys that are not text, which do not occur.
    serde_json::to_vec(body).unwrap_or_else(|_| b"null".to_vec())
}
