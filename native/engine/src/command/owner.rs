//! Owners of commands, and the tickets by which commands are cancelled before they run.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The owner of commands, which end when it is disposed of.
#[derive(Debug)]
pub struct Owner {
    /// Unique in this process.
    pub id: u64,
    disposed: AtomicBool,
    launching: AtomicUsize,
}

impl Owner {
    /// Makes an owner.
    pub fn new(id: u64) -> Self {
        Owner { id, disposed: AtomicBool::new(false), launching: AtomicUsize::new(0) }
    }

    /// Marks the owner as disposed: no more commands are started, and those being started end at once.
    pub fn dispose(&self) {
        self.disposed.store(true, Ordering::SeqCst);
    }

    /// Returns whether the owner has been disposed of.
    pub fn is_disposed(&self) -> bool {
        self.disposed.load(Ordering::SeqCst)
    }

    /// Counts a command on its way to the reactor.
    pub fn launch_begins(&self) {
        self.launching.fetch_add(1, Ordering::SeqCst);
    }

    /// Ends that count: the reactor has the command, or the launch failed.
    pub fn launch_ended(&self) {
        self.launching.fetch_sub(1, Ordering::SeqCst);
    }

    /// Returns whether any command is on its way to the reactor.
    pub fn is_launching(&self) -> bool {
        self.launching.load(Ordering::SeqCst) > 0
    }
}

/// A command's ticket, by which it is cancelled before it runs.
#[derive(Debug, Default)]
pub struct Ticket {
    cancelled: AtomicBool,
}

impl Ticket {
    /// Cancels the command.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// Returns whether the command has been cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }
}
