//! Old changes that nobody has accepted go, and such as are to be discarded, but none that are in use.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{SystemTime, UNIX_EPOCH};

use forkline_journal::{StoreBounds, StoredOne, ids_in, remove_oldest};
use rustix::fs::{FlockOperation, flock, fstat};
use rustix::io::Errno;

use crate::layer::walk::MOST_DEPTH;
use crate::node::{enter, is_directory, look, names_in};
use crate::removing::remove_tree;
use crate::set::lock_of;

/// The name of a file in what is to be discarded.
const DISCARDED: &str = "discard";
/// How long one may be without a sandbox at its beginning, in seconds.
const BEGINNING: i64 = 60;

/// Removes the oldest beyond some bounds, and what is to be discarded. Returns how many are gone.
///
/// # Errors
/// The directory can't be read.
pub fn sweep_pending(store: BorrowedFd, bounds: &StoreBounds) -> io::Result<usize> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as i64;
    let (mut all, mut gone) = (Vec::new(), 0);
    for id in ids_in(store)? {
        let Ok(directory) = enter(store, id.as_ref()) else { continue };
        let at = fstat(&directory)?.st_mtime;
        let is_discarded = look(directory.as_fd(), DISCARDED.as_ref())?.is_some();
        if is_discarded && at < now - BEGINNING && remove_unused(store, &id) {
            gone += 1;
            continue;
        }
        all.push(StoredOne { id, at, bytes: bytes_below(directory.as_fd(), 0) });
    }
    Ok(gone + remove_oldest(all, bounds, |id| remove_unused(store, id)))
}

/// Removes one. Returns false if it is in use, or can't be removed.
fn remove_unused(store: BorrowedFd, id: &str) -> bool {
    let unused = || -> Result<(), Errno> {
        let directory = enter(store, id.as_ref())?;
        // Held until it is gone. One without it was never mounted.
        let lock = lock_of(directory.as_fd())?;
        if let Some(lock) = &lock {
            flock(lock.as_fd(), FlockOperation::NonBlockingLockExclusive)?;
        }
        remove_tree(store, id.as_ref())
    };
    unused().is_ok()
}

fn bytes_below(directory: BorrowedFd, depth: usize) -> u64 {
    let mut bytes = 0;
    for name in names_in(directory).unwrap_or_default() {
        let Ok(Some(found)) = look(directory, &name) else { continue };
        bytes += found.st_blocks as u64 * 512;
        if is_directory(&found)
            && depth < MOST_DEPTH
            && let Ok(below) = enter(directory, &name)
        {
            bytes += bytes_below(below.as_fd(), depth + 1);
        }
    }
    bytes
}
