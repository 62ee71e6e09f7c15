//! Files in memory, for what is too long for a message.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{FromRawFd, OwnedFd};

/// A file in memory, to be read from its start; close-on-exec.
pub fn memory_file(name: &CStr, contents: &[u8]) -> io::Result<OwnedFd> {
    // SAFETY: takes a name that ends with NUL, and a number.
    let file = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made, and nobody else's.
    let mut file = unsafe { File::from_raw_fd(file) };
    file.write_all(contents)?;
    file.rewind()?;
    Ok(file.into())
}
