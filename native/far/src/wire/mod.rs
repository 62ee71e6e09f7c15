//! The line to the client: calls that take turns on it. `src/remote/wire` is its other side.

pub mod call;
mod calls;
pub mod frames;
pub mod lane;

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use serde::Serialize;

use crate::wire::call::Events;
use crate::wire::calls::Calls;
pub use crate::wire::calls::Taken;
use crate::wire::frames::{Fault, Frame, Kind};

/// The line, for all threads that have something to say.
pub struct Connection {
    calls: Mutex<Calls>,
    /// There is something to be sent, or another time to wait for.
    changed: Condvar,
}

/// What there is to be done at a time.
struct DueWork {
    /// To be sent.
    bytes: Vec<u8>,
    /// Whose all has been sent with that.
    roomy: Vec<Arc<dyn Events>>,
    /// Who wants to be told the time.
    rung: Vec<Arc<dyn Events>>,
}

impl Connection {
    /// A line that takes so many bytes of messages that are not whole yet.
    pub fn new(max_bytes: usize) -> Self {
        Connection { calls: Mutex::new(Calls::new(max_bytes)), changed: Condvar::new() }
    }

    /// Says something about the line itself.
    pub fn hello(&self, body: &impl Serialize) {
        let frame = Frame { kind: Kind::Hello, more: false, call: 0, payload: json(body) };
        self.change(|calls| calls.urgent(frame));
    }

    /// Takes a frame of the client's; what is to be done about it.
    pub fn take(&self, frame: Frame) -> Result<Taken, Fault> {
        self.change(|calls| calls.take(frame))
    }

    /// How many calls are under way.
    pub fn load(&self) -> usize {
        self.calls.lock().load()
    }

    /// From now on these are told what happens to a call.
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

    /// Bytes that came for a call have been taken.
    pub fn consumed(&self, call: u32, bytes: usize) {
        self.change(|calls| calls.consumed(call, bytes));
    }

    /// Has a call's [`alarm`](Events::alarm) told then.
    pub fn wake(&self, call: u32, after: Duration) {
        let at = Instant::now() + after;
        self.change(|calls| {
            calls.with(call, |call| call.alarm = Some(at).filter(|_| !call.is_over()));
        });
    }

    /// Whether something of a call waits to be sent.
    pub fn has_waiting(&self, call: u32) -> bool {
        let waiting = self.calls.lock().with(call, |call| call.waiting());
        waiting.unwrap_or(0) > 0
    }

    /// Nothing more is sent.
    pub fn close(&self) {
        self.change(Calls::close);
    }

    /// Sends what there is, for as long as the process lives. Once nobody reads it any more, it goes
    /// nowhere: what the client still says is heard all the same.
    pub fn run<Error>(&self, write: impl Fn(&[u8]) -> Result<(), Error>) {
        let mut is_read = true;
        loop {
            let DueWork { bytes, roomy, rung } = self.turn();
            roomy.iter().for_each(|one| one.room());
            rung.iter().for_each(|one| one.alarm());
            is_read = is_read && write(&bytes).is_ok();
        }
    }

    /// Waits until there is something to be sent, or to be told.
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
    // Fails only for keys that are no text, of which there are none.
    serde_json::to_vec(body).unwrap_or_else(|_| b"null".to_vec())
}
