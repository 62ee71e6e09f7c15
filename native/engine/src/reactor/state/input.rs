//! A command's standard input: a pipe, or the master of its terminal.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use crate::command::Stdin;

/// Called once the bytes are in the pipe, or with the reason why they never will be.
pub type OnWritten = Box<dyn FnOnce(Result<(), Errno>) + Send>;

/// The writing end, and the bytes that wait.
pub struct Input {
    /// The descriptor; non-blocking.
    pub descriptor: OwnedFd,
    queue: VecDeque<(Vec<u8>, usize, OnWritten)>,
    ending: bool,
}

/// The result of a turn of writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// All is written; more bytes may come.
    Idle,
    /// The pipe or terminal takes no more bytes for now.
    Blocked,
    /// The input is to be closed: the caller has asked for it, or no process can read any more.
    Close,
}

impl Input {
    /// Makes an input over the writing end of a pipe, with the bytes that are known already.
    pub fn new(descriptor: OwnedFd, stdin: &Stdin) -> Self {
        let mut input = Input { descriptor, queue: VecDeque::new(), ending: false };
        if let Stdin::Bytes(bytes) = stdin {
            // A command need not read its input.
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

    /// Closes the input once all is written.
    pub fn end(&mut self) {
        self.ending = true;
    }

    /// Writes as many bytes as the pipe takes.
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

    /// Fails the writes that wait: no process will read them.
    pub fn fail(&mut self, error: Errno) {
        for (_, _, written) in self.queue.drain(..) {
            written(Err(error));
        }
    }
}
