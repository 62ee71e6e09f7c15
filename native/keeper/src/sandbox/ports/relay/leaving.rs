//! Connections that are about to be closed.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::sandbox::ports::sockets::{is_delivered, reset};

/// How long data that was sent to one side may take to arrive after the other side has reset the connection.
const LEAVING: Duration = Duration::from_secs(30);

/// Sockets that are closed once what was sent to them has arrived: a reset would take it back.
pub struct LeavingPair {
    since: Instant,
    sockets: [OwnedFd; 2],
    is_broken: bool,
}

impl LeavingPair {
    pub fn new(sockets: [OwnedFd; 2], is_broken: bool) -> LeavingPair {
        LeavingPair { since: Instant::now(), sockets, is_broken }
    }

    pub fn is_due(&self) -> bool {
        self.sockets.iter().all(is_delivered) || self.since.elapsed() > LEAVING
    }
}

impl Drop for LeavingPair {
    fn drop(&mut self) {
        if self.is_broken {
            self.sockets.iter().for_each(reset);
        }
    }
}
