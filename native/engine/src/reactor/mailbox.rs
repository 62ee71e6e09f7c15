//! The way to the reactor: what others tell it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::event::epoll::EventFlags;
use rustix::event::{EventfdFlags, eventfd};
use rustix::process::Signal;

use crate::capture::Captured;
use crate::capture::text::Text;
use crate::command::errors::LaunchError;
use crate::command::outcome::SpillReport;
use crate::command::owner::Owner;
use crate::drain::stream::Stream;
use crate::keeper::cradles::Cradle;
use crate::keeper::{Keeper, Turn};
use crate::os::pty::Size;
use crate::os::watch::{FIRST_ID, Source, Watch};
use crate::reactor::state::command::LiveCommand;
use crate::reactor::state::followers::{OnGone, OnMembers};
use crate::reactor::state::input::OnWritten;
use crate::reactor::state::leftover::OnDisposed;

/// What a command's streams have carried so far; None when it is over.
pub type Snapshot = Option<Vec<Captured<Text>>>;

/// What others tell the reactor.
pub enum Message {
    /// A keeper has been started.
    KeeperStarted(Arc<Keeper>),
    /// A process of this group has been left without a parent.
    Reap(u64, i32),
    /// A command is about to be asked for.
    Sent(Box<LiveCommand>),
    /// It is about to be asked for again, of this cradle.
    SentAgain(u64, Turn, Cradle),
    /// A command of this owner's came to nothing before that.
    LaunchFailed(Arc<Owner>),
    /// This one could not be asked for.
    NotSent(u64, LaunchError),
    /// Nobody has taken the request for it.
    NotTaken(u64),
    /// It was no longer wanted when it was to be asked for.
    NotWanted(u64),
    /// Write to its standard input.
    Write(u64, Vec<u8>, OnWritten),
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
    /// Who of it runs.
    Members(u64, OnMembers),
    /// What its sandbox has kept it from.
    Sandbox(u64, Box<dyn FnOnce(Option<String>) + Send>),
    /// Tell when nobody of it is left.
    WhenGone(u64, OnGone),
    /// Its listener can take more.
    Resume(u64),
    /// Its listener has left.
    Detach(u64),
    /// The disk thread has output waiting for a listener until then.
    FlushAt(u64, Instant),
    /// The spill file is closed; these pipes are still open.
    Spilled(u64, SpillReport, Vec<Stream>),
    /// End all that an owner started, with this grace; call back when it is gone.
    Dispose(Arc<Owner>, Duration, OnDisposed),
}

/// The way to the reactor.
#[derive(Clone)]
pub struct Mailbox {
    inbox: Arc<Inbox>,
}

struct Inbox {
    letters: Mutex<Letters>,
    bell: OwnedFd,
}

#[derive(Default)]
struct Letters {
    all: Vec<Message>,
    /// Whether somebody has rung since the reactor took them last.
    rung: bool,
}

/// The bell's number among what the reactor watches.
pub const BELL: u64 = FIRST_ID;

impl Mailbox {
    /// An empty one, whose bell is watched.
    pub fn new(watch: &Watch) -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        watch.add(bell.as_fd(), BELL, Source::Cradle, EventFlags::IN)?;
        Ok(Mailbox { inbox: Arc::new(Inbox { letters: Mutex::default(), bell }) })
    }

    /// Takes all there is. `rung`: the bell has been heard.
    pub fn empty(&self, rung: bool) -> Vec<Message> {
        // Before: whoever rings from now on is heard again.
        if rung {
            let _ = rustix::io::read(&self.inbox.bell, &mut [0; 8]);
        }
        std::mem::take(&mut *self.inbox.letters.lock()).all
    }

    /// Hands over a message; never blocks.
    pub fn send(&self, message: Message) {
        let rung = {
            let mut letters = self.inbox.letters.lock();
            letters.all.push(message);
            std::mem::replace(&mut letters.rung, true)
        };
        // One ring does for all that lies there when it is heard.
        if !rung {
            self.ring();
        }
    }

    /// Leaves a message without a word. The reactor sleeps on: it comes upon it when anything else
    /// happens, such as an answer from a cradle.
    pub fn leave(&self, message: Message) {
        self.inbox.letters.lock().all.push(message);
    }

    /// Has the reactor see what lies there.
    pub fn ring(&self) {
        let _ = rustix::io::write(&self.inbox.bell, &1u64.to_ne_bytes());
    }
}
