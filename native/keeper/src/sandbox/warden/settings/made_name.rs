//! A name that is made for a caller.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, OwnedFd};

/// A name in an open directory.
pub struct MadeName {
    pub directory: OwnedFd,
    pub name: CString,
    /// Whether the path ends with a slash.
    pub is_directory: bool,
}

impl MadeName {
    /// Returns the directory and the name, for system calls.
    pub fn raw(&self) -> (i32, &CStr) {
        (self.directory.as_raw_fd(), &self.name)
    }
}

/// Returns the path of an open file below the working directory, which is `/proc`.
pub fn opened(file: &OwnedFd) -> CString {
    CString::new(format!("self/fd/{}", file.as_raw_fd())).unwrap_or_default()
}

/// Returns the errno of the last call.
pub fn last_errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EACCES)
}
