//! Keeps layers within their bounds between sandboxes: what was not used for the longest time goes.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use forkline_pending::REMOVED;
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, openat};

use super::owner;
use super::removal::remove;
use super::requested::USED;
use super::store::{Layers, MOST_SLOTS, hold_alone, hold_still, set_written, tell_others};
use crate::sandbox::plan::Plan;

/// How long the layers of a workspace stay that is not used.
const LONGEST_UNUSED: Duration = Duration::from_secs(30 * 24 * 3600);

/// What is nested deeper is not counted, and goes first.
const MOST_DEPTH: usize = 200;

/// How long a removal waits for sandboxes that are being made. The next one may remove it, too.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most bytes of the file that names a workspace.
const MOST_NAME: u64 = 8192;

/// An entry at the top of a layer, such as the cache of one tool: all of it goes, or nothing, since a
/// tool may rely on a cache to be whole.
struct Unit {
    path: PathBuf,
    bytes: u64,
    /// When a file in it was last made, changed or read, in seconds since 1970.
    used: i64,
    /// When something in it was last written, or removed, in nanoseconds since 1970.
    changed: i64,
}

/// Removes what is too much, unless another sandbox of the workspace stands; and the layers of workspaces
/// that are gone, or were not used for long. To be called outside, when nothing of the sandbox is left.
pub fn sweep(layers: &Layers, plan: &Plan) {
    let directory = layers.directory();
    let Some(parent) = directory.parent() else { return };
    let _ = tell_others(directory);
    let units = units(directory);
    if let Some(slot) = layers.own() {
        set_written(directory, slot, last_change(&units, &directory.join(slot.to_string())));
    }
    let victims = if units.is_empty() { Vec::new() } else { beyond(plan.caches.most_bytes, units) };
    let is_empty = victims.is_empty() && self::units(directory).is_empty();
    let unused: Vec<PathBuf> = others(directory).filter(|other| is_unused(other)).collect();
    if is_empty || !victims.is_empty() || !unused.is_empty() {
        let Ok(_still) = hold(directory) else { return };
        let mut aside = Aside { parent, count: 0 };
        // None can begin to stand meanwhile.
        if layers.end_standing() {
            victims.iter().for_each(|victim| aside.take(victim));
            // In between another one may have written there.
            if is_empty && self::units(directory).is_empty() {
                aside.take(directory);
            }
        }
        for other in &unused {
            if let Some(_held) = hold_alone(other) {
                aside.take(other);
            }
        }
    }
    let is_removed = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_bytes().starts_with(REMOVED.as_bytes()))
    };
    entries(parent).iter().filter(|path| is_removed(path)).for_each(|path| remove(path));
}

fn hold(directory: &Path) -> io::Result<File> {
    hold_still(directory, FlockOperation::NonBlockingLockExclusive, PATIENCE)
}

/// Returns the layers of other workspaces. What else lies there, such as what is to be removed, was a command's,
/// which may have put anything into it.
fn others(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let all = directory.parent().map(entries).unwrap_or_default();
    let is_hexadecimal = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_layers =
        move |name: &OsStr| name.len() == 16 && name.as_bytes().iter().all(is_hexadecimal);
    let own = directory.to_owned();
    all.into_iter().filter(move |path| *path != own && path.file_name().is_some_and(is_layers))
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

fn is_unused(directory: &Path) -> bool {
    let Ok((workspace, age)) = last_use(directory) else { return false };
    owner::is_gone(&workspace) || age > LONGEST_UNUSED
}

/// Returns the description of the workspace of layers, and how long ago they were used.
fn last_use(directory: &Path) -> io::Result<(Vec<u8>, Duration)> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::RDONLY;
    let file = File::from(openat(CWD, directory.join(USED), flags, Mode::empty())?);
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut workspace = Vec::new();
    file.take(MOST_NAME).read_to_end(&mut workspace)?;
    let age = SystemTime::now().duration_since(found.modified()?).unwrap_or_default();
    Ok((workspace, age))
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
            return Unit { path, bytes: 0, used: i64::MIN, changed: i64::MIN };
        }
        // Such as in directories whose names are too long together.
        _ => return uncounted(path),
    };
    // Directories are read by this itself.
    let read = if found.is_file() { found.atime() } else { i64::MIN };
    let mut unit = Unit {
        path,
        bytes: found.blocks().saturating_mul(512),
        used: found.mtime().max(read),
        // Commands can set the other times, and copies have those of the user's files.
        changed: found.ctime().saturating_mul(1_000_000_000).saturating_add(found.ctime_nsec()),
    };
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
        unit.changed = unit.changed.max(entry.changed);
    }
    unit
}

/// Returns when something was last written below a directory. None: nothing is there.
fn last_change(units: &[Unit], directory: &Path) -> Option<SystemTime> {
    let there = units.iter().filter(|unit| unit.path.starts_with(directory));
    let last = u64::try_from(there.map(|unit| unit.changed).max()?).ok()?;
    Some((SystemTime::UNIX_EPOCH + Duration::from_nanos(last)).min(SystemTime::now()))
}

/// What can't be counted goes first.
fn uncounted(path: PathBuf) -> Unit {
    Unit { path, bytes: u64::MAX, used: i64::MIN, changed: i64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(name: &str, bytes: u64, used: i64) -> Unit {
        Unit { path: name.into(), bytes, used, changed: used }
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
    fn only_layers_count_whatever_commands_have_put_beside_them() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("0123456789abcdef");
        let make = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let pipe = |path: PathBuf| {
            rustix::fs::mkfifoat(CWD, &path, Mode::RWXU).unwrap();
        };
        for name in [".removed-1-1", ".moved-1", "0123456789ABCDEF", "0123456789abcdef0"] {
            pipe(make(name).join(USED));
        }
        let [gone, piped, endless] =
            ["00000000000000a0", "00000000000000a1", "00000000000000a2"].map(make);
        fs::write(gone.join(USED), "/no/such/workspace").unwrap();
        pipe(piped.join(USED));
        std::os::unix::fs::symlink("/dev/zero", endless.join(USED)).unwrap();
        let mut found: Vec<PathBuf> = others(&own).collect();
        found.sort();
        assert_eq!(found, [&gone, &piped, &endless].map(Clone::clone));
        assert_eq!(
            found.iter().map(|one| is_unused(one)).collect::<Vec<_>>(),
            [true, false, false]
        );
        // Neither does a lock wait for a pipe.
        pipe(piped.join("0"));
        assert!(hold_alone(&piped.join("0")).is_none());
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
