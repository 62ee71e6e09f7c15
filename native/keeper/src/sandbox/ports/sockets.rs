//! TCP sockets of the loopback interface. A socket belongs to the network of the thread that makes it.

use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SocketFlags, SocketType, bind, connect, getpeername, listen, recv,
    socket_with, sockopt,
};

/// How far a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connecting {
    Done,
    Pending,
}

/// The connections that wait to be accepted.
const BACKLOG: i32 = 4096;

/// The addresses of the loopback interface; programs take `localhost` for either.
pub const LOOPBACK: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

/// Begins to connect a new socket.
pub fn begin(target: &SocketAddr) -> Result<(OwnedFd, Connecting), Errno> {
    let socket = made(target)?;
    match connect(&socket, target) {
        Ok(()) => Ok((socket, Connecting::Done)),
        Err(Errno::INPROGRESS) => Ok((socket, Connecting::Pending)),
        Err(error) => Err(error),
    }
}

/// Returns how far a connection is. The error is that of the connection.
pub fn progress(socket: &OwnedFd) -> Result<Connecting, Errno> {
    sockopt::socket_error(socket)??;
    match getpeername(socket) {
        Ok(_) => Ok(Connecting::Done),
        Err(Errno::NOTCONN) => Ok(Connecting::Pending),
        Err(error) => Err(error),
    }
}

/// Returns whether the other side has not closed the connection.
pub fn is_open(socket: &OwnedFd) -> bool {
    match recv(socket, &mut [0][..], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
        Ok((_, length)) => length > 0,
        Err(error) => error == Errno::AGAIN,
    }
}

/// Returns whether all that was sent is in the other side's kernel, so that a reset takes nothing of it back; or
/// nothing is sent any more.
pub fn is_delivered(socket: &OwnedFd) -> bool {
    if getpeername(socket).is_err() {
        return true;
    }
    let mut left: i32 = 0;
    // SAFETY: the kernel writes a number of this type.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut left) };
    result != 0 || left == 0
}

/// Has the other side see a reset when the socket is closed: no data is taken for a whole answer.
pub fn reset(socket: &OwnedFd) {
    let _ = sockopt::set_socket_linger(socket, Some(Duration::ZERO));
}

/// Listens on a port of both loopback addresses; of IPv4 alone where there is no other. 0: any port, the
/// same for both.
pub fn listen_on(port: u16) -> io::Result<Vec<TcpListener>> {
    let [four, six] = LOOPBACK;
    let first = listener(&SocketAddr::new(four, port))?;
    let port = first.local_addr()?.port();
    match listener(&SocketAddr::new(six, port)) {
        Ok(second) => Ok(vec![first, second]),
        Err(Errno::ADDRNOTAVAIL | Errno::AFNOSUPPORT) => Ok(vec![first]),
        Err(error) => Err(error.into()),
    }
}

fn listener(address: &SocketAddr) -> Result<TcpListener, Errno> {
    let socket = made(address)?;
    // A port whose last connections wait out their time can be listened on again.
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    bind(&socket, address)?;
    listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

fn made(address: &SocketAddr) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(family, SocketType::STREAM, flags, None)
}

/// Opens a descriptor that can be given up later.
pub fn spare() -> Option<OwnedFd> {
    File::open("/dev/null").ok().map(OwnedFd::from)
}
