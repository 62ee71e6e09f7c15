//! The network of a sandbox without one: a loopback of its own. And who listens outside.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::PathBuf;

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

/// The sockets with a path that somebody listens at, in this process's network. An error: nobody can
/// say, as without `/proc`.
pub fn listening_paths() -> io::Result<Vec<PathBuf>> {
    let table = fs::read_to_string("/proc/net/unix")?;
    let mut paths: Vec<PathBuf> = table.lines().skip(1).filter_map(listening_path).collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// Of a line such as `0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/some/socket`.
fn listening_path(line: &str) -> Option<PathBuf> {
    let mut rest = line;
    let mut field = || {
        let (field, after) = rest.trim_start().split_once(' ')?;
        rest = after;
        Some(field)
    };
    let [_, _, _, flags, kind, _] = [field()?, field()?, field()?, field()?, field()?, field()?];
    // The inode; a socket without a name has nothing after it.
    field()?;
    // A datagram's needs nobody who listens.
    let accepts = u64::from_str_radix(flags, 16).ok()? & 0x1_0000 != 0 || kind == "0002";
    (accepts && rest.starts_with('/')).then(|| PathBuf::from(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_listens_is_told_from_who_is_connected() {
        let listens = "0000: 00000002 00000000 00010000 0001 01 12345 /run/a b";
        assert_eq!(listening_path(listens), Some("/run/a b".into()));
        let connected = "0000: 00000003 00000000 00000000 0001 03 12345 /run/a";
        assert_eq!(listening_path(connected), None);
        let datagram = "0000: 00000002 00000000 00000000 0002 01    17 /run/log";
        assert_eq!(listening_path(datagram), Some("/run/log".into()));
        assert_eq!(listening_path("0000: 00000002 00000000 00010000 0001 01 12 @name"), None);
        assert_eq!(listening_path("0000: 00000002 00000000 00010000 0001 01 12"), None);
    }
}
