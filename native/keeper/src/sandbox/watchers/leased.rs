//! A new file that only its maker has open for writing, until another process opens it.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::sandbox::place;

/// A file with its content, and with a lease if the file system has leases.
pub struct LeasedFile {
    file: File,
    content: Vec<u8>,
    has_lease: bool,
}

impl LeasedFile {
    pub fn new(file: File, content: Vec<u8>) -> io::Result<LeasedFile> {
        // SAFETY: takes numbers only.
        let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) };
        let error = io::Error::last_os_error();
        if result != 0 && error.raw_os_error() == Some(libc::EAGAIN) {
            // A process has it open for writing.
            return Err(error);
        }
        let leased = LeasedFile { file, content, has_lease: result == 0 };
        if leased.is_same() { Ok(leased) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    /// Returns whether nobody has written to the file, or can do so.
    pub fn is_untouched(&self) -> bool {
        // SAFETY: takes numbers only. A lease that is being broken has become another one.
        let is_whole = !self.has_lease
            || unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_GETLEASE) } == libc::F_RDLCK;
        is_whole && self.is_same()
    }

    /// Returns whether it is this file that has the name.
    pub fn is_at(&self, path: &Path) -> io::Result<bool> {
        let file = self.file.try_clone()?.into();
        Ok(place::identity(&place::open(path)?)? == place::identity(&file)?)
    }

    fn is_same(&self) -> bool {
        let mut bytes = vec![0; self.content.len() + 1];
        let mut length = 0;
        while let Some(rest) = bytes.get_mut(length..).filter(|rest| !rest.is_empty()) {
            match self.file.read_at(rest, length as u64) {
                Ok(0) => break,
                Ok(read) => length += read,
                Err(_) => return false,
            }
        }
        bytes.get(..length) == Some(&*self.content)
    }
}
