//! A command's standard input: a pipe, or the master of its terminal.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use crate::command::Stdin;

/// Told once its bytes are in the pipe, or why they never will be.
pub type OnWritten = Box<dyn FnOnce(Result<(), Errno>) + Send>;

/// The writing end, and what waits to be written.
pub struct Input {
    /// Non-blocking.
    pub descriptor: OwnedFd,
    queue: VecDeque<(Vec<u8>, usize, OnWritten)>,
    ending: bool,
}

/// What a turn of writing came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// All is written; more may come.
    Idle,
    /// The pipe or terminal takes no more for now.
    Blocked,
    /// It is to be closed: the caller's wish, or nobody reads any more.
    Close,
}

impl Input {
    /// Over the writing end of a pipe, with what is known of the input already.
    pub fn new(descriptor: OwnedFd, stdin: &Stdin) -> Self {
        let mut input = Input { descriptor, queue: VecDeque::new(), ending: false };
        if let Stdin::Bytes(bytes) = stdin {
            // A command that does not read its input is none the worse for it.
            input.push(bytes.clone(), Box::new(|_| {}));
            input.end();
        }
        input
    }

    /// Queues bytes.
    pub fn push(&mut self, bytes: Vec<u8>, written: OnWritten) {
        if self.ending {
            return written(Err(Errno::PIPE));
        }
        self.queue.push_back((bytes, 0, written));
    }

    /// Closes it once all is written.
    pub fn end(&mut self) {
        self.ending = true;
    }

    /// Writes as much as the pipe takes.
    pub fn flush(&mut self) -> Flow {
        while let Some((bytes, offset, written)) = self.queue.pop_front() {
            let rest = bytes.split_at(offset).1;
            if rest.is_empty() {
                written(Ok(()));
                continue;
            }
            match rustix::io::write(&self.descriptor, rest) {
                Ok(count) => self.queue.push_front((bytes, offset + count, written)),
                Err(Errno::INTR) => self.queue.push_front((bytes, offset, written)),
                Err(Errno::AGAIN) => {
                    self.queue.push_front((bytes, offset, written));
                    return Flow::Blocked;
                }
                Err(error) => {
                    written(Err(error));
                    self.fail(error);
                    return Flow::Close;
                }
            }
        }
        if self.ending { Flow::Close } else { Flow::Idle }
    }

    /// Nobody will read what waits.
    pub fn fail(&mut self, error: Errno) {
        for (_, _, written) in self.queue.drain(..) {
            written(Err(error));
        }
    }
}
