//! The network of a sandbox without one: a loopback of its own.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Brings it up.
pub fn start_loopback() -> io::Result<()> {
    // SAFETY: takes numbers only.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made, and nobody else's.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    // SAFETY: valid as zeros.
    let mut request: libc::ifreq = unsafe { std::mem::MaybeUninit::zeroed().assume_init() };
    for (place, byte) in request.ifr_name.iter_mut().zip(b"lo") {
        *place = *byte as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: reads the structure.
    let result =
        unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A socket of the loopback, for whoever serves it.
pub fn listen(port: u16) -> io::Result<OwnedFd> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, port))?.into())
}
