//! Why held changes can't be used.

use std::fmt;
use std::io;

use rustix::io::Errno;

/// Why held changes can't be listed, accepted or dropped.
#[derive(Debug)]
pub enum PendingError {
    /// There are none of this id, any more.
    Absent(String),
    /// A command runs over them, or they are being settled.
    Busy(String),
    /// What was written about them makes no sense: another version has written it, or something else.
    Unreadable(String),
    /// The system failed.
    Failed(io::Error),
}

impl fmt::Display for PendingError {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Absent(id) => write!(to, "there are no held changes {id}"),
            Self::Busy(id) => {
                write!(
                    to,
                    "held changes {id} are in use: their sandbox stands, or they are being settled"
                )
            }
            Self::Unreadable(id) => write!(to, "held changes {id} can't be read by this version"),
            Self::Failed(error) => error.fmt(to),
        }
    }
}

impl std::error::Error for PendingError {}

impl From<Errno> for PendingError {
    fn from(errno: Errno) -> Self {
        Self::Failed(errno.into())
    }
}

impl From<io::Error> for PendingError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}
