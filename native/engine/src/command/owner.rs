//! Who started a command, and may end it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The owner of commands: what it started ends with it.
#[derive(Debug)]
pub struct Owner {
    /// Unique in this process.
    pub id: u64,
    disposed: AtomicBool,
    launching: AtomicUsize,
}

impl Owner {
    /// A new owner.
    pub fn new(id: u64) -> Self {
        Owner { id, disposed: AtomicBool::new(false), launching: AtomicUsize::new(0) }
    }

    /// From now on nothing more is started, and what is being started ends at once.
    pub fn dispose(&self) {
        self.disposed.store(true, Ordering::SeqCst);
    }

    /// Whether it has been disposed of.
    pub fn is_disposed(&self) -> bool {
        self.disposed.load(Ordering::SeqCst)
    }

    /// A command of its is on the way to the reactor.
    pub fn launch_begins(&self) {
        self.launching.fetch_add(1, Ordering::SeqCst);
    }

    /// The reactor has it, or it failed.
    pub fn launch_ended(&self) {
        self.launching.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether any command is between `start` and the reactor.
    pub fn is_launching(&self) -> bool {
        self.launching.load(Ordering::SeqCst) > 0
    }
}

/// A command's ticket: the way to cancel it before it runs.
#[derive(Debug, Default)]
pub struct Ticket {
    cancelled: AtomicBool,
}

impl Ticket {
    /// It is no longer wanted.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// Whether it is no longer wanted.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }
}
