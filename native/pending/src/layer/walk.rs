//! How what a layer shows differs from the real directory below it.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat, fstat, readlinkat};
use rustix::io::Errno;

use crate::layer::content::is_same_content;
use crate::layer::readable::attributes_in_layer;
use crate::layer::{handle_of, is_opaque, is_whiteout, origin_of};
use crate::node::{
    enter, enter_beneath, given_mode, is_directory, look, names_in, open_as_it_is, parted,
    taken_attributes, type_of,
};
use crate::set::PendingSet;

/// Directories within one another that are looked into.
pub(crate) const MOST_DEPTH: usize = 400;

/// How a path differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Difference {
    /// Nothing is there outside.
    Created,
    /// Something else is there, or a file with another content.
    Changed,
    /// Mode or owner alone.
    Mode,
    /// Extended attributes or times alone.
    Attributes,
    Deleted,
}

/// A path that differs.
#[derive(Debug)]
pub(crate) struct LayerEntry {
    pub root: usize,
    /// In its root.
    pub path: PathBuf,
    pub what: Difference,
    /// What commands see; none: it is gone.
    pub inside: Option<Stat>,
    /// What is there outside.
    pub outside: Option<Stat>,
    /// Which file it was made from, or is, that was removed; empty: the file system can't tell. `None`: it was made
    /// from none.
    pub handle: Option<Vec<u8>>,
    /// It was made from a file outside, and names have come or gone since in the directory where it should be.
    pub may_be_gone: bool,
}

/// All that differs.
#[derive(Debug, Default)]
pub(crate) struct LayerEntries {
    pub all: Vec<LayerEntry>,
    /// What is in directories that are removed as a whole, and goes with them.
    pub within: Vec<LayerEntry>,
    /// What could not be looked at, and why.
    pub unseen: Vec<(PathBuf, String)>,
}

/// Finds all that differs, directories before what is in them.
pub(crate) fn entries(set: &PendingSet) -> LayerEntries {
    let mut found = LayerEntries::default();
    for (index, root) in set.roots.iter().enumerate() {
        let Ok(lower) = &root.lower else { continue };
        let mut walk = LayerWalk { set, root: index, found: &mut found };
        walk.below(Path::new(""), root.upper.as_fd(), Some(lower.as_fd()), false);
        walk.removed_since(root.upper.as_fd(), lower.as_fd());
    }
    found
}

struct LayerWalk<'a> {
    set: &'a PendingSet,
    root: usize,
    found: &'a mut LayerEntries,
}

/// An entry of a layer, and what has its name below.
struct LayerName<'a> {
    upper: BorrowedFd<'a>,
    lower: Option<BorrowedFd<'a>>,
    name: &'a OsStr,
    is_made: bool,
}

