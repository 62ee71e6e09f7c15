//! The stdin of a detached command, when it is a pipe or a terminal. Writing to it never blocks.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsRawFd, OwnedFd};

pub struct StdinPipe {
    /// None: it has been closed, or its reading end has.
    pipe: Option<File>,
}

/// The result of an attempt to write.
pub enum Written {
    /// This many bytes were written.
    Some(usize),
    /// The pipe is full.
    Full,
    /// The reading end is closed, or writing failed: the errno.
    Never(i32),
}

impl StdinPipe {
    /// Makes a pipe. The second value is the end that the command reads.
    pub fn open() -> io::Result<(StdinPipe, File)> {
        let (reader, writer) = io::pipe()?;
        // SAFETY: takes numbers only. The flag is this end's alone.
        if unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let writer = File::from(OwnedFd::from(writer));
        Ok((StdinPipe { pipe: Some(writer) }, File::from(OwnedFd::from(reader))))
    }

    /// Makes an input of a terminal's master, which is non-blocking.
    pub fn onto(master: File) -> StdinPipe {
        StdinPipe { pipe: Some(master) }
    }

    pub fn write(&mut self, bytes: &[u8]) -> Written {
        let Some(pipe) = &mut self.pipe else { return Written::Never(libc::EPIPE) };
        match pipe.write(bytes) {
            Ok(written) => Written::Some(written),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Written::Full,
            Err(error) if error.kind() == ErrorKind::Interrupted => Written::Some(0),
            Err(error) => {
                self.pipe = None;
                // EIO: no process has the other end of the terminal open.
                let errno = error.raw_os_error().filter(|errno| *errno != libc::EIO);
                Written::Never(errno.unwrap_or(libc::EPIPE))
            }
        }
    }

    pub fn close(&mut self) {
        self.pipe = None;
    }

    /// Returns the descriptor to wait for when the pipe is full.
    pub fn descriptor(&self) -> Option<i32> {
        self.pipe.as_ref().map(AsRawFd::as_raw_fd)
    }
}
