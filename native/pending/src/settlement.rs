//! What became of changes that were accepted, or dropped.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, openat};

use crate::error::PendingError;
use crate::set::open_set;

/// The file whose lock one process has that accepts.
const SETTLING: &str = "settling";

/// What was put into effect, or dropped.
#[derive(Debug, Clone, Default)]
pub struct Settlement {
    /// What is as the commands have left it; of what was dropped, what is as it is outside.
    pub settled: Vec<PathBuf>,
    /// What was left as it is, and why.
    pub conflicts: Vec<(PathBuf, String)>,
    /// Settings that were not asked for by their own path, and rights that are never accepted.
    pub held_back: Vec<(PathBuf, String)>,
}

impl Settlement {
    pub(crate) fn sorted(mut self) -> Self {
        self.settled.sort();
        self.conflicts.sort();
        self.held_back.sort();
        self
    }
}

/// Takes the lock of those who accept; it is held until the descriptor is closed.
pub(crate) fn settling(store: BorrowedFd, id: &str) -> Result<OwnedFd, PendingError> {
    let directory = open_set(store, id)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(&directory, SETTLING, flags, Mode::from_raw_mode(0o600))?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| PendingError::Busy(id.to_owned()))?;
    Ok(file)
}
