//! The network of a sandbox without network access: a loopback interface of its own.

use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use forkline_protocol::{News, send};

use crate::sandbox::kept::patiently;
use crate::sandbox::plan::{Plan, Require};
use crate::sandbox::report::{Mechanism, Protection, SetupError};

/// The longest time that the host may take; if it ends, it ends the sandbox as well.
const PATIENCE: Duration = Duration::from_secs(60);

/// Activates the loopback interface.
pub fn start_loopback() -> io::Result<()> {
    // SAFETY: takes numbers only.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just made; nothing else owns it.
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

/// Has the host serve the proxy. Returns the mechanism that enforces the network's protection.
pub fn serve(plan: &Plan, lifeline: BorrowedFd) -> Result<Mechanism, SetupError> {
    let Some(port) = plan.proxy else { return Ok(Mechanism::Namespace) };
    match have_served(port, lifeline) {
        Ok(()) => Ok(Mechanism::Proxy),
        Err(_) if plan.require == Require::BestEffort => Ok(Mechanism::Namespace),
        Err(error) => {
            let action = "having the host serve the proxy (the host may have no descriptors left)";
            Err(SetupError::of(Protection::Network, action)(error))
        }
    }
}

/// Has the host serve a port of the loopback interface. Returns once the host has answered.
fn have_served(port: u16, lifeline: BorrowedFd) -> io::Result<()> {
    let listening: OwnedFd = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?.into();
    let (mut answer, theirs) = io::pipe()?;
    let news = News::Listens.encode();
    let sent = [listening.as_fd(), theirs.as_fd()];
    if !patiently(|| send(lifeline, [&news, b""], &sent)) {
        return Err(io::Error::from_raw_os_error(libc::EPIPE));
    }
    drop((listening, theirs));
    let mut poll = libc::pollfd { fd: answer.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one structure, which is filled.
    let is_answered = unsafe { libc::poll(&mut poll, 1, PATIENCE.as_millis() as i32) } == 1;
    match is_answered && answer.read(&mut [0])? == 1 {
        true => Ok(()),
        false => Err(io::Error::from_raw_os_error(libc::ECONNREFUSED)),
    }
}
