//! The sockets to the keepers of commands that the host may leave behind, for telling denials; and the host's answers
//! to questions, which arrive in the same way as those sockets.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use forkline_protocol::{ExecAnswer, News, receive_now, send};

use crate::cradle::roster;
use crate::sandbox::kept;
use crate::sandbox::warden::gate::Teller;
use crate::signals;

/// How the host is told about what was denied.
pub struct Telling {
    /// The keeper's process id outside.
    pub keeper: i32,
    pub lifeline: OwnedFd,
    pub lines: DenialSockets,
    /// Whether the host has taken nothing for too long.
    pub is_deaf: AtomicBool,
}

impl Telling {
    /// Returns the cradle of a process's command. None: the process or its cradle has ended.
    pub fn cradle(&self, pid: i32) -> Option<i32> {
        roster::cradle_above(pid, self.keeper)
    }

    /// Tells the host about a denial, or the keeper of a command that the host may leave behind.
    pub fn tell_of(&self, cradle: Option<i32>, what: String) {
        if let Some(cradle) = cradle {
            self.tell(cradle, what);
        }
    }
}

impl Teller for Telling {
    fn cradle_of(&self, pid: i32) -> Option<i32> {
        self.cradle(pid)
    }

    fn tell(&self, cradle: i32, what: String) {
        if !self.lines.send_denial(cradle, &what) {
            let news = News::Denied(cradle, what).encode();
            let tell = || send(self.lifeline.as_fd(), [&news, b""], &[]);
            // A host that is stopped keeps programs waiting once, and then not until it takes something again.
            let is_deaf = self.is_deaf.load(Ordering::Acquire);
            let is_told = if is_deaf { tell().is_ok() } else { kept::patiently(tell) };
            self.is_deaf.store(!is_told, Ordering::Release);
        }
    }
}

/// The sockets to the keepers of commands.
pub struct DenialSockets {
    /// Where cradles introduce their sockets, each before it runs a command.
    socket: OwnedFd,
    /// The sockets by the cradle's process id outside.
    open: Mutex<HashMap<i32, OwnedFd>>,
    /// Takes the host's answer to the question of a number.
    decide: Box<dyn Fn(u64, ExecAnswer) + Send + Sync>,
}

impl DenialSockets {
    pub fn new(
        socket: OwnedFd,
        decide: impl Fn(u64, ExecAnswer) + Send + Sync + 'static,
    ) -> DenialSockets {
        DenialSockets { socket, open: Mutex::default(), decide: Box::new(decide) }
    }

    /// Takes new sockets, and answers, until no cradle is left.
    pub fn watch(&self) {
        while ready(&self.socket, libc::POLLIN, None) & libc::POLLIN != 0 {
            if !self.take(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner)) {
                return;
            }
        }
    }

    /// Tells a denial to the keeper of this cradle's command. Returns whether there is one, and it was
    /// told.
    pub fn send_denial(&self, cradle: i32, what: &str) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // The cradle has introduced its socket, but it may not have been taken yet.
        self.take(&mut open);
        open.get(&cradle).is_some_and(|line| kept::send_denial(line, what))
    }

    /// Takes the new sockets. Returns whether there can be more.
    fn take(&self, open: &mut HashMap<i32, OwnedFd>) -> bool {
        let mut message = [0; 16];
        loop {
            match receive_now(self.socket.as_fd(), &mut message) {
                Ok(received) if received.length == 0 => return false,
                Ok(received) if received.length == message.len() => {
                    let [number, answer] = numbers(message);
                    (self.decide)(number, ExecAnswer::of(answer));
                }
                Ok(received) => {
                    open.retain(|_, line| {
                        ready(line, 0, Some(Duration::ZERO)) & libc::POLLHUP == 0
                    });
                    let line = received.descriptors.into_iter().next();
                    let cradle = message.first_chunk().copied().map(i32::from_le_bytes);
                    open.extend(cradle.zip(line));
                }
                Err(_) => return true,
            }
        }
    }
}

fn numbers(message: [u8; 16]) -> [u64; 2] {
    let both = u128::from_le_bytes(message);
    [both as u64, (both >> 64) as u64]
}

/// Waits for events on a socket, and returns them.
fn ready(socket: &OwnedFd, events: i16, time: Option<Duration>) -> i16 {
    loop {
        let [ready] = signals::wait([Some((socket.as_fd(), events))], time);
        if ready != 0 || time.is_some() {
            return ready;
        }
    }
}