impl LayerWalk<'_> {
    /// `is_made`: the directory was made anew, or one above it: nothing of the one below is seen.
    fn below(&mut self, path: &Path, upper: BorrowedFd, lower: Option<BorrowedFd>, is_made: bool) {
        // Each level takes descriptors, and room on the stack.
        if path.components().count() > MOST_DEPTH {
            return self.miss(path, Errno::NAMETOOLONG);
        }
        let names = match names_in(upper) {
            Ok(names) => names,
            Err(errno) => return self.miss(path, errno),
        };
        let is_made = is_made || matches!(is_opaque(upper), Ok(true));
        for name in &names {
            let one = LayerName { upper, lower, name, is_made };
            let path = path.join(name);
            if let Err(errno) = self.take(&path, &one) {
                self.miss(&path, errno);
            }
        }
        let Some(lower) = lower.filter(|_| is_made) else { return };
        for name in names_in(lower).unwrap_or_default() {
            if names.binary_search(&name).is_err()
                && name != self.set.unfinished
                && let Ok(Some(outside)) = look(lower, &name)
            {
                self.delete(path.join(&name), lower, &name, outside);
            }
        }
    }

    fn take(&mut self, path: &Path, one: &LayerName) -> Result<(), Errno> {
        let Some(inside) = look(one.upper, one.name)? else { return Ok(()) };
        let outside = one.lower.map_or(Ok(None), |lower| look(lower, one.name))?;
        if is_whiteout(one.upper, one.name, &inside)? {
            if let (Some(outside), Some(lower)) = (outside, one.lower) {
                self.delete(path.to_owned(), lower, one.name, outside);
            }
            return Ok(());
        }
        let what = match &outside {
            None => Some(Difference::Created),
            Some(outside) if type_of(outside) != type_of(&inside) => Some(Difference::Changed),
            Some(outside) => differs(one, &inside, outside)?,
        };
        if let Some(what) = what {
            let origin = origin_of(one.upper, one.name, &inside)?;
            let may_be_gone = outside.is_none()
                && origin.is_some()
                && one.lower.is_some_and(|lower| self.has_changed(lower));
            self.add(LayerEntry {
                root: self.root,
                path: path.to_owned(),
                what,
                inside: Some(inside),
                outside,
                handle: origin,
                may_be_gone,
            });
        }
        if is_directory(&inside) {
            let upper = enter(one.upper, one.name)?;
            let lower = match (one.lower, &outside) {
                (Some(lower), Some(outside)) if is_directory(outside) => {
                    Some(enter(lower, one.name)?)
                }
                _ => None,
            };
            self.below(path, upper.as_fd(), lower.as_ref().map(AsFd::as_fd), one.is_made);
        }
        Ok(())
    }

    fn delete(&mut self, path: PathBuf, lower: BorrowedFd, name: &OsStr, outside: Stat) {
        if is_directory(&outside)
            && let Err(errno) = self.within(&path, lower, name)
        {
            self.miss(&path, errno);
        }
        let entry = self.deleted(path, lower, name, outside);
        self.add(entry);
    }

    /// Finds what goes with a directory that is removed.
    fn within(&mut self, path: &Path, above: BorrowedFd, name: &OsStr) -> Result<(), Errno> {
        if path.components().count() > MOST_DEPTH {
            return Err(Errno::NAMETOOLONG);
        }
        let directory = enter(above, name)?;
        for name in names_in(directory.as_fd())? {
            let Some(outside) = look(directory.as_fd(), &name)? else { continue };
            let path = path.join(&name);
            let is_directory = is_directory(&outside);
            let entry = self.deleted(path.clone(), directory.as_fd(), &name, outside);
            self.found.within.push(entry);
            if is_directory {
                self.within(&path, directory.as_fd(), &name)?;
            }
        }
        Ok(())
    }

    fn deleted(&self, path: PathBuf, lower: BorrowedFd, name: &OsStr, outside: Stat) -> LayerEntry {
        let handle = (!is_directory(&outside)).then(|| handle_of(lower, name));
        let (root, what) = (self.root, Difference::Deleted);
        let (inside, outside, may_be_gone) = (None, Some(outside), false);
        LayerEntry { root, path, what, inside, outside, handle, may_be_gone }
    }

    /// Finds what was accepted, and removed in the layer since: there it leaves no trace, where the kernel knows
    /// that nothing was below.
    fn removed_since(&mut self, upper: BorrowedFd, lower: BorrowedFd) {
        for path in self.set.settled.put_in(self.root) {
            let (above, name) = parted(&path);
            let is_in_layer = match enter_beneath(upper, above) {
                Ok(directory) => !matches!(look(directory.as_fd(), name), Ok(None)),
                // What is above it tells.
                Err(_) => true,
            };
            let Ok(directory) = enter_beneath(lower, above) else { continue };
            if let (false, Ok(Some(outside))) = (is_in_layer, look(directory.as_fd(), name))
                && self.set.settled.has_put(self.root, &path, &outside)
            {
                self.delete(path.clone(), directory.as_fd(), name, outside);
            }
        }
    }

    /// Whether names have come or gone in a directory outside since the layers were mounted.
    fn has_changed(&self, lower: BorrowedFd) -> bool {
        fstat(lower).is_ok_and(|it| (it.st_mtime, it.st_mtime_nsec as i64) > self.set.since)
    }

    fn add(&mut self, entry: LayerEntry) {
        self.found.all.push(entry);
    }

    fn miss(&mut self, path: &Path, errno: Errno) {
        let path = self.set.absolute(self.root, path);
        self.found.unseen.push((path, std::io::Error::from(errno).to_string()));
    }
}

/// Returns how two of the same kind differ; `None`: they don't.
fn differs(one: &LayerName, inside: &Stat, outside: &Stat) -> Result<Option<Difference>, Errno> {
    let Some(lower) = one.lower else { return Ok(Some(Difference::Created)) };
    let is_same = match type_of(inside) {
        FileType::RegularFile => {
            let is_as_long = inside.st_size == outside.st_size;
            is_as_long && has_same_content(one, lower, inside, outside)?
        }
        FileType::Symlink => {
            readlinkat(one.upper, one.name, Vec::new())? == readlinkat(lower, one.name, Vec::new())?
        }
        FileType::Directory | FileType::Fifo => true,
        _ => inside.st_rdev == outside.st_rdev,
    };
    if !is_same {
        return Ok(Some(Difference::Changed));
    }
    let rights = |stat: &Stat, mode| (mode, stat.st_uid, stat.st_gid);
    let mode = if inside.st_mode == outside.st_mode { inside.st_mode } else { given_mode(inside) };
    if rights(inside, mode) != rights(outside, outside.st_mode) {
        return Ok(Some(Difference::Mode));
    }
    let has_times = type_of(inside) == FileType::RegularFile;
    let is_alike = (!has_times || times(inside) == times(outside))
        && (type_of(inside) == FileType::Symlink || has_same_attributes(one, lower)?);
    Ok((!is_alike).then_some(Difference::Attributes))
}

fn times(stat: &Stat) -> (i64, i64) {
    (stat.st_mtime, stat.st_mtime_nsec as i64)
}

fn has_same_content(
    one: &LayerName,
    lower: BorrowedFd,
    inside: &Stat,
    outside: &Stat,
) -> Result<bool, Errno> {
    match is_same_content(one.upper, lower, one.name) {
        // The mode of a file outside is not changed for that.
        Err(Errno::ACCESS) => Ok(times(inside) == times(outside)),
        told => told,
    }
}

fn has_same_attributes(one: &LayerName, lower: BorrowedFd) -> Result<bool, Errno> {
    let inside = attributes_in_layer(open_as_it_is(one.upper, one.name)?.as_fd())?;
    match taken_attributes(open_as_it_is(lower, one.name)?.as_fd()) {
        // They can't be read outside, and so were not changed inside, where its content would have become another.
        Err(Errno::ACCESS) => Ok(true),
        outside => Ok(inside == outside?),
    }
}
