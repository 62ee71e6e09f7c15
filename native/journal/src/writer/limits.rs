//! What a journal is told of, and how much it may keep.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A name in a directory.
#[derive(Debug, Clone, Copy)]
pub struct NameAt<'a> {
    /// The directory, which may be open with `O_PATH`.
    pub directory: BorrowedFd<'a>,
    /// The name, without a slash.
    pub name: &'a CStr,
    /// The absolute path of the directory as it is now.
    pub above: &'a Path,
}

impl NameAt<'_> {
    /// Returns the whole path, as bytes.
    pub(crate) fn path(&self) -> Vec<u8> {
        let above = self.above.as_os_str().as_bytes();
        let above = above.strip_suffix(b"/").unwrap_or(above);
        [above, b"/", self.name.to_bytes()].concat()
    }
}

/// What is about to happen to what has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Something is made there, which was not there.
    Made,
    /// It loses the name, and is gone if it has no other: its content is saved.
    Gone,
    /// It gets another name.
    Moved,
}

/// What becomes of a call when what it changes can't be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// It is done, and told as one that can't be reverted.
    GoOn,
    /// It is refused.
    Refuse,
}

/// How much a journal keeps.
#[derive(Debug, Clone, Copy)]
pub struct JournalLimits {
    /// The most bytes, those of files and those of the log.
    pub most_bytes: u64,
    /// What becomes of a call when it would be more.
    pub when_full: WhenFull,
}

/// What a call would change can't be kept, and the call is not to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefusedByJournal;

/// Why something can't be kept.
#[derive(Debug)]
pub(crate) struct NotKept(pub String);

impl From<rustix::io::Errno> for NotKept {
    fn from(errno: rustix::io::Errno) -> Self {
        NotKept(std::io::Error::from(errno).to_string())
    }
}

impl From<std::io::Error> for NotKept {
    fn from(error: std::io::Error) -> Self {
        NotKept(error.to_string())
    }
}
