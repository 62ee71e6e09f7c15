//! The sockets to the keepers of commands that the host may leave behind, for telling denials.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use forkline_protocol::receive_now;

use crate::sandbox::kept;
use crate::signals;

pub struct DenialSockets {
    /// Where cradles introduce their sockets, each before it runs a command.
    socket: OwnedFd,
    /// The sockets by the cradle's process id outside.
    open: Mutex<HashMap<i32, OwnedFd>>,
}

impl DenialSockets {
    pub fn new(socket: OwnedFd) -> DenialSockets {
        DenialSockets { socket, open: Mutex::default() }
    }

    /// Takes new sockets until no cradle is left.
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

/// Waits for events on a socket, and returns them.
fn ready(socket: &OwnedFd, events: i16, time: Option<Duration>) -> i16 {
    loop {
        let [ready] = signals::wait([Some((socket.as_fd(), events))], time);
        if ready != 0 || time.is_some() {
            return ready;
        }
    }
}
