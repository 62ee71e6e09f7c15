//! Listeners that are closed, as the kernel tells about them.

use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SocketFlags, SocketType, bind, netlink, recv, socket_with,
};

use crate::signals;

/// The groups of sockets over TCP that are no more, by IPv4 and IPv6.
const GROUPS: u32 = 1 | 1 << 2;
/// The offset of a socket's ports in a message: behind two headers.
const PORTS: usize = 20;
/// The longest time that the kernel takes to tell.
const PATIENCE: Duration = Duration::from_millis(500);

/// The kernel's news about sockets in the network of the thread that has made it.
pub struct Closings(OwnedFd);

impl Closings {
    /// Begins to listen. None: this kernel does not tell.
    pub fn hear() -> Option<Closings> {
        let closings = subscribe().ok()?;
        // A kernel may take the request, and lack the module that tells.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?.local_addr().ok()?.port();
        let [ready] = signals::wait([Some((closings.0.as_fd(), libc::POLLIN))], Some(PATIENCE));
        (ready != 0 && closings.concern(|closed| closed == port)).then_some(closings)
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Reads all news. Returns whether one may be about a listener on such a port.
    pub fn concern(&self, is_one: impl Fn(u16) -> bool) -> bool {
        let mut found = false;
        let mut message = [0_u8; 8192];
        loop {
            match recv(&self.0, &mut message[..], RecvFlags::DONTWAIT) {
                Ok((_, length)) => {
                    found |= message.get(..length).is_some_and(|it| tells(it, &is_one))
                }
                // There were too many, and some are lost.
                Err(Errno::NOBUFS) => found = true,
                Err(_) => return found,
            }
        }
    }
}

/// Returns whether a message is about a socket that was connected to none, on such a port.
fn tells(message: &[u8], is_one: impl Fn(u16) -> bool) -> bool {
    match message.get(PORTS..).and_then(|rest| rest.first_chunk::<4>()) {
        Some([a, b, 0, 0]) => is_one(u16::from_be_bytes([*a, *b])),
        _ => false,
    }
}

fn subscribe() -> rustix::io::Result<Closings> {
    let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))?;
    bind(&socket, &netlink::SocketAddrNetlink::new(0, GROUPS))?;
    Ok(Closings(socket))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_without_another_side_are_listeners() {
        let about = |ports: [u8; 4]| [&[0; PORTS][..], &ports, &[0; 60]].concat();
        assert!(tells(&about([0x0b, 0xb8, 0, 0]), |port| port == 3000));
        assert!(!tells(&about([0x0b, 0xb9, 0, 0]), |port| port == 3000));
        assert!(!tells(&about([0x0b, 0xb8, 0, 1]), |_| true));
        assert!(!tells(&[0; 21], |_| true));
    }
}
