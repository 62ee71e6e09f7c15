//! One JavaScript environment's line to the engine.
//!
//! Events gather in a queue; the first to enter an empty queue wakes the environment, which
//! then takes all there are. So many commands that end together cost one crossing.

use std::sync::Arc;

use forkline_engine::{Chunk, Ended, Label, Sink};
use napi::bindgen_prelude::{FnArgs, Function, ToNapiValue, Unknown};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result, Status, sys};
use parking_lot::Mutex;

use crate::event::Event;
use crate::record::Record;

/// Does not keep the event loop alive: the TypeScript side does that while commands run.
type Waker = ThreadsafeFunction<(), Unknown<'static>, FnArgs<(Batch,)>, Status, false, true>;

/// The queue, from the engine's side.
pub struct Events {
    pending: Mutex<Vec<Event>>,
    /// None once the environment has ended.
    waker: Mutex<Option<Waker>>,
}

/// The events of one crossing; an array of records in JavaScript.
pub struct Batch(Vec<Event>);

impl Events {
    /// A queue whose events go to `dispatch`, many at a time.
    pub fn new(dispatch: &Function<FnArgs<(Batch,)>, Unknown<'static>>) -> Result<Arc<Self>> {
        let events = Arc::new(Events { pending: Mutex::new(Vec::new()), waker: Mutex::new(None) });
        let queue = Arc::downgrade(&events);
        let waker = dispatch.build_threadsafe_function::<()>().weak::<true>().build_callback(
            move |_| {
                let pending =
                    queue.upgrade().map(|queue| std::mem::take(&mut *queue.pending.lock()));
                Ok(FnArgs::from((Batch(pending.unwrap_or_default()),)))
            },
        )?;
        *events.waker.lock() = Some(waker);
        Ok(events)
    }

    /// Adds an event.
    pub fn push(&self, event: Event) {
        let first = {
            let mut pending = self.pending.lock();
            pending.push(event);
            pending.len() == 1
        };
        if first && let Some(waker) = &*self.waker.lock() {
            waker.call((), ThreadsafeFunctionCallMode::NonBlocking);
        }
    }

    /// The environment ends: nobody is there to be told anything.
    pub fn close(&self) {
        let waker = self.waker.lock().take();
        drop(waker);
    }
}

impl ToNapiValue for Batch {
    unsafe fn to_napi_value(raw: sys::napi_env, batch: Self) -> Result<sys::napi_value> {
        let env = Env::from_raw(raw);
        let mut records = Record::new(&env)?;
        for event in batch.0 {
            let mut record = Record::new(&env)?;
            event.fill(&mut record)?;
            records.push(record.finish())?;
        }
        // SAFETY: the environment we were called with.
        unsafe { ToNapiValue::to_napi_value(raw, records.finish()) }
    }
}

/// The events of one command.
pub struct CommandSink {
    /// Under which JavaScript knows it.
    pub id: f64,
    /// Where they go.
    pub events: Arc<Events>,
    /// Whether anybody waits for the start.
    pub announce: bool,
}

impl Sink for CommandSink {
    fn started(&self, pid: i32) {
        if self.announce {
            self.events.push(Event::Started { id: self.id, pid });
        }
    }

    fn output(&self, label: Label, chunks: Vec<Chunk>) {
        self.events.push(Event::Output { id: self.id, label, chunks });
    }

    fn ended(&self, ended: Ended) {
        self.events.push(Event::Ended { id: self.id, ended });
    }
}
