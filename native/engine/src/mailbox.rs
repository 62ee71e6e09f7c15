//! The way to the reactor: what others tell it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::event::{EventfdFlags, epoll, eventfd};
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
use crate::source::Source;
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
    letters: Mutex<Letters>,
    bell: OwnedFd,
    epoll: Arc<OwnedFd>,
}

#[derive(Default)]
struct Letters {
    all: Vec<Message>,
    /// Whether somebody has rung since the reactor took them last.
    rung: bool,
}

/// The bell's id among what the reactor watches; commands' begin at 1.
pub const BELL: u64 = 0;

impl Mailbox {
    /// An empty one.
    pub fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let epoll = Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        epoll::add(&epoll, &bell, Source::Channel.token(BELL), epoll::EventFlags::IN)?;
        Ok(Mailbox { inbox: Arc::new(Inbox { letters: Mutex::default(), bell, epoll }) })
    }

    /// What the reactor waits on.
    pub fn epoll(&self) -> &Arc<OwnedFd> {
        &self.inbox.epoll
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

    /// Hands over a command that is about to be asked for. The reactor sleeps on: it comes upon it when
    /// its cradle has something to say, or when somebody rings.
    pub fn expect(&self, process: Process) -> io::Result<()> {
        let token = Source::Channel.token(process.id);
        epoll::add(&self.inbox.epoll, &process.channel, token, epoll::EventFlags::IN)?;
        self.inbox.letters.lock().all.push(Message::Sent(Box::new(process)));
        Ok(())
    }

    /// Has the reactor see what lies there.
    pub fn ring(&self) {
        let _ = rustix::io::write(&self.inbox.bell, &1u64.to_ne_bytes());
    }
}
