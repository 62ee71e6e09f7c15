//! One of those who have found a detached command. What it says is taken in turns, what it is told waits
//! in a bounded place until it reads, and it is never waited for.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

use forkline_protocol::task::{LONGEST_CALL, Next, TaskAnswer, TaskCall, TaskState, next_message};

use super::input::{StdinPipe, Written};

/// So many questions of a kind may be open at once.
const MOST_OPEN: usize = 16;

pub struct Client {
    socket: UnixStream,
    inbox: Vec<u8>,
    outbox: Vec<u8>,
    /// The state has changed since it was told, and there was no room to say so.
    stale: bool,
    /// What is being written for it: the number of its call, the bytes, and how many are done.
    writing: Option<(u64, Vec<u8>, usize)>,
    /// The numbers of the calls that ask who is there.
    who: Vec<u64>,
    /// The numbers of those that have ordered the end.
    ending: Vec<u64>,
    /// It is to be let go.
    gone: bool,
}

impl Client {
    pub fn new(socket: UnixStream) -> Client {
        Client {
            socket,
            inbox: Vec::new(),
            outbox: Vec::new(),
            stale: true,
            writing: None,
            who: Vec::new(),
            ending: Vec::new(),
            gone: false,
        }
    }

    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// Whether something of it waits to go into the pipe; half of it may be there already.
    pub fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    pub fn is_half_written(&self) -> bool {
        self.writing.as_ref().is_some_and(|(_, _, done)| *done > 0)
    }

    /// What to wait for. Of one that reads nothing nothing is read.
    pub fn watched(&self) -> libc::pollfd {
        let events = if !self.outbox.is_empty() {
            libc::POLLOUT
        } else if self.writing.is_some() && self.inbox.len() >= LONGEST_CALL {
            0
        } else {
            libc::POLLIN
        };
        libc::pollfd { fd: self.socket.as_raw_fd(), events, revents: 0 }
    }

    /// The state has changed.
    pub fn notice(&mut self) {
        self.stale = true;
    }

    /// Takes what has come, a little of it.
    pub fn receive(&mut self) {
        let mut buffer = [0; 16 * 1024];
        match self.socket.read(&mut buffer) {
            Ok(0) => self.gone = true,
            Ok(length) => {
                self.inbox.extend_from_slice(buffer.get(..length).unwrap_or_default());
            }
            Err(error) if is_passing(error.kind()) => {}
            Err(_) => self.gone = true,
        }
    }

    /// The next call that is to be obeyed now, if there is one.
    pub fn next_call(&mut self) -> Option<(u64, TaskCall)> {
        loop {
            if !self.outbox.is_empty() || self.gone {
                return None;
            }
            let (message, rest) = match next_message(&self.inbox, LONGEST_CALL) {
                Next::Message(message, rest) => (TaskCall::decode(message), rest.len()),
                Next::Unfinished => return None,
                Next::TooLong => (None, 0),
            };
            let Some((number, call)) = message else {
                self.gone = true;
                return None;
            };
            if self.writing.is_some() && matches!(call, TaskCall::Write(_)) {
                return None;
            }
            self.inbox.drain(..self.inbox.len() - rest);
            match call {
                TaskCall::Who => self.note(number, |client| &mut client.who),
                TaskCall::Write(bytes) => self.writing = Some((number, bytes, 0)),
                call => return Some((number, call)),
            }
        }
    }

    /// The end has been ordered: it is told when that is over.
    pub fn awaits_end(&mut self, number: u64) {
        self.note(number, |client| &mut client.ending);
    }

    fn note(&mut self, number: u64, of: impl Fn(&mut Client) -> &mut Vec<u64>) {
        if of(self).len() < MOST_OPEN { of(self).push(number) } else { self.gone = true }
    }

    pub fn asks_who(&self) -> bool {
        !self.who.is_empty()
    }

    /// Puts into the pipe what is there of a write, as far as it goes.
    pub fn feed(&mut self, input: &mut Option<StdinPipe>) {
        while let Some((number, bytes, done)) = &mut self.writing {
            let left = bytes.get(*done..).unwrap_or_default();
            let written = match input {
                _ if left.is_empty() => Written::Never(0),
                Some(input) => input.write(left),
                None => Written::Never(libc::EPIPE),
            };
            match written {
                Written::Some(count) => *done += count,
                Written::Full => return,
                Written::Never(errno) => {
                    let number = *number;
                    self.writing = None;
                    self.answer(number, &TaskAnswer::Written(errno));
                }
            }
        }
    }

    pub fn answer(&mut self, number: u64, answer: &TaskAnswer) {
        self.outbox.extend(answer.encode(number));
    }

    pub fn tell_members(&mut self, answer: &TaskAnswer) {
        for number in std::mem::take(&mut self.who) {
            self.answer(number, answer);
        }
    }

    pub fn tell_over(&mut self, cleared: bool) {
        for number in std::mem::take(&mut self.ending) {
            self.answer(number, &TaskAnswer::Over(cleared));
        }
    }

    /// Says what there is to say, as far as it is taken; whether that was something, and all of it.
    pub fn send(&mut self, state: &TaskState) -> bool {
        let mut sent = false;
        loop {
            if self.outbox.is_empty() && std::mem::take(&mut self.stale) {
                self.answer(0, &TaskAnswer::State(state.clone()));
            }
            if self.outbox.is_empty() || self.gone {
                return sent;
            }
            match self.socket.write(&self.outbox) {
                Ok(length) => drop(self.outbox.drain(..length)),
                Err(error) if is_passing(error.kind()) => return false,
                Err(_) => self.gone = true,
            }
            sent = true;
        }
    }
}

fn is_passing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
