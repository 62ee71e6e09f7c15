//! Why journals can't be read.

use std::fmt;
use std::io;

/// Why the changes can't be listed, or put back.
#[derive(Debug)]
pub enum JournalError {
    /// There is no journal of this id, any more.
    Absent(String),
    /// The command runs, or another revert does.
    Busy(String),
    /// What was written can't be read: it is no journal, or one of a later version.
    Unreadable(String),
    /// The system failed.
    Failed(io::Error),
}

impl fmt::Display for JournalError {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Absent(id) => write!(to, "there is no journal {id}"),
            Self::Busy(id) => {
                write!(to, "journal {id} is in use: its command runs, or it is being reverted")
            }
            Self::Unreadable(id) => write!(to, "journal {id} can't be read by this version"),
            Self::Failed(error) => error.fmt(to),
        }
    }
}

impl std::error::Error for JournalError {}

impl From<rustix::io::Errno> for JournalError {
    fn from(errno: rustix::io::Errno) -> Self {
        Self::Failed(errno.into())
    }
}

impl From<io::Error> for JournalError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}
