//! Messages over SEQPACKET sockets, and descriptors with them.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// So many descriptors come with a message at most.
const MOST: usize = 8;

/// Room for the kernel's header and [`MOST`] descriptors, aligned as it wants it.
#[repr(C, align(8))]
struct Control([u8; 16 + MOST * 4]);

/// A pair of connected sockets; both close-on-exec.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut sockets = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: fills the array.
    if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, sockets.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both have just been made, and are nobody else's.
    Ok(sockets.map(|socket| unsafe { OwnedFd::from_raw_fd(socket) }).into())
}

/// Sends a message; never blocks, and never raises SIGPIPE.
pub fn send(socket: BorrowedFd, parts: [&[u8]; 2], descriptors: &[BorrowedFd]) -> io::Result<()> {
    let parts = parts
        .map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
    let mut control = Control([0; 16 + MOST * 4]);
    let size = size_of_val(descriptors);
    // SAFETY: valid as zeros.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = parts.as_ptr().cast_mut();
    message.msg_iovlen = parts.len() as _;
    if !descriptors.is_empty() {
        if descriptors.len() > MOST {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        message.msg_control = control.0.as_mut_ptr().cast();
        // SAFETY: computes sizes alone.
        message.msg_controllen = unsafe { libc::CMSG_SPACE(size as u32) } as _;
        // SAFETY: the buffer is aligned and has room for one header and `MOST` descriptors; a
        // borrowed descriptor is an int.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(&message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size as u32) as _;
            std::ptr::copy_nonoverlapping(
                descriptors.as_ptr().cast::<u8>(),
                libc::CMSG_DATA(header),
                size,
            );
        }
    }
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    loop {
        // SAFETY: the header points to memory that outlives the call, which only reads it.
        if unsafe { libc::sendmsg(socket.as_raw_fd(), &message, flags) } >= 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// A message and what came with it.
#[derive(Debug)]
pub struct Received {
    /// How long it is; 0: the other side is gone.
    pub length: usize,
    /// Close-on-exec.
    pub descriptors: Vec<OwnedFd>,
    /// Whether something did not fit, or could not be given to us.
    pub truncated: bool,
}

/// Waits for a message, or for a signal. What is longer than `buffer` is cut off.
pub fn receive(socket: BorrowedFd, buffer: &mut [u8]) -> io::Result<Received> {
    receive_with(socket, buffer, libc::MSG_CMSG_CLOEXEC)
}

/// Takes a message if there is one, else the error is WouldBlock.
pub fn receive_now(socket: BorrowedFd, buffer: &mut [u8]) -> io::Result<Received> {
    receive_with(socket, buffer, libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT)
}

/// Takes a message if there is one, else the error is WouldBlock; its length, 0 at the end of file.
/// Descriptors that come with it are closed.
pub fn take(socket: BorrowedFd, buffer: &mut [u8]) -> io::Result<usize> {
    receive_now(socket, buffer).map(|received| received.length)
}

fn receive_with(socket: BorrowedFd, buffer: &mut [u8], flags: i32) -> io::Result<Received> {
    let part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut control = Control([0; 16 + MOST * 4]);
    // SAFETY: valid as zeros.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = (&raw const part).cast_mut();
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = control.0.len() as _;
    // SAFETY: the header points to buffers that outlive the call, with their true sizes.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &mut message, flags) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    let truncated = message.msg_flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0;
    Ok(Received { length, descriptors: descriptors_in(&message), truncated })
}

fn descriptors_in(message: &libc::msghdr) -> Vec<OwnedFd> {
    let mut descriptors = Vec::new();
    // SAFETY: the kernel has filled the control buffer, whose length the header has; SCM_RIGHTS
    // carries ints, which are descriptors made for us and known to nobody else.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while !header.is_null() {
            let is_rights =
                (*header).cmsg_level == libc::SOL_SOCKET && (*header).cmsg_type == libc::SCM_RIGHTS;
            if is_rights {
                let size = (*header).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
                let data = libc::CMSG_DATA(header).cast::<i32>();
                for index in 0..size / size_of::<i32>() {
                    descriptors.push(OwnedFd::from_raw_fd(data.add(index).read_unaligned()));
                }
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
    descriptors
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
    fn whether_the_last_message_was_taken_shows_in_how_the_channel_ends() {
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
