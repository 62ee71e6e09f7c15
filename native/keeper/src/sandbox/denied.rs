//! Sockets that the filter denies, and the text for what was denied. A process that asks for such a
//! socket waits until the denial has been told.

use std::fmt::Write;
use std::os::fd::{BorrowedFd, OwnedFd};

use crate::proc::{self, LONGEST_DESCENT};
use crate::sandbox::notices::Listener;

/// The source of the kernel's questions about denied sockets.
pub struct Denied {
    listener: Listener,
}

impl Denied {
    pub fn new(listener: OwnedFd) -> Denied {
        Denied { listener: Listener::new(listener) }
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.listener.descriptor()
    }

    /// Takes the next question. Calls `tell` with the process and the family of the socket, before that
    /// process continues.
    pub fn take(&self, tell: impl FnOnce(i32, u32)) {
        let Ok(notice) = self.listener.receive() else { return };
        let [family, ..] = notice.arguments;
        tell(notice.pid as i32, family as u32);
        self.listener.answer(&notice, Err(libc::EAFNOSUPPORT));
    }
}

/// Returns the text for a denied socket of this family.
pub fn family(family: u32) -> String {
    format!("socket={family}")
}

/// Returns the text for a denied connection: to the path of a socket, or to an address and a port.
pub fn connection(target: &str) -> String {
    format!("connect={}", one_word(target))
}

/// Encodes a text as one word.
pub fn one_word(text: &str) -> String {
    let mut word = String::new();
    for byte in text.bytes() {
        match byte {
            b'/' | b'.' | b'_' | b'-' => word.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => word.push(byte.into()),
            _ => drop(write!(word, "%{byte:02X}")),
        }
    }
    word
}

/// Returns the first among a process and its ancestors for which `is_one` is true.
pub fn ancestor_among(pid: i32, mut is_one: impl FnMut(i32) -> bool) -> Option<i32> {
    let parent = |pid: &i32| proc::stat(*pid).map(|stat| stat.parent).filter(|pid| *pid > 1);
    std::iter::successors(Some(pid), parent).take(LONGEST_DESCENT).find(|pid| is_one(*pid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_encoded_as_one_word() {
        assert_eq!(connection("/a b/ä=%"), "connect=/a%20b/%C3%A4%3D%25");
    }
}
