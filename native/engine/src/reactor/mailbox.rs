//! The mailbox of the reactor, by which other threads send it messages.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forkline_protocol::ExecAnswer;
use parking_lot::Mutex;
use rustix::event::epoll::EventFlags;
use rustix::event::{EventfdFlags, eventfd};
use rustix::process::Signal;

use crate::capture::Captured;
use crate::capture::text::Text;
use crate::command::errors::LaunchError;
use crate::command::outcome::SpillReport;
use crate::command::owner::Owner;
use crate::command::sink::OnAsk;
use crate::drain::stream::Stream;
use crate::keeper::cradles::Cradle;
use crate::keeper::{Keeper, Turn};
use crate::os::pty::{Size, Typing};
use crate::os::watch::{FIRST_ID, Source, Watch};
use crate::reactor::state::command::LiveCommand;
use crate::reactor::state::followers::{OnGone, OnMembers};
use crate::reactor::state::input::OnWritten;
use crate::reactor::state::leftover::OnDisposed;
use crate::reactor::state::readiness::OnReady;

/// The output of a command so far, stream by stream. None: the command is over.
pub type Snapshot = Option<Vec<Captured<Text>>>;

/// A message to the reactor.
pub enum Message {
    /// A keeper has been started.
    KeeperStarted(Arc<Keeper>),
    /// The leader of this process group has left a child without a parent.
    Reap(u64, i32),
    /// The request of a command is about to be sent.
    Sent(Box<LiveCommand>),
    /// The request is about to be sent again, to this cradle.
    SentAgain(u64, Turn, Cradle),
    /// The launch of a command of this owner failed before its request was sent.
    LaunchFailed(Arc<Owner>),
    /// The request of this command could not be sent.
    NotSent(u64, LaunchError),
    /// No cradle has taken the request of this command.
    NotTaken(u64),
    /// The command was cancelled before its request was sent.
    NotWanted(u64),
    /// Write to the command's standard input.
    Write(u64, Vec<u8>, OnWritten),
    /// Close the command's standard input once all is written.
    EndInput(u64),
    /// Change the size of the command's terminal.
    Resize(u64, Size),
    /// Answer with how the command's terminal takes what is typed; None: it has none, or is over.
    Typing(u64, Box<dyn FnOnce(Option<Typing>) + Send>),
    /// Signal the command's process group; the answer is whether the command still ran.
    Signal(u64, Signal, Box<dyn FnOnce(bool) + Send>),
    /// End the command, with this grace in place of its own.
    Cancel(u64, Option<Duration>),
    /// The time of the command is over, whatever its own limit is.
    Expire(u64),
    /// Answer with the output of the command so far.
    Snapshot(u64, Box<dyn FnOnce(Snapshot) + Send>),
    /// Answer with the members of the command that run.
    Members(u64, OnMembers),
    /// A detached command is about to be started in a sandbox; who is asked about its programs.
    Detached(u64, OnAsk),
    /// This detached command could not be started.
    NotDetached(u64),
    /// The answer to a question about a program: the keeper's id, and the number of the question.
    Decide(u64, u64, ExecAnswer),
    /// Answer with the report of the command's sandbox.
    Sandbox(u64, Box<dyn FnOnce(Option<String>) + Send>),
    /// Answer when no member of the command is left.
    WhenGone(u64, OnGone),
    /// The command's listener can take more output.
    Resume(u64),
    /// The command's listener has left.
    Detach(u64),
    /// The disk thread has output that is to be delivered to the listener at this time.
    FlushAt(u64, Instant),
    /// The spill file is closed; these pipes are still open.
    Spilled(u64, SpillReport, Vec<Stream>),
    /// End all that an owner started, with this grace, and call back then.
    Dispose(Arc<Owner>, Duration, OnDisposed),
    /// Call back when this stream of the host is ready.
    WhenReady(u64, OnReady),
    /// A stream of the host is closed.
    Closed(u64),
}

/// The sending side of the mailbox.
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
    /// Whether the bell was rung since the reactor last took the messages.
    rung: bool,
}

/// The id of the bell in the set of watched descriptors.
pub const BELL: u64 = FIRST_ID;

impl Mailbox {
    /// Makes an empty mailbox and watches its bell.
    pub fn new(watch: &Watch) -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        watch.add(bell.as_fd(), BELL, Source::Cradle, EventFlags::IN)?;
        Ok(Mailbox { inbox: Arc::new(Inbox { letters: Mutex::default(), bell }) })
    }

    /// Takes all messages. `rung`: whether the bell was heard.
    pub fn take_all(&self, rung: bool) -> Vec<Message> {
        // The bell is reset first, so that a later ring is heard.
        if rung {
            let _ = rustix::io::read(&self.inbox.bell, &mut [0; 8]);
        }
        std::mem::take(&mut *self.inbox.letters.lock()).all
    }

    /// Sends a message and wakes the reactor. Never blocks.
    pub fn send(&self, message: Message) {
        let rung = {
            let mut letters = self.inbox.letters.lock();
            letters.all.push(message);
            std::mem::replace(&mut letters.rung, true)
        };
        // One ring is enough for all messages there.
        if !rung {
            self.ring();
        }
    }

    /// Leaves a message without waking the reactor, which finds it at its next event, such as an answer from
    /// a cradle.
    pub fn leave(&self, message: Message) {
        self.inbox.letters.lock().all.push(message);
    }

    /// Wakes the reactor.
    pub fn ring(&self) {
        let _ = rustix::io::write(&self.inbox.bell, &1u64.to_ne_bytes());
    }
}
