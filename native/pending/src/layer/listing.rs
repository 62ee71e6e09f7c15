//! Lists what commands have changed in layers.

use std::collections::{HashMap, HashSet};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use forkline_journal::{Changes, FileChange, NodeKind};
use rustix::fs::Stat;

use crate::error::PendingError;
use crate::layer::walk::{Difference, LayerEntries, LayerEntry, entries};
use crate::node::{is_directory, kind_of};
use crate::set::PendingSet;

/// Lists what differs from what is outside now.
///
/// # Errors
/// There are none of this id, or they can't be read.
pub fn changes(store: BorrowedFd, id: &str) -> Result<Changes, PendingError> {
    let set = PendingSet::open(store, id)?;
    let LayerEntries { mut all, within, unseen } = entries(&set);
    let known: HashSet<_> = all.iter().map(|one| (one.root, one.path.clone())).collect();
    all.extend(within.into_iter().filter(|one| !known.contains(&(one.root, one.path.clone()))));
    let mut unseen: Vec<String> =
        unseen.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect();
    unseen.extend(set.roots.iter().filter_map(|root| root.lower.as_ref().err().cloned()));
    let mut changes = Changes { is_complete: unseen.is_empty(), unseen, ..Changes::default() };
    let renamed = renamed(&all.iter().collect::<Vec<_>>());
    // The last directory that was made: what is below it is told with it.
    let mut made: Option<(usize, PathBuf, usize)> = None;
    for (index, entry) in all.iter().enumerate() {
        if let Some((root, above, at)) = &made
            && entry.root == *root
            && entry.path.starts_with(above)
        {
            count_below(&mut changes, *at, entry);
            continue;
        }
        let path = set.absolute(entry.root, &entry.path);
        if let Some(told) = told(&set, &all, &renamed, index, path) {
            if matches!(told, FileChange::Created { kind: NodeKind::Directory, .. }) {
                made = Some((entry.root, entry.path.clone(), changes.list.len()));
            }
            count(&mut changes, &told);
            changes.list.push(told);
        }
    }
    changes.list.sort_by(|one, other| one.path().cmp(other.path()));
    Ok(changes)
}

/// By what a file is known that has another name: by its handle, where the file system has such; else by when its
/// content was changed last, and its length.
#[derive(PartialEq, Eq, Hash)]
enum KnownBy<'a> {
    Handle(&'a [u8]),
    Content(i64, i64, i64),
}

impl<'a> KnownBy<'a> {
    fn of(entry: &'a LayerEntry, stat: &Stat) -> Self {
        match &entry.handle {
            Some(handle) if !handle.is_empty() => Self::Handle(handle),
            _ => Self::content(stat),
        }
    }

    fn content(stat: &Stat) -> Self {
        let (seconds, rest) = modified(stat);
        Self::Content(stat.st_size, seconds, rest)
    }
}

/// Returns which entries have the file that another one had before: both ways.
pub(crate) fn renamed(found: &[&LayerEntry]) -> HashMap<usize, usize> {
    let mut gone: HashMap<KnownBy, Vec<usize>> = HashMap::new();
    let is_file = |stat: &&Stat| kind_of(stat) == NodeKind::File;
    for (index, entry) in found.iter().enumerate() {
        let outside = entry.outside.as_ref().filter(is_file);
        if let (Difference::Deleted, Some(outside)) = (entry.what, outside) {
            // An origin may have no handle where the file system has such.
            let keys = HashSet::from([KnownBy::content(outside), KnownBy::of(entry, outside)]);
            for key in keys {
                gone.entry(key).or_default().push(index);
            }
        }
    }
    let mut pairs = HashMap::new();
    for (index, entry) in found.iter().enumerate() {
        let inside = entry.inside.as_ref().filter(is_file);
        if let (Difference::Created, Some(inside)) = (entry.what, inside) {
            // What was made anew is no file that was somewhere else.
            let from = entry.handle.as_ref().and_then(|_| gone.get(&KnownBy::of(entry, inside)));
            let name = entry.path.file_name();
            let is_named =
                |index: &&usize| found.get(**index).map(|it| it.path.file_name()) == Some(name);
            // Of several that are alike, the one with the same name; else it can't be told.
            let from = from.and_then(|from| match from.as_slice() {
                [only] => Some(only),
                several => several.iter().find(is_named),
            });
            if let Some(&from) = from.filter(|from| !pairs.contains_key(*from)) {
                pairs.insert(index, from);
                pairs.insert(from, index);
            }
        }
    }
    pairs
}

fn told(
    set: &PendingSet,
    found: &[LayerEntry],
    renamed: &HashMap<usize, usize>,
    index: usize,
    path: PathBuf,
) -> Option<FileChange> {
    let entry = found.get(index)?;
    let other = renamed.get(&index).and_then(|other| found.get(*other));
    let (inside, outside) = (entry.inside.as_ref(), entry.outside.as_ref());
    Some(match (entry.what, other) {
        (Difference::Created, Some(from)) => {
            let (now, before) = (inside?, from.outside.as_ref()?);
            let is_changed = now.st_size != before.st_size || modified(now) != modified(before);
            let from = set.absolute(from.root, &from.path);
            FileChange::Renamed { path, from, kind: kind_of(now), is_changed }
        }
        (Difference::Deleted, Some(_)) => return None,
        (Difference::Created, None) => {
            let inside = inside?;
            let size = if is_directory(inside) { 0 } else { length(inside) };
            FileChange::Created { path, kind: kind_of(inside), size, files: 0 }
        }
        (Difference::Changed, _) => {
            let (size, size_before) = (length(inside?), length(outside?));
            FileChange::Changed { path, size, size_before }
        }
        (Difference::Mode, _) => {
            let (mode, mode_before) = (permissions(inside?), permissions(outside?));
            FileChange::Mode { path, mode, mode_before }
        }
        (Difference::Attributes, _) => FileChange::Attributes { path },
        (Difference::Deleted, None) => {
            let outside = outside?;
            FileChange::Deleted { path, kind: kind_of(outside), size_before: length(outside) }
        }
    })
}

fn count(changes: &mut Changes, change: &FileChange) {
    match change {
        FileChange::Created { kind: NodeKind::Directory, .. }
        | FileChange::Deleted { kind: NodeKind::Directory, .. }
        | FileChange::Mode { .. }
        | FileChange::Attributes { .. } => {}
        FileChange::Created { .. } => changes.created += 1,
        FileChange::Changed { .. } => changes.changed += 1,
        FileChange::Deleted { .. } => changes.deleted += 1,
        FileChange::Renamed { .. } => changes.renamed += 1,
    }
}

/// Counts what is in a directory that was made, whose change is at this place of the list.
fn count_below(changes: &mut Changes, at: usize, entry: &LayerEntry) {
    let Some(inside) = entry.inside.as_ref().filter(|inside| !is_directory(inside)) else { return };
    changes.created += 1;
    if let Some(FileChange::Created { size, files, .. }) = changes.list.get_mut(at) {
        *files += 1;
        *size += if kind_of(inside) == NodeKind::File { length(inside) } else { 0 };
    }
}

/// Whether a path is at or below one of these.
pub(crate) fn is_among(path: &Path, paths: &[PathBuf]) -> bool {
    paths.iter().any(|above| path.starts_with(above))
}

fn modified(stat: &Stat) -> (i64, i64) {
    (stat.st_mtime, stat.st_mtime_nsec as i64)
}

fn length(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

fn permissions(stat: &Stat) -> u32 {
    stat.st_mode & 0o7777
}
