//! Named pipes that the host reads or writes itself.
//!
//! Their descriptors belong to the engine from the open to the close. Runtimes other than Node do no input or
//! output with a descriptor that they have not opened: Deno knows only those of its own table, and Bun makes
//! no stream of a pipe.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::event::epoll::EventFlags;
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, mknodat, open};
use rustix::io::{Errno, ioctl_fionread, read, write};

use crate::os::watch::{Source, Watch};
use crate::reactor::mailbox::{Mailbox, Message};
use crate::reactor::state::readiness::OnReady;

/// The direction in which the host uses a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// There is something to read, or no writer any more.
    Readable,
    /// There is room to write.
    Writable,
}

/// A named pipe. No call of it waits.
pub struct LocalPipe {
    id: u64,
    descriptor: OwnedFd,
    watch: Watch,
    reactor: Mailbox,
    is_watched: bool,
}

impl LocalPipe {
    /// Makes a named pipe that only its owner may open, and opens it for reading.
    ///
    /// With `stays_open` the descriptor is a writer too, so that the stream has no end.
    pub(super) fn make(
        path: &CStr,
        stays_open: bool,
        watch: Watch,
        reactor: Mailbox,
    ) -> Result<LocalPipe, Errno> {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        let side = if stays_open { OFlags::RDWR } else { OFlags::RDONLY };
        // A sandboxed shell could put another file there.
        let flags = side | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NOCTTY;
        let descriptor = open(path, flags, Mode::empty())?;
        let is_pipe = FileType::from_raw_mode(fstat(&descriptor)?.st_mode) == FileType::Fifo;
        let id = watch.new_id();
        let pipe = LocalPipe { id, descriptor, watch, reactor, is_watched: false };
        if is_pipe { Ok(pipe) } else { Err(Errno::NXIO) }
    }

    /// The number of the descriptor, for paths in `/proc`.
    pub fn number(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }

    /// Reads once. Returns 0 when there is no writer, also before the first one.
    pub fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        read(&self.descriptor, into)
    }

    /// Writes as much as there is room for.
    pub fn write(&self, bytes: &[u8]) -> Result<usize, Errno> {
        write(&self.descriptor, bytes)
    }

    /// Returns the number of unread bytes.
    pub fn unread(&self) -> Result<u64, Errno> {
        ioctl_fionread(&self.descriptor)
    }

    /// Calls `told` once the pipe is ready, or closed. One call at a time.
    pub fn when_ready(&mut self, readiness: Readiness, told: OnReady) {
        // No ring is needed: the reactor reads its messages before the event that one depends on.
        self.reactor.leave(Message::WhenReady(self.id, told));
        let flags = EventFlags::ONESHOT
            | match readiness {
                Readiness::Readable => EventFlags::IN,
                Readiness::Writable => EventFlags::OUT,
            };
        let descriptor = self.descriptor.as_fd();
        let added = if self.is_watched {
            self.watch.rearm(descriptor, self.id, Source::Local, flags)
        } else {
            self.watch.add(descriptor, self.id, Source::Local, flags)
        };
        self.is_watched = added.is_ok();
        if !self.is_watched {
            self.reactor.send(Message::Closed(self.id));
        }
    }
}

impl Drop for LocalPipe {
    fn drop(&mut self) {
        if self.is_watched {
            self.watch.remove(self.descriptor.as_fd());
            self.reactor.send(Message::Closed(self.id));
        }
    }
}
