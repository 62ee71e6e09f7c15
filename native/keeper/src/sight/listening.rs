//! The TCP ports on which processes listen.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::mem::MaybeUninit;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use super::descriptors;

/// The most bytes of a table of sockets that are looked at; listening ones come first.
const MOST_BYTES: u64 = 256 * 1024;

/// The kernel's tables of sockets, read where sockets can't be asked themselves: a machine may take tens of
/// milliseconds to write them.
#[derive(Default)]
pub struct Tables(Option<HashMap<u64, u16>>);

/// Returns the TCP ports on which a process listens, each once.
pub fn ports(pid: i32, tables: &mut Tables) -> Vec<u16> {
    let open = descriptors::all(pid).unwrap_or_default();
    let numbered = |(number, target): &(i32, Vec<u8>)| {
        Some((*number, descriptors::numbered(target, "socket:[")?))
    };
    let sockets: Vec<(i32, u64)> = open.iter().filter_map(numbered).collect();
    if sockets.is_empty() {
        return Vec::new();
    }
    let process = pidfd(pid);
    let mut ports = Vec::new();
    for (number, inode) in sockets {
        match process.as_ref().and_then(|process| copy_of(process, number)) {
            Some(socket) => ports.extend(port_of(socket)),
            None => ports.extend(tables.of(pid).get(&inode)),
        }
    }
    ports.sort_unstable();
    ports.dedup();
    ports
}

fn pidfd(pid: i32) -> Option<OwnedFd> {
    // SAFETY: takes numbers only.
    let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as RawFd;
    // SAFETY: the descriptor was just opened; nothing else owns it.
    (pidfd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(pidfd) })
}

/// Returns a descriptor of another process as one of this process.
fn copy_of(process: &OwnedFd, number: i32) -> Option<OwnedFd> {
    // SAFETY: takes numbers only.
    let copy = unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number, 0) };
    let copy = copy as RawFd;
    // SAFETY: the descriptor was just opened; nothing else owns it.
    (copy >= 0).then(|| unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Returns the port of a socket that listens. None: it does not, or not to TCP.
fn port_of(socket: OwnedFd) -> Option<u16> {
    let option = |name: i32| {
        let (mut value, mut size) = (MaybeUninit::<i32>::zeroed(), size_of::<i32>() as u32);
        let (place, descriptor) = (value.as_mut_ptr().cast(), socket.as_raw_fd());
        // SAFETY: fills at most four bytes of the value.
        let got = unsafe { libc::getsockopt(descriptor, libc::SOL_SOCKET, name, place, &mut size) };
        // SAFETY: valid as zeros too.
        (got == 0).then(|| unsafe { value.assume_init() })
    };
    if option(libc::SO_ACCEPTCONN)? == 0 || option(libc::SO_TYPE)? != libc::SOCK_STREAM {
        return None;
    }
    // Of other families, such as Unix sockets, there is no such address.
    Some(TcpListener::from(socket).local_addr().ok()?.port())
}

impl Tables {
    /// The listening sockets of the network that a process is in, and their ports.
    fn of(&mut self, pid: i32) -> &HashMap<u64, u16> {
        self.0.get_or_insert_with(|| {
            let tables = ["tcp", "tcp6"].map(|name| {
                let mut text = String::new();
                if let Ok(file) = File::open(format!("/proc/{pid}/net/{name}")) {
                    // What is not read is not known.
                    let _ = file.take(MOST_BYTES).read_to_string(&mut text);
                }
                text
            });
            tables.iter().flat_map(|table| table.lines().filter_map(entry)).collect()
        })
    }
}

/// Parses a line: number, local address, remote address, state (`0A`: listening), …, inode.
fn entry(line: &str) -> Option<(u64, u16)> {
    let mut words = line.split_ascii_whitespace();
    let local = words.nth(1)?;
    let state = words.nth(1)?;
    let inode = words.nth(5)?.parse().ok()?;
    let port = u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok()?;
    (state == "0A").then_some((inode, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_parsed() {
        let line = "   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0";
        assert_eq!(entry(line), Some((4711, 3000)));
        assert_eq!(entry(&line.replace(" 0A ", " 01 ")), None);
        assert_eq!(entry("  sl  local_address rem_address   st"), None);
    }

    #[test]
    fn a_socket_that_listens_is_found_and_others_are_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let other = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (udp, mut tables) =
            (std::net::UdpSocket::bind("127.0.0.1:0").unwrap(), Tables::default());
        let found = ports(std::process::id() as i32, &mut tables);
        assert!(found.contains(&port));
        assert!(!found.contains(&other.local_addr().unwrap().port()));
        assert!(!found.contains(&udp.local_addr().unwrap().port()) || tables.0.is_some());
        assert!(tables.of(std::process::id() as i32).values().any(|known| *known == port));
    }
}
