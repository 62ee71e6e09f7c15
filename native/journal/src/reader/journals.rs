//! Opens journals in the store.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;

use crate::log::{ReadLog, read_log};
use crate::node::{Moment, look};
use crate::reader::error::JournalError;
use crate::record::{LogRecord, VERSION};
use crate::store::{LOG, REVERTS};

/// A journal that was read.
#[derive(Debug)]
pub(crate) struct OpenJournal {
    pub directory: OwnedFd,
    /// It holds the lock.
    _log: File,
    pub log: ReadLog,
    /// When the log was written to last.
    pub written: Moment,
    pub reverts: ReadLog,
    /// When a revert wrote last.
    pub reverted: Option<Moment>,
}

/// Opens and reads a journal. `is_exclusive`: it waits for nothing, but is refused while anyone else has it.
pub(crate) fn open(
    store: BorrowedFd,
    id: &str,
    is_exclusive: bool,
) -> Result<OpenJournal, JournalError> {
    let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let absent = || JournalError::Absent(id.to_owned());
    if !is_id {
        return Err(absent());
    }
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = |errno: Errno| if errno == Errno::NOENT { absent() } else { errno.into() };
    let directory = openat(store, id, flags, Mode::empty()).map_err(found)?;
    let file = |name: &str| {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&directory, name, flags, Mode::empty())
    };
    let log = File::from(file(LOG).map_err(found)?);
    if is_exclusive {
        match flock(&log, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => return Err(JournalError::Busy(id.to_owned())),
            locked => locked?,
        }
    }
    let (mut reverts, mut reverted) = (ReadLog::default(), None);
    match file(REVERTS) {
        Ok(file) => {
            reverted = Some(look(file.as_fd())?.modified);
            reverts = read_log(File::from(file))?;
        }
        Err(Errno::NOENT) => {}
        Err(errno) => return Err(errno.into()),
    }
    let (written, read) = (look(log.as_fd())?.modified, read_log(&log)?);
    match read.records.first() {
        Some(LogRecord::Begun { version: VERSION, .. }) => {}
        // Who was to write it was killed: then the call was not done either.
        None if !read.is_damaged => {}
        _ => return Err(JournalError::Unreadable(id.to_owned())),
    }
    Ok(OpenJournal { directory, _log: log, log: read, written, reverts, reverted })
}
