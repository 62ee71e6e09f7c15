//! What somebody has changed outside since the layers were mounted.

use std::collections::HashSet;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use rustix::fs::Stat;

use crate::accepting::not_accepted::{NotAccepted, changed};
use crate::layer::listing::renamed;
use crate::layer::walk::{Difference, LayerEntry};
use crate::node::{is_directory, parted};
use crate::removing::first_later;
use crate::set::PendingSet;

/// Where files went that are not where they were, as far as the commands did that.
pub(crate) struct FileMoves {
    /// The files that are removed, by their handles.
    gone: Vec<Vec<u8>>,
    /// Where files are that were somewhere else before.
    moved: HashSet<PathBuf>,
    /// Whether nothing was accepted before.
    is_first: bool,
}

impl FileMoves {
    /// `within`: what goes with directories that are removed.
    pub fn of(found: &[LayerEntry], within: &[LayerEntry], set: &PendingSet) -> Self {
        let all: Vec<&LayerEntry> = found.iter().chain(within).collect();
        let removed = all.iter().filter(|one| one.what == Difference::Deleted);
        let handles = removed.filter_map(|one| one.handle.clone());
        let pairs = renamed(&all);
        let moved = pairs.keys().filter_map(|index| all.get(*index)).map(|one| one.path.clone());
        Self {
            gone: handles.filter(|handle| !handle.is_empty()).collect(),
            moved: moved.collect(),
            is_first: set.settled.is_empty(),
        }
    }

    /// Whether a file that a command has changed was removed outside.
    fn is_removed(&self, entry: &LayerEntry, set: &PendingSet) -> bool {
        // One that has more names is known by another one.
        let was_file =
            entry.inside.as_ref().is_some_and(|it| !is_directory(it) && it.st_nlink == 1);
        let is_gone = entry.handle.as_ref().is_some_and(|handle| match handle.is_empty() {
            // Without handles it can't be told from one that was moved here, once something was accepted.
            true => entry.may_be_gone && self.is_first,
            false => !self.gone.contains(handle) && !set.settled.has_removed(handle),
        });
        was_file && is_gone && !self.moved.contains(&entry.path)
    }
}

/// Refuses what somebody has changed outside since the layers were mounted.
pub(crate) fn refuse_later(
    entry: &LayerEntry,
    outside: BorrowedFd,
    set: &PendingSet,
    moves: &FileMoves,
) -> Result<(), NotAccepted> {
    let Some(seen) = &entry.outside else {
        return match moves.is_removed(entry, set) {
            true => Err(NotAccepted::because("it was removed outside".to_owned())),
            false => Ok(()),
        };
    };
    let is_ours = |path: &Path, stat: &Stat| {
        set.settled.has_put(entry.root, path, stat)
            || set.settled.has_renamed(stat)
            || is_directory(stat) && set.settled.has_below(entry.root, path)
    };
    let is_later = |path: &Path, stat: &Stat| {
        (stat.st_ctime, stat.st_ctime_nsec as i64) > set.since && !is_ours(path, stat)
    };
    // A removal that was killed has changed directories, and files with several names.
    let is_going = set.settled.is_going(entry.root, &entry.path);
    let is_edited = |_: &Path, stat: &Stat| {
        !is_directory(stat) && (stat.st_mtime, stat.st_mtime_nsec as i64) > set.since
    };
    let is_replaced = entry.inside.as_ref().is_none_or(|inside| !is_directory(inside));
    if is_directory(seen) && is_replaced {
        let (_, name) = parted(&entry.path);
        let is_later: &dyn Fn(&Path, &Stat) -> bool = if is_going { &is_edited } else { &is_later };
        let later = first_later(outside, name, &entry.path, is_later)?;
        return later.map_or(Ok(()), |path| {
            let path = set.absolute(entry.root, &path);
            Err(NotAccepted::because(format!("{} was changed outside", path.display())))
        });
    }
    // Names that come and go change the time of a directory.
    if !is_directory(seen) && is_later(&entry.path, seen) {
        return Err(changed());
    }
    Ok(())
}
