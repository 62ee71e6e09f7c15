//! A client of a detached command's keeper. Clients take turns with their calls. Answers wait in a
//! bounded buffer until the client reads them, and the keeper never waits for a client.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use forkline_protocol::task::{
    LONGEST_CALL, Next, TaskAnswer, TaskCall, TaskState, TerminalSize, next_message,
};

use super::input::{StdinPipe, Written};
use super::terminal::KeptTerminal;
use super::terminal::follower::Follower;

/// The most unanswered calls of a kind.
const MOST_OPEN: usize = 16;

/// The most bytes that may wait for a client that follows a terminal, and whose calls are carried out all
/// the same: an interrupt that is typed must not wait until a flood of output is read.
const MOST_WAITING: usize = 128 * 1024;

pub struct Client {
    socket: UnixStream,
    inbox: Vec<u8>,
    outbox: Vec<u8>,
    /// Whether the state has changed since it was sent.
    stale: bool,
    /// The write under way: the number of its call, the bytes, and how many of them are written.
    writing: Option<(u64, Vec<u8>, usize)>,
    /// The numbers of the calls that ask for members.
    member_calls: Vec<u64>,
    /// The numbers of the calls that have ordered the end.
    end_calls: Vec<u64>,
    /// How far it has followed the command's terminal, if it does.
    follower: Option<Follower>,
    /// The size of its window, and when it got its first one.
    window: Option<(Instant, TerminalSize)>,
    /// Whether the client is to be dropped.
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
            member_calls: Vec::new(),
            end_calls: Vec::new(),
            follower: None,
            window: None,
            gone: false,
        }
    }

    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// Returns whether a write waits for the pipe; a part of it may be written already.
    pub fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    pub fn is_half_written(&self) -> bool {
        self.writing.as_ref().is_some_and(|(_, _, done)| *done > 0)
    }

    /// Returns the descriptor and the events to wait for. Nothing is read from a client that does not
    /// read.
    pub fn watched(&self) -> libc::pollfd {
        let sends = if self.outbox.is_empty() { 0 } else { libc::POLLOUT };
        let is_full = self.writing.is_some() && self.inbox.len() >= LONGEST_CALL;
        let reads = if self.is_behind() || is_full { 0 } else { libc::POLLIN };
        let events = sends | reads;
        libc::pollfd { fd: self.socket.as_raw_fd(), events, revents: 0 }
    }

    /// Returns whether no call is carried out until the client has read more.
    fn is_behind(&self) -> bool {
        let most = if self.follower.is_some() { MOST_WAITING } else { 0 };
        self.outbox.len() > most
    }

    /// Has the client follow the terminal from now on.
    pub fn follow(&mut self, follower: Follower) {
        self.follower = Some(follower);
    }

    /// Sets the size of its window; with no columns, it has none any more.
    pub fn set_window(&mut self, size: TerminalSize) {
        let since = self.window.map_or_else(Instant::now, |(since, _)| since);
        self.window = (size.columns > 0 && size.rows > 0).then_some((since, size));
    }

    /// Returns its window, and since when it has one.
    pub fn window(&self) -> Option<(Instant, TerminalSize)> {
        self.window.filter(|_| !self.gone)
    }

    /// Takes note that the state has changed.
    pub fn mark_stale(&mut self) {
        self.stale = true;
    }

    /// Reads some of the bytes that have arrived.
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

    /// Returns the next call that can be carried out now.
    pub fn next_call(&mut self) -> Option<(u64, TaskCall)> {
        loop {
            if self.is_behind() || self.gone {
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
                TaskCall::Who => self.note(number, |client| &mut client.member_calls),
                TaskCall::Write(bytes) => self.writing = Some((number, bytes, 0)),
                call => return Some((number, call)),
            }
        }
    }

    /// Takes note of a call that has ordered the end, to be answered when that is over.
    pub fn note_end_call(&mut self, number: u64) {
        self.note(number, |client| &mut client.end_calls);
    }

    fn note(&mut self, number: u64, of: impl Fn(&mut Client) -> &mut Vec<u64>) {
        if of(self).len() < MOST_OPEN { of(self).push(number) } else { self.gone = true }
    }

    pub fn asks_for_members(&self) -> bool {
        !self.member_calls.is_empty()
    }

    /// Writes as much of the current write as the pipe takes.
    pub fn write_input(&mut self, input: &mut Option<StdinPipe>) {
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

    pub fn answer_members(&mut self, answer: &TaskAnswer) {
        for number in std::mem::take(&mut self.member_calls) {
            self.answer(number, answer);
        }
    }

    pub fn answer_end(&mut self, cleared: bool) {
        for number in std::mem::take(&mut self.end_calls) {
            self.answer(number, &TaskAnswer::Over(cleared));
        }
    }

    /// Sends what is due. Returns whether there was something, and all of it was sent.
    pub fn send(&mut self, state: &TaskState, terminal: Option<&KeptTerminal>) -> bool {
        let mut sent = false;
        loop {
            if self.outbox.is_empty() && std::mem::take(&mut self.stale) {
                self.answer(0, &TaskAnswer::State(state.clone()));
            }
            if let (Some(follower), Some(terminal)) = (&mut self.follower, terminal)
                && self.outbox.is_empty()
            {
                self.outbox.extend(follower.next(terminal.output()).into_iter().flatten());
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
