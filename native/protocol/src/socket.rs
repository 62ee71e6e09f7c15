//! Messages over SEQPACKET sockets, with descriptors.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::cmsg_space;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg,
    sendmsg, socketpair,
};

/// The most descriptors of a message.
const MOST: usize = 8;

/// Room for the kernel's header and [`MOST`] descriptors.
const CONTROL: usize = cmsg_space!(ScmRights(MOST));

/// Makes a pair of connected sockets; both are close-on-exec.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// Makes a pair of connected sockets that keep no borders between messages; both are close-on-exec.
pub fn stream_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

/// Sends a message; never blocks, and never raises SIGPIPE.
pub fn send(socket: BorrowedFd, parts: [&[u8]; 2], descriptors: &[BorrowedFd]) -> io::Result<()> {
    let parts = parts.map(IoSlice::new);
    let mut space = [MaybeUninit::uninit(); CONTROL];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let rights = SendAncillaryMessage::ScmRights(descriptors);
    let fits = descriptors.is_empty() || descriptors.len() <= MOST && control.push(rights);
    if !fits {
        return Err(Errno::INVAL.into());
    }
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    retry_on_intr(|| sendmsg(socket, &parts, &mut control, flags))?;
    Ok(())
}

/// A received message.
#[derive(Debug)]
pub struct Received {
    /// The length in bytes; 0: end of file.
    pub length: usize,
    /// The descriptors that came with the message; close-on-exec.
    pub descriptors: Vec<OwnedFd>,
    /// Whether the message or its descriptors did not fit, or could not be received.
    pub truncated: bool,
}

/// Waits for a message, or for a signal. A message longer than `buffer` is cut off.
pub fn receive(socket: BorrowedFd, buffer: &mut [u8]) -> io::Result<Received> {
    receive_with(socket, buffer, RecvFlags::CMSG_CLOEXEC)
}

/// Receives a message. The error is WouldBlock if there is none.
pub fn receive_now(socket: BorrowedFd, buffer: &mut [u8]) -> io::Result<Received> {
    receive_with(socket, buffer, RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT)
}

/// Receives a message, and closes its descriptors. Returns its length, 0 at the end of file; the error is
/// WouldBlock if there is none.
pub fn take(socket: BorrowedFd, buffer: &mut [u8]) -> io::Result<usize> {
    receive_now(socket, buffer).map(|received| received.length)
}

fn receive_with(socket: BorrowedFd, buffer: &mut [u8], flags: RecvFlags) -> io::Result<Received> {
    let mut space = [MaybeUninit::uninit(); CONTROL];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = recvmsg(socket, &mut [IoSliceMut::new(buffer)], &mut control, flags)?;
    let mut descriptors = Vec::new();
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = part {
            descriptors.extend(rights);
        }
    }
    let truncated = message.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC);
    Ok(Received { length: message.bytes, descriptors, truncated })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_message_comes_whole_with_its_descriptors() {
        let (ours, theirs) = pair().unwrap();
        let sent = [ours.as_fd(), theirs.as_fd()];
        send(ours.as_fd(), [b"ab", b"c"], &sent).unwrap();
        send(ours.as_fd(), [b"d", b""], &[]).unwrap();
        let mut buffer = [0; 16];
        let first = receive(theirs.as_fd(), &mut buffer).unwrap();
        assert_eq!((&buffer[..3], first.length, first.descriptors.len()), (&b"abc"[..], 3, 2));
        assert!(!first.truncated);
        assert_eq!(take(theirs.as_fd(), &mut buffer).unwrap(), 1);
        let none = take(theirs.as_fd(), &mut buffer).unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::WouldBlock);
        drop((ours, first));
        assert_eq!(take(theirs.as_fd(), &mut buffer).unwrap(), 0);
    }

    #[test]
    fn the_end_of_a_channel_shows_whether_the_last_message_was_read() {
        for taken in [false, true] {
            let (ours, theirs) = pair().unwrap();
            send(ours.as_fd(), [b"request", b""], &[]).unwrap();
            let mut buffer = [0; 16];
            if taken {
                take(theirs.as_fd(), &mut buffer).unwrap();
            }
            drop(theirs);
            let end = take(ours.as_fd(), &mut buffer);
            match taken {
                true => assert_eq!(end.unwrap(), 0),
                false => assert_eq!(end.unwrap_err().kind(), io::ErrorKind::ConnectionReset),
            }
        }
    }
}
