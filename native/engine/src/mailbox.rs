//! The way to the reactor: what others tell it.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::event::{EventfdFlags, eventfd};
use rustix::process::Signal;

use crate::capture::Captured;
use crate::disposal::Done;
use crate::errors::LaunchError;
use crate::input::Written;
use crate::keeper::Keeper;
use crate::outcome::SpillReport;
use crate::owner::Owner;
use crate::process::Process;
use crate::pty::Size;
use crate::stream::Stream;
use crate::text::Text;

/// What a command's streams have carried so far; None when it is over.
pub type Snapshot = Option<Vec<Captured<Text>>>;

/// What others tell the reactor.
pub enum Message {
    /// A keeper has been started.
    KeeperStarted(Arc<Keeper>),
    /// A process of this group has been left without a parent.
    Reap(u64, i32),
    /// A command has been asked for.
    Sent(Box<Process>),
    /// A command of this owner's came to nothing before that.
    LaunchFailed(Arc<Owner>),
    /// This one could not be asked for again.
    NotSent(u64, LaunchError),
    /// Write to its standard input.
    Write(u64, Vec<u8>, Written),
    /// Close its standard input once all is written.
    EndInput(u64),
    /// Give its terminal another size.
    Resize(u64, Size),
    /// Signal its group; the answer is whether it still ran.
    Signal(u64, Signal, Box<dyn FnOnce(bool) + Send>),
    /// End it.
    Cancel(u64, Option<Duration>),
    /// What it has printed so far.
    Snapshot(u64, Box<dyn FnOnce(Snapshot) + Send>),
    /// Its listener can take more.
    Resume(u64),
    /// Its listener has left.
    Detach(u64),
    /// The disk thread has output waiting for a listener until then.
    FlushAt(u64, Instant),
    /// The spill file is closed; these pipes are still open.
    Spilled(u64, SpillReport, Vec<Stream>),
    /// End all that an owner started, with this grace; call back when it is gone.
    Dispose(Arc<Owner>, Duration, Done),
}

/// The way to the reactor.
#[derive(Clone)]
pub struct Mailbox {
    inbox: Arc<Inbox>,
}

struct Inbox {
    messages: Mutex<Vec<Message>>,
    bell: OwnedFd,
}

impl Mailbox {
    /// An empty one.
    pub fn new() -> std::io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Mailbox { inbox: Arc::new(Inbox { messages: Mutex::new(Vec::new()), bell }) })
    }

    /// Readable while there is mail.
    pub fn bell(&self) -> &OwnedFd {
        &self.inbox.bell
    }

    /// Takes all there is.
    pub fn empty(&self) -> Vec<Message> {
        let _ = rustix::io::read(&self.inbox.bell, &mut [0; 8]);
        std::mem::take(&mut *self.inbox.messages.lock())
    }

    /// Hands over a message; never blocks.
    pub fn send(&self, message: Message) {
        let first = {
            let mut messages = self.inbox.messages.lock();
            messages.push(message);
            messages.len() == 1
        };
        // Whoever finds the box empty rings; the reactor takes all there is.
        if first {
            let _ = rustix::io::write(&self.inbox.bell, &1u64.to_ne_bytes());
        }
    }
}
