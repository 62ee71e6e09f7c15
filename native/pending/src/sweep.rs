//! Old changes that nobody has accepted go, and such as are to be discarded, but none that are in use.

use std::cmp::Reverse;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock, fstat};
use rustix::io::Errno;

use crate::node::{enter, is_directory, look, names_in};
use crate::removing::remove;
use crate::set::lock_of;

/// The bounds of all held changes of a user.
#[derive(Debug, Clone, Copy)]
pub struct PendingBounds {
    /// The most ids.
    pub count: usize,
    /// The most bytes of all together, on the disk.
    pub bytes: u64,
    /// The highest age.
    pub age: Duration,
}

/// One that is not in use.
const DISCARDED: &str = "discard";
/// How long one may be without a sandbox at its beginning, in seconds.
const BEGINNING: i64 = 60;

struct StoredSet {
    name: std::ffi::OsString,
    at: i64,
    bytes: u64,
    is_discarded: bool,
}

/// Removes the oldest beyond some bounds, and what is to be discarded. Returns how many are gone.
///
/// # Errors
/// The directory can't be read.
pub fn sweep_pending(store: BorrowedFd, bounds: &PendingBounds) -> Result<usize, Errno> {
    let mut all = Vec::new();
    for name in names_in(store)? {
        let is_id = name.len() == 16 && name.as_encoded_bytes().iter().all(u8::is_ascii_hexdigit);
        let Ok(directory) = enter(store, &name) else { continue };
        if !is_id {
            continue;
        }
        let at = fstat(&directory)?.st_mtime;
        let is_discarded = look(directory.as_fd(), DISCARDED.as_ref())?.is_some();
        let bytes = bytes_below(directory.as_fd());
        all.push(StoredSet { name, at, bytes, is_discarded });
    }
    all.sort_by_key(|one| Reverse(one.at));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64;
    let oldest = now.saturating_sub(bounds.age.as_secs() as i64);
    let (mut kept, mut bytes, mut gone) = (0, 0, 0);
    for one in all {
        let is_beyond = kept >= bounds.count
            || one.bytes.saturating_add(bytes) > bounds.bytes
            || one.at < oldest
            || one.is_discarded && one.at < now - BEGINNING;
        if is_beyond && remove_unused(store, &one.name) {
            gone += 1;
        } else {
            kept += 1;
            bytes += one.bytes;
        }
    }
    Ok(gone)
}

fn remove_unused(store: BorrowedFd, name: &std::ffi::OsStr) -> bool {
    let Ok(directory) = enter(store, name) else { return false };
    let lock: Option<File> = lock_of(directory.as_fd()).ok().flatten();
    if let Some(lock) = &lock
        && flock(lock.as_fd(), FlockOperation::NonBlockingLockExclusive).is_err()
    {
        return false;
    }
    remove(store, name).is_ok()
}

fn bytes_below(directory: BorrowedFd) -> u64 {
    let mut bytes = 0;
    for name in names_in(directory).unwrap_or_default() {
        let Ok(Some(found)) = look(directory, &name) else { continue };
        bytes += found.st_blocks as u64 * 512;
        if is_directory(&found)
            && let Ok(below) = enter(directory, &name)
        {
            bytes += bytes_below(below.as_fd());
        }
    }
    bytes
}
