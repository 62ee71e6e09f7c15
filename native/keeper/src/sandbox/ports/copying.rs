//! Copies data from one socket to another.

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};

/// How often a connection copies before others have their turn.
const ROUNDS: usize = 8;

/// The result of copying.
pub enum Copied {
    /// There is no more data, or the other side takes none.
    Blocked,
    /// There is more.
    More,
    Ended,
    Broken,
}

/// Copies both ways. `Ended`: all data of both sockets has been copied.
pub fn copy(sockets: &[OwnedFd; 2], ended: &mut [bool; 2], buffer: &mut [u8]) -> Copied {
    let [first, second] = sockets;
    let mut is_more = false;
    for (from, to, at) in [(first, second, 0), (second, first, 1)] {
        let Some(has_ended) = ended.get_mut(at) else { continue };
        if *has_ended {
            continue;
        }
        match copy_one_way(from, to, buffer) {
            Copied::Blocked => {}
            Copied::More => is_more = true,
            Copied::Ended => {
                // The other side reads the end, and can still send.
                let _ = shutdown(to, Shutdown::Write);
                *has_ended = true;
            }
            Copied::Broken => return Copied::Broken,
        }
    }
    match (*ended, is_more) {
        ([true, true], _) => Copied::Ended,
        (_, true) => Copied::More,
        _ => Copied::Blocked,
    }
}

fn copy_one_way(from: &OwnedFd, to: &OwnedFd, buffer: &mut [u8]) -> Copied {
    for _ in 0..ROUNDS {
        let looked = recv(from, &mut *buffer, RecvFlags::PEEK | RecvFlags::DONTWAIT);
        let length = match looked {
            Ok((_, 0)) => return Copied::Ended,
            Ok((_, length)) => length.min(buffer.len()),
            Err(Errno::AGAIN | Errno::INTR) => return Copied::Blocked,
            Err(_) => return Copied::Broken,
        };
        let found = buffer.get(..length).unwrap_or_default();
        let mut sent = match send(to, found, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Ok(sent) => sent,
            Err(Errno::AGAIN | Errno::INTR) => return Copied::Blocked,
            Err(_) => return Copied::Broken,
        };
        while sent > 0 {
            let taken = buffer.get_mut(..sent).unwrap_or_default();
            match recv(from, taken, RecvFlags::TRUNC | RecvFlags::DONTWAIT) {
                Ok((_, length @ 1..)) => sent = sent.saturating_sub(length),
                _ => return Copied::Broken,
            }
        }
    }
    Copied::More
}
