//! Old journals go, so that the store stays bounded, but none that is written or read.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::fs::{
    AtFlags, Dir, FlockOperation, Mode, OFlags, flock, fstat, openat, statat, unlinkat,
};

use crate::node::now;
use crate::store::LOG;

/// The bounds of a store.
#[derive(Debug, Clone, Copy)]
pub struct StoreBounds {
    /// The most journals, or whatever it has.
    pub count: usize,
    /// The most bytes of all together, on the disk.
    pub bytes: u64,
    /// The highest age.
    pub age: Duration,
}

/// The bounds of what is kept for a user.
pub const KEPT_BOUNDS: StoreBounds =
    StoreBounds { count: 1000, bytes: 4 << 30, age: Duration::from_secs(14 * 24 * 3600) };

/// What is found of one without reading it.
pub struct StoredOne {
    /// Its id.
    pub id: String,
    /// When something was last added, in seconds since 1970.
    pub at: i64,
    /// The bytes on the disk.
    pub bytes: u64,
}

/// Removes the oldest journals beyond some bounds, except those in use. Returns how many are gone.
///
/// # Errors
/// The store can't be read.
pub fn sweep(store: BorrowedFd, bounds: &StoreBounds) -> io::Result<usize> {
    let all = ids_in(store)?.into_iter().filter_map(|id| look_at(store, id)).collect();
    Ok(remove_oldest(all, bounds, |id| remove(store, id)))
}

/// Removes the oldest beyond some bounds. Returns how many are gone. `remove`: returns false for one that is in use.
pub fn remove_oldest(
    mut all: Vec<StoredOne>,
    bounds: &StoreBounds,
    remove: impl Fn(&str) -> bool,
) -> usize {
    all.sort_by_key(|one| std::cmp::Reverse(one.at));
    let oldest = now().seconds.saturating_sub(bounds.age.as_secs() as i64);
    let (mut kept, mut bytes, mut gone) = (0, 0, 0);
    for one in all {
        let is_beyond = kept >= bounds.count
            || one.bytes.saturating_add(bytes) > bounds.bytes
            || one.at < oldest;
        if is_beyond && remove(&one.id) {
            gone += 1;
        } else {
            kept += 1;
            bytes += one.bytes;
        }
    }
    gone
}

/// Returns the names in a store that are ids, and no others.
///
/// # Errors
/// The store can't be read.
pub fn ids_in(store: BorrowedFd) -> io::Result<Vec<String>> {
    let entries = Dir::read_from(store)?.flatten();
    let names = entries.filter_map(|entry| entry.file_name().to_str().ok().map(ToOwned::to_owned));
    Ok(names.filter(|name| is_id(name)).collect())
}

/// Returns whether a name is an id.
pub fn is_id(name: &str) -> bool {
    name.len() == 16 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn open(store: BorrowedFd, id: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(store, id, flags, Mode::empty())?)
}

fn files(directory: &OwnedFd) -> Vec<std::ffi::CString> {
    let entries = Dir::read_from(directory).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_owned());
    names.filter(|name| !matches!(name.to_bytes(), b"." | b"..")).collect()
}

fn look_at(store: BorrowedFd, id: String) -> Option<StoredOne> {
    let directory = open(store, &id).ok()?;
    let mut found = StoredOne { id, at: 0, bytes: 0 };
    for name in files(&directory) {
        let Ok(status) = statat(&directory, &*name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        found.at = found.at.max(status.st_mtime);
        found.bytes += status.st_blocks as u64 * 512;
    }
    if found.at == 0 {
        // One that is just being begun has no files yet.
        found.at = fstat(&directory).ok()?.st_mtime;
    }
    Some(found)
}

/// Removes a journal. Returns false if it is in use, or can't be removed.
fn remove(store: BorrowedFd, id: &str) -> bool {
    let Ok(directory) = open(store, id) else { return false };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    // Held until it is gone: nobody begins to read it meanwhile. One without a log was never begun.
    let log = openat(&directory, LOG, flags, Mode::empty()).map(File::from);
    if let Ok(log) = &log
        && flock(log.as_fd(), FlockOperation::NonBlockingLockExclusive).is_err()
    {
        return false;
    }
    for name in files(&directory) {
        let _ = unlinkat(&directory, &*name, AtFlags::empty());
    }
    unlinkat(store, id, AtFlags::REMOVEDIR).is_ok()
}
