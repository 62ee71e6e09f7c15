//! What one thread waits on, and everybody may add to; its events are told apart by numbers.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::io::Errno;

/// A set of descriptors that are watched.
#[derive(Debug, Clone)]
pub struct Watch {
    epoll: Arc<OwnedFd>,
    next_id: Arc<AtomicU64>,
}

/// The smallest number; greater ones are given away by [`Watch::new_id`].
pub const FIRST_ID: u64 = 0;

impl Watch {
    /// An empty one.
    pub fn new() -> io::Result<Watch> {
        let epoll = Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?);
        Ok(Watch { epoll, next_id: Arc::new(AtomicU64::new(FIRST_ID + 1)) })
    }

    /// A number for whatever there is one of: a command, an owner, a cradle, a keeper.
    pub fn new_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// From now on its events come under this number.
    pub fn add(
        &self,
        fd: BorrowedFd,
        id: u64,
        source: Source,
        flags: EventFlags,
    ) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, fd, source.token(id), flags)?)
    }

    /// Before every close: closing alone does not take a descriptor out while a child, between its
    /// clone and its exec, still has a copy.
    pub fn remove(&self, fd: BorrowedFd) {
        let _ = epoll::delete(&self.epoll, fd);
    }

    /// Waits for events, and puts them in place of those there are.
    pub fn wait(&self, events: &mut Vec<Event>, time: Option<&Timespec>) -> Result<(), Errno> {
        events.clear();
        epoll::wait(&self.epoll, spare_capacity(events), time).map(drop)
    }
}

/// Which descriptor of a command, a cradle or a keeper an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// What a cradle says.
    Cradle,
    /// An output, by its number.
    Output(usize),
    /// What a keeper says.
    Lifeline,
    /// Room in its standard input.
    Input,
}

// A token is an id, and below it the number of a source.
const SOURCE_BITS: u32 = 3;
const SOURCE_MASK: u64 = (1 << SOURCE_BITS) - 1;
const CRADLE: u64 = 0;
const FIRST_OUTPUT: u64 = 1;
const LIFELINE: u64 = 6;
const INPUT: u64 = 7;

impl Source {
    /// Ids are never reused, so an event that comes late finds nobody.
    fn token(self, id: u64) -> EventData {
        let source = match self {
            Source::Cradle => CRADLE,
            Source::Output(index) => FIRST_OUTPUT + index as u64,
            Source::Lifeline => LIFELINE,
            Source::Input => INPUT,
        };
        EventData::new_u64(id << SOURCE_BITS | source)
    }

    /// Whose event it is, and about which descriptor.
    pub fn of(event: &Event) -> (u64, Source) {
        let token = event.data.u64();
        let source = match token & SOURCE_MASK {
            CRADLE => Source::Cradle,
            LIFELINE => Source::Lifeline,
            INPUT => Source::Input,
            output => Source::Output((output - FIRST_OUTPUT) as usize),
        };
        (token >> SOURCE_BITS, source)
    }
}
