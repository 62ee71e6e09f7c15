//! Whether a socket was bound inside the sandbox. That is proven, not guessed: a process inside has the
//! listening socket, and the kernel tells which file it was bound to.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use crate::sandbox::warden::caller::{copy, open_process};

/// Opens the file that a socket was bound to (Linux 4.20).
const SIOCUNIXFILE: libc::c_ulong = 0x89e0;

/// Returns whether this file is the name of a socket on which a process in the sandbox listens.
pub fn have_bound_file(file: &libc::stat) -> bool {
    any_listening(|socket| {
        // SAFETY: takes a number only.
        let bound = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCUNIXFILE as _, 0) };
        if bound < 0 {
            return false;
        }
        // SAFETY: the descriptor was just opened; nothing else owns it.
        let bound = unsafe { OwnedFd::from_raw_fd(bound) };
        // Both files are open, so their inode numbers can't be reused.
        status(&bound).is_ok_and(|bound| (bound.st_dev, bound.st_ino) == (file.st_dev, file.st_ino))
    })
}

/// Returns whether a process in the sandbox listens on this abstract name.
pub fn have_bound_name(name: &[u8]) -> bool {
    any_listening(|socket| {
        let mut address = [0_u8; size_of::<libc::sockaddr_un>()];
        let mut length = address.len() as libc::socklen_t;
        // SAFETY: fills at most as many bytes as it is told.
        let result = unsafe {
            libc::getsockname(socket.as_raw_fd(), address.as_mut_ptr().cast(), &mut length)
        };
        result == 0 && address.get(2..length as usize) == Some(name)
    })
}

pub fn status(file: &OwnedFd) -> io::Result<libc::stat> {
    // SAFETY: valid as zeros; fills the structure.
    unsafe {
        let mut status: libc::stat = MaybeUninit::zeroed().assume_init();
        let result = libc::fstat(file.as_raw_fd(), &mut status);
        if result == 0 { Ok(status) } else { Err(io::Error::last_os_error()) }
    }
}

/// Returns whether `is_it` is true of a named socket on which a process in the sandbox listens.
fn any_listening(mut is_it: impl FnMut(&OwnedFd) -> bool) -> bool {
    let Some(listening) = listening() else { return false };
    let Ok(files) = fs::metadata("self/ns/mnt") else { return false };
    let Ok(entries) = fs::read_dir(".") else { return false };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    // No process leaves this mount namespace, and no process outside is in it.
    let is_inside = |pid: &i32| {
        fs::metadata(format!("{pid}/ns/mnt")).is_ok_and(|other| other.ino() == files.ino())
    };
    let mut inside = pids.filter(is_inside);
    inside.any(|pid| sockets(pid, &listening).iter().any(&mut is_it))
}

/// Returns copies of a process's sockets that are among these inodes.
fn sockets(pid: i32, among: &HashSet<String>) -> Vec<OwnedFd> {
    let Ok(process) = open_process(pid, 0) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(format!("{pid}/fd")) else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| {
        let target = fs::read_link(entry.path()).ok()?;
        let inode = target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
        if among.contains(inode) { entry.file_name().to_str()?.parse().ok() } else { None }
    });
    numbers.filter_map(|number| copy(&process, number).ok()).collect()
}

/// Returns the inodes of the listening sockets in the sandbox's network namespace.
fn listening() -> Option<HashSet<String>> {
    let table = fs::read_to_string("self/net/unix").ok()?;
    Some(table.lines().skip(1).filter_map(listening_one).map(str::to_owned).collect())
}

/// Returns the inode in a line such as `0000000000000000: 00000002 00000000 00010000 0001 01 12345
/// /run/some/socket`, if the socket listens and has a name.
fn listening_one(line: &str) -> Option<&str> {
    /// The kernel's __SO_ACCEPTCON: the socket listens.
    const ACCEPTS_CONNECTIONS: u64 = 1 << 16;
    let mut fields = line.split_ascii_whitespace();
    let accepts = u64::from_str_radix(fields.nth(3)?, 16).ok()? & ACCEPTS_CONNECTIONS != 0;
    let inode = fields.nth(2)?;
    (accepts && fields.next().is_some()).then_some(inode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listening_socket_is_told_from_a_connected_one() {
        let listens = "0000: 00000002 00000000 00010000 0001 01 12345 a b";
        assert_eq!(listening_one(listens), Some("12345"));
        assert_eq!(listening_one("0000: 00000002 00000000 00010000 0001 01 12 @name"), Some("12"));
        let connected = "0000: 00000003 00000000 00000000 0001 03 12345 /run/a";
        assert_eq!(listening_one(connected), None);
        assert_eq!(listening_one("0000: 00000002 00000000 00010000 0001 01 12"), None);
    }
}
