//! One epoll set, on which one thread waits and to which any thread adds descriptors.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::io::Errno;

/// A set of watched descriptors.
#[derive(Debug, Clone)]
pub struct Watch {
    epoll: Arc<OwnedFd>,
    next_id: Arc<AtomicU64>,
}

/// The smallest id; [`Watch::new_id`] returns greater ones.
pub const FIRST_ID: u64 = 0;

impl Watch {
    /// Makes an empty set.
    pub fn new() -> io::Result<Watch> {
        let epoll = Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        Ok(Watch { epoll, next_id: Arc::new(AtomicU64::new(FIRST_ID + 1)) })
    }

    /// Returns an id that is unique in this process: for a command, an owner, a cradle or a keeper.
    pub fn new_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a descriptor, whose events are reported with this id and source.
    pub fn add(
        &self,
        fd: BorrowedFd,
        id: u64,
        source: Source,
        flags: EventFlags,
    ) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, fd, source.token(id), flags)?)
    }

    /// Reports again the events of a descriptor that was added for one event only.
    pub fn rearm(
        &self,
        fd: BorrowedFd,
        id: u64,
        source: Source,
        flags: EventFlags,
    ) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, fd, source.token(id), flags)?)
    }

    /// Removes a descriptor. Needed before every close: closing alone does not remove it while a child
    /// process, between its clone and its exec, still has a copy.
    pub fn remove(&self, fd: BorrowedFd) {
        let _ = epoll::delete(&self.epoll, fd);
    }

    /// Waits for events, and replaces the previous ones in `events`.
    pub fn wait(&self, events: &mut Vec<Event>, time: Option<&Timespec>) -> Result<(), Errno> {
        events.clear();
        epoll::wait(&self.epoll, spare_capacity(events), time).map(drop)
    }
}

/// The kind of descriptor that an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The channel of a cradle has something to read.
    Cradle,
    /// An output of a command, by its index.
    Output(usize),
    /// The lifeline of a keeper has something to read.
    Lifeline,
    /// A command's standard input has room.
    Input,
    /// A stream that the host reads or writes itself is ready for that.
    Local,
}

// A token consists of an id, and in its low bits the number of a source.
const SOURCE_BITS: u32 = 3;
const SOURCE_MASK: u64 = (1 << SOURCE_BITS) - 1;
const CRADLE: u64 = 0;
const FIRST_OUTPUT: u64 = 1;
const LOCAL: u64 = 5;
const LIFELINE: u64 = 6;
const INPUT: u64 = 7;

impl Source {
    /// Packs the source and the id into one token. Ids are never reused, so a late event finds no owner.
    fn token(self, id: u64) -> EventData {
        let source = match self {
            Source::Cradle => CRADLE,
            Source::Output(index) => FIRST_OUTPUT + index as u64,
            Source::Lifeline => LIFELINE,
            Source::Input => INPUT,
            Source::Local => LOCAL,
        };
        EventData::new_u64(id << SOURCE_BITS | source)
    }

    /// Returns the id and the source of an event.
    pub fn of(event: &Event) -> (u64, Source) {
        let token = event.data.u64();
        let source = match token & SOURCE_MASK {
            CRADLE => Source::Cradle,
            LIFELINE => Source::Lifeline,
            INPUT => Source::Input,
            LOCAL => Source::Local,
            output => Source::Output((output - FIRST_OUTPUT) as usize),
        };
        (token >> SOURCE_BITS, source)
    }
}
