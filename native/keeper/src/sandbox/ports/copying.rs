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
    /// One side has closed while the other was still sending. The other has what it has answered.
    Left,
    Broken,
}

/// How far one of a connection's two directions is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Open,
    /// All data has been copied.
    Ended,
    /// The receiver takes no more, such as a server that has answered early and closed. What it has sent before
    /// is still copied; `was_reset`: that is not whole, since it has sent no end.
    Deaf {
        was_reset: bool,
    },
}

/// Copies both ways. `Ended`: all data of both sockets has been copied.
pub fn copy(sockets: &[OwnedFd; 2], directions: &mut [Direction; 2], buffer: &mut [u8]) -> Copied {
    let [first, second] = sockets;
    let mut is_more = false;
    for (from, to, at) in [(first, second, 0), (second, first, 1)] {
        let back = directions.get(1 - at).copied();
        let Some(direction) =
            directions.get_mut(at).filter(|direction| **direction == Direction::Open)
        else {
            continue;
        };
        match copy_one_way(from, to, buffer) {
            OneWay::Blocked => {}
            OneWay::More => is_more = true,
            // Sending has taken the news of the reset from the socket, which looks as if it had ended.
            OneWay::Ended if back == Some(Direction::Deaf { was_reset: true }) => {
                return Copied::Broken;
            }
            OneWay::Ended => {
                // The other side reads the end, and can still send.
                let _ = shutdown(to, Shutdown::Write);
                *direction = Direction::Ended;
            }
            OneWay::Refused { was_reset } => {
                *direction = Direction::Deaf { was_reset };
                is_more = true;
            }
            OneWay::Broken => return Copied::Broken,
        }
    }
    match *directions {
        [Direction::Ended, Direction::Ended] => Copied::Ended,
        [Direction::Open, _] | [_, Direction::Open] if is_more => Copied::More,
        [Direction::Open, _] | [_, Direction::Open] => Copied::Blocked,
        _ => Copied::Left,
    }
}

/// The result of copying in one direction.
enum OneWay {
    Blocked,
    More,
    Ended,
    Refused { was_reset: bool },
    Broken,
}

fn copy_one_way(from: &OwnedFd, to: &OwnedFd, buffer: &mut [u8]) -> OneWay {
    for _ in 0..ROUNDS {
        let looked = recv(from, &mut *buffer, RecvFlags::PEEK | RecvFlags::DONTWAIT);
        let length = match looked {
            Ok((_, 0)) => return OneWay::Ended,
            Ok((_, length)) => length.min(buffer.len()),
            Err(Errno::AGAIN | Errno::INTR) => return OneWay::Blocked,
            Err(_) => return OneWay::Broken,
        };
        let found = buffer.get(..length).unwrap_or_default();
        let mut sent = match send(to, found, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Ok(sent) => sent,
            Err(Errno::AGAIN | Errno::INTR) => return OneWay::Blocked,
            // The kernel says so of a socket that was reset after its end.
            Err(Errno::PIPE) => return OneWay::Refused { was_reset: false },
            Err(Errno::CONNRESET) => return OneWay::Refused { was_reset: true },
            Err(_) => return OneWay::Broken,
        };
        while sent > 0 {
            let taken = buffer.get_mut(..sent).unwrap_or_default();
            match recv(from, taken, RecvFlags::TRUNC | RecvFlags::DONTWAIT) {
                Ok((_, length @ 1..)) => sent = sent.saturating_sub(length),
                _ => return OneWay::Broken,
            }
        }
    }
    OneWay::More
}
