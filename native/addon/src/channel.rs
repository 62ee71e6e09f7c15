//! The queue of events from the engine to one JavaScript environment.
//!
//! The first event in an empty queue wakes the environment, which then takes all events there are: many
//! commands that end together cost one crossing.

use std::sync::Arc;

use forkline_engine::{Chunk, Ended, Engine, ExecQuestion, Hearing, Label, OnAsk, Sink};
use napi::bindgen_prelude::{Float64Array, FnArgs, Function, ToNapiValue, Unknown};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Result, Status, sys};
use parking_lot::Mutex;

use crate::asked::DetachedQuestions;
use crate::event::EngineEvent;
use crate::record::{Figures, JsRecord};

/// A function that does not keep the event loop alive: the TypeScript side does that while commands run.
type DispatchFunction =
    ThreadsafeFunction<(), Unknown<'static>, FnArgs<(Batch,)>, Status, false, true>;

/// The engine's side of the queue.
pub struct EventQueue {
    pending: Mutex<Vec<EngineEvent>>,
    /// None once the environment has ended.
    waker: Mutex<Option<DispatchFunction>>,
    /// Those of detached commands, which go on when the environment has ended.
    pub questions: DetachedQuestions,
}

/// The events of one crossing, which become an array of records in JavaScript.
pub struct Batch {
    events: Vec<EngineEvent>,
    figures: Arc<Mutex<Float64Array>>,
}

impl EventQueue {
    /// Makes a queue whose events go to `dispatch`, many at a time, with their figures in `figures`.
    pub fn new(
        dispatch: &Function<FnArgs<(Batch,)>, Unknown<'static>>,
        figures: Float64Array,
    ) -> Result<Arc<Self>> {
        let events = Arc::new(EventQueue {
            pending: Mutex::new(Vec::new()),
            waker: Mutex::new(None),
            questions: DetachedQuestions::default(),
        });
        let queue = Arc::downgrade(&events);
        let at_most = figures.len() / EngineEvent::FIGURES;
        let figures = Arc::new(Mutex::new(figures));
        let waker = dispatch.build_threadsafe_function::<()>().weak::<true>().build_callback(
            move |_| {
                let events = queue.upgrade().map(|queue| queue.take(at_most)).unwrap_or_default();
                Ok(FnArgs::from((Batch { events, figures: figures.clone() },)))
            },
        )?;
        *events.waker.lock() = Some(waker);
        Ok(events)
    }

    /// Takes the oldest events. If any are left, asks for another crossing.
    fn take(&self, at_most: usize) -> Vec<EngineEvent> {
        let mut pending = self.pending.lock();
        if pending.len() <= at_most {
            return std::mem::take(&mut *pending);
        }
        let rest = pending.split_off(at_most);
        let taken = std::mem::replace(&mut *pending, rest);
        drop(pending);
        self.wake();
        taken
    }

    fn wake(&self) {
        if let Some(waker) = &*self.waker.lock() {
            waker.call((), ThreadsafeFunctionCallMode::NonBlocking);
        }
    }

    /// Adds an event.
    pub fn push(&self, event: EngineEvent) {
        let first = {
            let mut pending = self.pending.lock();
            pending.push(event);
            pending.len() == 1
        };
        if first {
            self.wake();
        }
    }

    /// Adds an event, unless the environment has ended.
    pub fn tell(&self, event: EngineEvent) -> Hearing {
        if self.waker.lock().is_none() {
            return Hearing::Unheard;
        }
        self.push(event);
        Hearing::Heard
    }

    /// Drops the function, since the environment ends and can be called no more: nobody answers its questions.
    pub fn close(&self, engine: &Engine) {
        let waker = self.waker.lock().take();
        drop(waker);
        self.questions.end(engine);
    }
}

impl ToNapiValue for Batch {
    unsafe fn to_napi_value(raw: sys::napi_env, batch: Self) -> Result<sys::napi_value> {
        let env = Env::from_raw(raw);
        let mut memory = batch.figures.lock();
        // SAFETY: JavaScript reads the memory on this very thread, after this call.
        let mut figures = Figures::new(unsafe { memory.as_mut() });
        let mut records = JsRecord::new(&env)?;
        for event in batch.events {
            let mut record = JsRecord::new(&env)?;
            event.fill(&mut record, &mut figures)?;
            records.push(record.finish())?;
        }
        // SAFETY: the environment that this function was called with.
        unsafe { ToNapiValue::to_napi_value(raw, records.finish()) }
    }
}

/// Returns the function that tells of the questions of a detached command with this id.
pub fn asker(id: f64, events: Arc<EventQueue>) -> OnAsk {
    Box::new(move |question| {
        let tell = |question| events.tell(EngineEvent::Asked { id, question });
        match question {
            Some(question) => events.questions.tell(question, tell),
            None => events.tell(EngineEvent::DetachedOver { id }),
        }
    })
}

/// The events of one command.
pub struct CommandSink {
    /// The id by which JavaScript knows the command.
    pub id: f64,
    /// The queue for the events.
    pub events: Arc<EventQueue>,
    /// Whether JavaScript waits for the start.
    pub announce: bool,
}

impl Sink for CommandSink {
    fn started(&self, pid: i32) {
        if self.announce {
            self.events.push(EngineEvent::Started { id: self.id, pid });
        }
    }

    fn output(&self, label: Label, chunks: Vec<Chunk>) {
        self.events.push(EngineEvent::Output { id: self.id, label, chunks });
    }

    fn asked(&self, question: ExecQuestion) -> Hearing {
        self.events.tell(EngineEvent::Asked { id: self.id, question })
    }

    fn ended(&self, ended: Ended) {
        self.events.push(EngineEvent::Ended { id: self.id, ended });
    }
}
