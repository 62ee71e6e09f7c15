//! The memory of another process, for the arguments of its system calls.

use std::io::{self, Error};

/// Reads from the memory of a process. Returns the number of bytes read. An error: not allowed, or not mapped.
pub fn read(pid: i32, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: buffer.len() };
    // SAFETY: the kernel fills the buffer, at most its length; it checks the address in the other process.
    let length = unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) };
    usize::try_from(length).map_err(|_| Error::last_os_error())
}

#[cfg(test)]
mod tests {
    #[test]
    fn own_memory_is_read_and_a_bad_address_is_an_error() {
        let (text, own) = (*b"some text", std::process::id() as i32);
        let mut copy = [0; 9];
        assert_eq!(super::read(own, text.as_ptr() as u64, &mut copy).ok(), Some(9));
        assert_eq!(copy, text);
        assert!(super::read(own, 16, &mut copy).is_err());
    }
}
