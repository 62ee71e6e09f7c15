//! Keeps layers within their bounds between sandboxes: what was not used for the longest time goes.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
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
    let Ok(found) = fs::symlink_metadata(&path) else { return Unit { path, bytes: 0, used: 0 } };
    if depth > MOST_DEPTH {
        return Unit { path, bytes: u64::MAX, used: i64::MIN };
    }
    // Directories are read by this itself.
    let read = if found.is_file() { found.atime() } else { i64::MIN };
    let own =
        Unit { bytes: found.blocks().saturating_mul(512), used: found.mtime().max(read), path };
    if !found.is_dir() {
        return own;
    }
    entries(&own.path).into_iter().map(|entry| measured(entry, depth + 1)).fold(
        own,
        |sum, entry| Unit {
            bytes: sum.bytes.saturating_add(entry.bytes),
            used: if entry.bytes == u64::MAX { i64::MIN } else { sum.used.max(entry.used) },
            path: sum.path,
        },
    )
}
