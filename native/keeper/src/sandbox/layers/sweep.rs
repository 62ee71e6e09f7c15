//! Keeps layers within their bounds between sandboxes: what was not used for the longest time goes.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::FlockOperation;

use super::removal::remove;
use super::requested::USED;
use super::store::{Layers, MOST_SLOTS, hold_still, lock, tell_others};
use crate::sandbox::plan::Plan;

/// How long the layers of a workspace stay that is not used.
const LONGEST_UNUSED: Duration = Duration::from_secs(30 * 24 * 3600);

/// What is nested deeper is not counted, and goes first.
const MOST_DEPTH: usize = 200;

/// What begins so is to be removed.
const REMOVED: &str = ".removed-";

/// An entry at the top of a layer, such as the cache of one tool: all of it goes, or nothing, since a
/// tool may rely on a cache to be whole.
struct Unit {
    path: PathBuf,
    bytes: u64,
    /// When a file in it was last made, changed or read, in seconds since 1970.
    used: i64,
}

/// Removes what is too much, unless another sandbox of the workspace stands; and the layers of workspaces
/// that are gone, or were not used for long. To be called outside, when nothing of the sandbox is left.
pub fn sweep(layers: &Layers, plan: &Plan) {
    let directory = layers.directory();
    let Some(parent) = directory.parent() else { return };
    let _ = tell_others(directory);
    let units = units(directory);
    let victims = if units.is_empty() { Vec::new() } else { beyond(plan.caches.most_bytes, units) };
    let is_empty = victims.is_empty() && self::units(directory).is_empty();
    let others = entries(parent).into_iter().filter(|other| other != directory);
    let unused: Vec<PathBuf> = others.filter(|other| is_unused(other)).collect();
    if is_empty || !victims.is_empty() || !unused.is_empty() {
        let Ok(_still) = hold_still(directory, FlockOperation::LockExclusive) else { return };
        let mut aside = Aside { parent, count: 0 };
        if let Some(_held) = hold_all(directory, layers.own()) {
            victims.iter().for_each(|victim| aside.take(victim));
            // In between another one may have written there.
            if is_empty && self::units(directory).is_empty() {
                aside.take(directory);
            }
        }
        for other in &unused {
            if let Some(_held) = hold_all(other, None) {
                aside.take(other);
            }
        }
    }
    let is_removed = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_bytes().starts_with(REMOVED.as_bytes()))
    };
    entries(parent).iter().filter(|path| is_removed(path)).for_each(|path| remove(path));
}

/// Where directories are put that are to be removed: removing them takes longer than others can wait.
struct Aside<'a> {
    parent: &'a Path,
    count: usize,
}

impl Aside<'_> {
    fn take(&mut self, path: &Path) {
        self.count += 1;
        // A directory that can't be written to can't be moved to another one.
        if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
            let _ = fs::set_permissions(path, Permissions::from_mode(0o700));
        }
        let name = format!("{REMOVED}{}-{}", std::process::id(), self.count);
        let _ = fs::rename(path, self.parent.join(name));
    }
}

/// Holds the layers of all sandboxes but one's own. None: a sandbox stands.
fn hold_all(directory: &Path, own: Option<usize>) -> Option<Vec<File>> {
    let others = (0..MOST_SLOTS).filter(|slot| Some(*slot) != own);
    let places = others.filter(|slot| directory.join(slot.to_string()).exists());
    places.map(|slot| lock(directory, slot)).collect()
}

fn is_unused(directory: &Path) -> bool {
    let used = directory.join(USED);
    let Ok(workspace) = fs::read(&used) else { return false };
    let workspace = Path::new(OsStr::from_bytes(&workspace));
    let age = fs::metadata(&used).and_then(|found| found.modified());
    let age = age.map(|at| SystemTime::now().duration_since(at).unwrap_or_default());
    !workspace.exists() || age.is_ok_and(|age| age > LONGEST_UNUSED)
}

/// Returns what has to go, those that were not used for the longest time.
fn beyond(most: u64, mut units: Vec<Unit>) -> Vec<PathBuf> {
    units.sort_by_key(|unit| std::cmp::Reverse(unit.used));
    let mut total = 0_u64;
    let mut is_beyond = |unit: &Unit| {
        total = total.saturating_add(unit.bytes);
        total > most
    };
    units.into_iter().filter(|unit| is_beyond(unit)).map(|unit| unit.path).collect()
}

fn units(directory: &Path) -> Vec<Unit> {
    let slots = (0..MOST_SLOTS).flat_map(|slot| entries(&directory.join(slot.to_string())));
    let layers = slots.flat_map(|layer| [layer.join("upper"), layer.join("plain")]);
    let tops = layers.chain(entries(&directory.join("voids"))).flat_map(|top| entries(&top));
    tops.map(|path| measured(path, 0)).collect()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn measured(path: PathBuf, depth: usize) -> Unit {
    let found = match fs::symlink_metadata(&path) {
        Ok(found) if depth <= MOST_DEPTH => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Unit { path, bytes: 0, used: i64::MIN };
        }
        // Such as in directories whose names are too long together.
        _ => return uncounted(path),
    };
    // Directories are read by this itself.
    let read = if found.is_file() { found.atime() } else { i64::MIN };
    let mut unit =
        Unit { bytes: found.blocks().saturating_mul(512), used: found.mtime().max(read), path };
    if !found.is_dir() {
        return unit;
    }
    let Ok(entries) = fs::read_dir(&unit.path) else { return uncounted(unit.path) };
    for entry in entries.flatten().map(|entry| measured(entry.path(), depth + 1)) {
        if entry.bytes == u64::MAX {
            return uncounted(unit.path);
        }
        unit.bytes = unit.bytes.saturating_add(entry.bytes);
        unit.used = unit.used.max(entry.used);
    }
    unit
}

/// What can't be counted goes first.
fn uncounted(path: PathBuf) -> Unit {
    Unit { path, bytes: u64::MAX, used: i64::MIN }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(name: &str, bytes: u64, used: i64) -> Unit {
        Unit { path: name.into(), bytes, used }
    }

    #[test]
    fn what_was_not_used_for_longest_goes_and_before_it_what_cannot_be_counted() {
        let units = || vec![unit("old", 5, 1), unit("new", 5, 3), unit("middle", 5, 2)];
        let names = |paths: Vec<PathBuf>| {
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(names(beyond(15, units())), Vec::<String>::new());
        assert_eq!(names(beyond(14, units())), ["old"]);
        assert_eq!(names(beyond(5, units())), ["middle", "old"]);
        assert_eq!(names(beyond(0, units())), ["new", "middle", "old"]);
        let mut more = units();
        more.push(uncounted("deep".into()));
        assert_eq!(names(beyond(15, more)), ["deep"]);
    }

    #[test]
    fn files_that_cannot_be_reached_by_their_paths_are_not_overlooked() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("top");
        fs::create_dir(&top).unwrap();
        assert!(measured(top.clone(), 0).bytes < 100_000);
        let name = "n".repeat(250);
        let mut at =
            rustix::fs::open(&top, rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty()).unwrap();
        for _ in 0..20 {
            rustix::fs::mkdirat(&at, &*name, rustix::fs::Mode::RWXU).unwrap();
            at = rustix::fs::openat(
                &at,
                &*name,
                rustix::fs::OFlags::RDONLY,
                rustix::fs::Mode::empty(),
            )
            .unwrap();
        }
        assert_eq!(measured(top.clone(), 0).bytes, u64::MAX);
        remove(&top);
        assert!(!top.exists());
    }
}
