//! Puts changes into effect: each file at once, by a rename. What was changed outside meanwhile stays as it is.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use forkline_journal::NodeKind;
use rustix::fs::{FlockOperation, Mode, OFlags, Stat, flock, openat};
use rustix::io::Errno;

use crate::error::PendingError;
use crate::guard::{lost, setting};
use crate::layer::handle_of;
use crate::listing::{is_among, renamed};
use crate::node::{enter_beneath, is_directory, kind_of, look, parted, stamp};
use crate::not_accepted::{NotAccepted, changed};
use crate::putting::{Placing, put, restore_rights};
use crate::removing::{first_later, remove};
use crate::set::{PendingSet, open_set};
use crate::settled::SettledState;
use crate::walk::{Difference, LayerEntry, entries};

/// The file whose lock one process has that accepts.
const SETTLING: &str = "settling";

/// What was put into effect, or dropped.
#[derive(Debug, Clone, Default)]
pub struct Settlement {
    /// What is as the commands have left it; of what was dropped, what is as it is outside.
    pub settled: Vec<PathBuf>,
    /// What was left as it is, and why.
    pub conflicts: Vec<(PathBuf, String)>,
    /// Settings that were not asked for by their own path.
    pub held_back: Vec<(PathBuf, String)>,
}

/// Puts changes into effect. `paths`: only what is at or below these. One that was killed can be done again.
///
/// # Errors
/// There are none of this id, they can't be read, or another process accepts them.
pub fn accept(
    store: BorrowedFd,
    id: &str,
    paths: Option<&[PathBuf]>,
) -> Result<Settlement, PendingError> {
    let _settling = settling(store, id)?;
    let set = PendingSet::open(store, id)?;
    let mut found = entries(&set).all;
    // Directories first, then the objects of git's before what names them; removals last.
    found.sort_by(|one, other| (rank(one), &one.path).cmp(&(rank(other), &other.path)));
    let removals = found.iter().position(|one| one.what == Difference::Deleted);
    if let Some(gone) = removals.and_then(|at| found.get_mut(at..)) {
        gone.reverse();
    }
    let gone: Vec<Vec<u8>> = found
        .iter()
        .filter(|one| one.what == Difference::Deleted)
        .map(|one| one.handle.clone())
        .filter(|handle| !handle.is_empty())
        .collect();
    let moved = moved(&found);
    let (done, links) = (Settlement::default(), HashMap::new());
    let is_first = set.settled.is_empty();
    let mut accepting = Accepting { set, gone, moved, is_first, done, links };
    for root in &accepting.set.roots {
        if let Err(why) = &root.lower {
            accepting.done.conflicts.push((root.path.clone(), why.clone()));
        }
    }
    for entry in &found {
        accepting.take(entry, paths);
    }
    Ok(accepting.told())
}

/// Returns where files are that were somewhere else before.
fn moved(found: &[LayerEntry]) -> HashSet<PathBuf> {
    let pairs = renamed(found);
    pairs.keys().filter_map(|index| found.get(*index)).map(|one| one.path.clone()).collect()
}

fn settling(store: BorrowedFd, id: &str) -> Result<OwnedFd, PendingError> {
    let directory = open_set(store, id)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(&directory, SETTLING, flags, Mode::from_raw_mode(0o600))?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| PendingError::Busy(id.to_owned()))?;
    Ok(file)
}

/// Returns when an entry comes.
fn rank(entry: &LayerEntry) -> u8 {
    let is_made = entry.inside.as_ref().is_some_and(is_directory);
    let mut parts = entry.path.components().map(|part| part.as_os_str());
    let is_gits = parts.any(|part| part == ".git");
    let first = parts.next().and_then(|part| part.to_str()).unwrap_or_default();
    match entry.what {
        Difference::Deleted => 9,
        Difference::Created | Difference::Changed if is_made => 0,
        _ if is_made => 8,
        _ if is_gits && first == "objects" => 1,
        _ if is_gits && matches!(first, "refs" | "packed-refs" | "logs") => 3,
        _ if is_gits && first == "index" => 5,
        _ if is_gits && first.ends_with("HEAD") => 4,
        _ => 2,
    }
}

struct Accepting {
    set: PendingSet,
    /// The files that are removed, by their handles.
    gone: Vec<Vec<u8>>,
    /// Where files are that were somewhere else before.
    moved: HashSet<PathBuf>,
    /// Whether nothing was accepted before.
    is_first: bool,
    done: Settlement,
    /// Where files with several names were put, by root and inode in the layer.
    links: HashMap<(usize, u64), PathBuf>,
}

impl Accepting {
    fn take(&mut self, entry: &LayerEntry, paths: Option<&[PathBuf]>) {
        let path = self.set.absolute(entry.root, &entry.path);
        // A directory that was made is needed for what is asked for in it.
        let is_needed = |paths: &[PathBuf]| {
            entry.what == Difference::Created
                && entry.inside.as_ref().is_some_and(is_directory)
                && paths.iter().any(|one| one.starts_with(&path))
        };
        if paths.is_some_and(|paths| !is_among(&path, paths) && !is_needed(paths)) {
            return;
        }
        let is_named = paths.is_some_and(|paths| paths.contains(&path));
        let kind =
            entry.inside.as_ref().or(entry.outside.as_ref()).map_or(NodeKind::Other, kind_of);
        let why = setting(&path, kind, &self.set.guarded).or_else(|| self.lost(entry, &path));
        if let Some(why) = why.filter(|_| !is_named) {
            self.done.held_back.push((path, why.to_owned()));
            return;
        }
        match self.settle(entry) {
            Ok(()) => self.done.settled.push(path),
            Err(NotAccepted(why)) => self.done.conflicts.push((path, why)),
        }
    }

