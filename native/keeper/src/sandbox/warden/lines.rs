//! To the keepers of commands that the host may leave behind: what those are denied.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use forkline_protocol::receive_now;

use crate::sandbox::kept;
use crate::signals;

pub struct Lines {
    /// Where their cradles say who they are, each before it runs anything.
    socket: OwnedFd,
    /// By the number of the cradle outside.
    open: Mutex<HashMap<i32, OwnedFd>>,
}

impl Lines {
    pub fn new(socket: OwnedFd) -> Lines {
        Lines { socket, open: Mutex::default() }
    }

    /// Takes them as they come, until there are no more cradles.
    pub fn watch(&self) {
        while ready(&self.socket, libc::POLLIN, None) & libc::POLLIN != 0 {
            if !self.take(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner)) {
                return;
            }
        }
    }

    /// Whether there is one for the command of this cradle, which now knows.
    pub fn tell(&self, cradle: i32, what: &str) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // Its cradle has said so before, but perhaps nobody has heard it yet.
        self.take(&mut open);
        open.get(&cradle).is_some_and(|line| kept::tell(line, what))
    }

    /// Those that have come; false: no more will.
    fn take(&self, open: &mut HashMap<i32, OwnedFd>) -> bool {
        let mut number = [0; 4];
        loop {
            match receive_now(self.socket.as_fd(), &mut number) {
                Ok(received) if received.length == 0 => return false,
                Ok(received) => {
                    open.retain(|_, line| {
                        ready(line, 0, Some(Duration::ZERO)) & libc::POLLHUP == 0
                    });
                    let line = received.descriptors.into_iter().next();
                    open.extend(line.map(|line| (i32::from_le_bytes(number), line)));
                }
                Err(_) => return true,
            }
        }
    }
}

/// What of these has happened there.
fn ready(socket: &OwnedFd, events: i16, time: Option<Duration>) -> i16 {
    loop {
        let [ready] = signals::wait([Some((socket.as_fd(), events))], time);
        if ready != 0 || time.is_some() {
            return ready;
        }
    }
}
