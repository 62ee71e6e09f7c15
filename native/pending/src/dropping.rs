//! Drops changes: what commands have made in layers goes.

use std::collections::HashSet;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::error::PendingError;
use crate::layer::is_opaque;
use crate::layer::listing::is_among;
use crate::layer::walk::{LayerEntry, entries};
use crate::node::{enter_beneath, look, parted};
use crate::removing::remove_tree;
use crate::set::{PendingSet, lock_of, open_set};
use crate::settled::SettledState;
use crate::settlement::Settlement;

/// Drops changes: all, with the record of them, or what is at or below these paths.
///
/// # Errors
/// There are none of this id, they can't be read, or are in use.
pub fn drop_changes(
    store: BorrowedFd,
    id: &str,
    paths: Option<&[PathBuf]>,
) -> Result<Settlement, PendingError> {
    let directory = open_set(store, id)?;
    let mut set = PendingSet::open(store, id)?;
    let found = entries(&set).all;
    let _alone = alone(directory.as_fd(), id, &mut set)?;
    let mut done = Settlement::default();
    for (root, above) in directories(&found) {
        set.remove_unfinished(root, above);
    }
    if paths.is_none() {
        done.settled = found.iter().map(|one| set.absolute(one.root, &one.path)).collect();
        remove_tree(store, id.as_ref())?;
        return Ok(done);
    }
    for entry in &found {
        let path = set.absolute(entry.root, &entry.path);
        if !paths.is_some_and(|paths| is_among(&path, paths)) {
            continue;
        }
        let Some(root) = set.roots.get(entry.root) else { continue };
        match drop_one(root.upper.as_fd(), &entry.path, entry.outside.is_some()) {
            Ok(()) => {
                set.settled.add(entry.root, &entry.path, SettledState::Dropped)?;
                done.settled.push(path);
            }
            Err(Errno::NOTEMPTY) => {
                let why = "its directory was made anew: drop that".to_owned();
                done.conflicts.push((path, why));
            }
            Err(errno) => done.conflicts.push((path, std::io::Error::from(errno).to_string())),
        }
    }
    Ok(done)
}

/// The directories in which something differs, by root.
fn directories(found: &[LayerEntry]) -> HashSet<(usize, &Path)> {
    found.iter().map(|one| (one.root, parted(&one.path).0)).collect()
}

/// Takes the lock that all share which use the layers.
fn alone(
    directory: BorrowedFd,
    id: &str,
    set: &mut PendingSet,
) -> Result<Option<File>, PendingError> {
    set.unlock();
    let lock = lock_of(directory)?;
    if let Some(lock) = &lock {
        flock(lock.as_fd(), FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| PendingError::Busy(id.to_owned()))?;
    }
    Ok(lock)
}

fn drop_one(upper: BorrowedFd, path: &Path, is_outside: bool) -> Result<(), Errno> {
    let (above, name) = parted(path);
    let Ok(directory) = enter_beneath(upper, above) else { return Ok(()) };
    // Without its entry what is outside is not seen there, either.
    if is_outside && is_opaque(directory.as_fd())? {
        return Err(Errno::NOTEMPTY);
    }
    match look(directory.as_fd(), name)? {
        Some(_) => remove_tree(directory.as_fd(), name),
        None => Ok(()),
    }
}