    /// Returns why a directory does not make place for something else, or nothing, but by its own path.
    fn lost(&self, entry: &LayerEntry, path: &Path) -> Option<&'static str> {
        entry.outside.as_ref().filter(|outside| is_directory(outside))?;
        if entry.inside.as_ref().is_some_and(is_directory) {
            return None;
        }
        let lower = self.set.roots.get(entry.root)?.lower.as_ref().ok()?;
        let (above, name) = parted(&entry.path);
        let is_gits = |path: &Path, _: &Stat| path.file_name() == Some(OsStr::new(".git"));
        let outside = enter_beneath(lower.as_fd(), above).ok()?;
        let found = first_later(outside.as_fd(), name, &entry.path, &is_gits);
        lost(path, !matches!(found, Ok(None)), &self.set.guarded)
    }

    fn settle(&mut self, entry: &LayerEntry) -> Result<(), NotAccepted> {
        let root = self.set.roots.get(entry.root).ok_or(Errno::NOENT)?;
        let lower = root.lower.as_ref().map_err(|why| NotAccepted(why.clone()))?;
        let (above, name) = parted(&entry.path);
        let outside = enter_beneath(lower.as_fd(), above).map_err(of_parent)?;
        let now = look(outside.as_fd(), name)?;
        if now.as_ref().map(stamp) != entry.outside.as_ref().map(stamp) {
            return Err(changed());
        }
        self.refuse_later(entry, outside.as_fd())?;
        if entry.what == Difference::Deleted {
            let handle = handle_of(outside.as_fd(), name);
            remove(outside.as_fd(), name)?;
            return self.note(entry, SettledState::Gone(handle));
        }
        let inside = enter_beneath(root.upper.as_fd(), above)?;
        let from = look(inside.as_fd(), name)?.ok_or(Errno::NOENT)?;
        let replaced = now.as_ref().map(stamp);
        let mut places = Placing { from: inside.as_fd(), to: outside.as_fd(), name, replaced };
        if matches!(entry.what, Difference::Mode | Difference::Attributes) {
            restore_rights(&places, &from)?;
        } else {
            if now.as_ref().is_some_and(|now| is_directory(now) != is_directory(&from)) {
                remove(outside.as_fd(), name)?;
                places.replaced = None;
            }
            // Where another name of the same file was put.
            let key = (entry.root, from.st_ino);
            let has_more = from.st_nlink > 1 && !is_directory(&from);
            let known = self.links.get(&key).filter(|_| has_more);
            put(&places, &from, known.map(|path| (lower.as_fd(), &**path)))?;
            if has_more {
                self.links.entry(key).or_insert_with(|| entry.path.clone());
            }
        }
        let put = look(outside.as_fd(), name)?.ok_or(Errno::NOENT)?;
        self.note(entry, SettledState::Put(stamp(&put)))
    }

    /// Refuses what somebody has changed outside since the layers were mounted.
    fn refuse_later(&self, entry: &LayerEntry, outside: BorrowedFd) -> Result<(), NotAccepted> {
        let (_, name) = parted(&entry.path);
        let Some(seen) = &entry.outside else {
            // One that has more names is known by another one.
            let was_file =
                entry.inside.as_ref().is_some_and(|it| !is_directory(it) && it.st_nlink == 1);
            let is_moved = self.gone.contains(&entry.handle)
                || self.set.settled.has_removed(&entry.handle)
                || self.moved.contains(&entry.path);
            // Without handles it can't be told from one that was moved here, once something was accepted.
            let is_gone = match entry.handle.is_empty() {
                true => entry.may_be_gone && self.is_first,
                false => true,
            };
            return match was_file && is_gone && !is_moved {
                true => Err(NotAccepted("it was removed outside".to_owned())),
                false => Ok(()),
            };
        };
        let is_put =
            |path: &Path, stat: &Stat| self.set.settled.has_put(entry.root, path, &stamp(stat));
        let is_later = |path: &Path, stat: &Stat| {
            (stat.st_ctime, stat.st_ctime_nsec as i64) > self.set.since && !is_put(path, stat)
        };
        let is_replaced = entry.inside.as_ref().is_none_or(|inside| !is_directory(inside));
        if is_directory(seen) && is_replaced {
            let later = first_later(outside, name, &entry.path, &is_later)?;
            return later.map_or(Ok(()), |path| {
                let path = self.set.absolute(entry.root, &path);
                Err(NotAccepted(format!("{} was changed outside", path.display())))
            });
        }
        // Names that come and go change the time of a directory.
        if !is_directory(seen) && is_later(&entry.path, seen) {
            return Err(changed());
        }
        Ok(())
    }

    fn note(&mut self, entry: &LayerEntry, state: SettledState) -> Result<(), NotAccepted> {
        let added = self.set.settled.add(entry.root, &entry.path, state);
        added.map_err(|error| NotAccepted(format!("it can't be noted: {error}")))
    }

    fn told(self) -> Settlement {
        let Settlement { mut settled, mut conflicts, mut held_back } = self.done;
        settled.sort();
        conflicts.sort();
        held_back.sort();
        Settlement { settled, conflicts, held_back }
    }
}

fn of_parent(errno: Errno) -> NotAccepted {
    match errno {
        Errno::NOENT | Errno::NOTDIR => {
            NotAccepted("its directory is not there outside".to_owned())
        }
        Errno::LOOP | Errno::XDEV => NotAccepted("its directory is another one outside".to_owned()),
        errno => errno.into(),
    }
}
