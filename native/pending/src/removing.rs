//! Removes trees: with directories that can't be written to, and nested however deeply; and looks for what was changed
//! in one. Follows no link.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, Stat, chmod, fstat, renameat, unlinkat};
use rustix::io::Errno;

use crate::layer::walk::MOST_DEPTH;
use crate::node::{by_descriptor, enter, is_directory, look, names_in, open_as_it_is};

/// What begins so is to be removed, by whoever comes upon it: its removal may have been cut short.
pub const REMOVED: &str = ".removed-";

/// Whether a file has lost a name, or is about to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameLoss {
    Begins,
    Done,
}

/// Is told of a file that loses a name.
pub(crate) type TellLoss<'a> = dyn FnMut(&Stat, NameLoss) + 'a;

/// Deeper directories are moved up: each level takes a descriptor.
const DEEPEST: usize = 200;

/// Returns the first path at or below a name for which this holds.
pub(crate) fn first_later(
    directory: BorrowedFd,
    name: &OsStr,
    path: &Path,
    is_later: &dyn Fn(&Path, &Stat) -> bool,
) -> Result<Option<PathBuf>, Errno> {
    let Some(found) = look(directory, name)? else { return Ok(None) };
    if is_later(path, &found) {
        return Ok(Some(path.to_owned()));
    }
    if !is_directory(&found) {
        return Ok(None);
    }
    if path.components().count() > MOST_DEPTH {
        return Err(Errno::NAMETOOLONG);
    }
    let below = enter(directory, name)?;
    for one in names_in(below.as_fd())? {
        if let Some(later) = first_later(below.as_fd(), &one, &path.join(&one), is_later)? {
            return Ok(Some(later));
        }
    }
    Ok(None)
}

/// Removes what has a name, with all that is in it, as far as possible.
///
/// # Errors
/// The first reason why something is left.
pub fn remove_tree(directory: BorrowedFd, name: &OsStr) -> Result<(), Errno> {
    remove(directory, name, None)
}

/// The same; `lost` is told of each file that has other names, before and after it has lost this one.
pub(crate) fn remove_telling<'a>(
    directory: BorrowedFd<'a>,
    name: &OsStr,
    lost: &'a mut TellLoss<'a>,
) -> Result<(), Errno> {
    remove(directory, name, Some(lost))
}

fn remove<'a>(
    directory: BorrowedFd<'a>,
    name: &OsStr,
    lost: Option<&'a mut TellLoss<'a>>,
) -> Result<(), Errno> {
    let mut removal = TreeRemoval { top: directory, moved: 0, lost };
    let mut removed = removal.remove(directory, name, 0);
    let mut next = 0;
    while next < removal.moved {
        let moved = moved_name(next);
        removed = removed.and(removal.remove(directory, &moved, 0));
        next += 1;
    }
    removed
}

struct TreeRemoval<'a> {
    top: BorrowedFd<'a>,
    /// Directories that were moved up.
    moved: usize,
    lost: Option<&'a mut TellLoss<'a>>,
}

impl TreeRemoval<'_> {
    fn remove(&mut self, parent: BorrowedFd, name: &OsStr, depth: usize) -> Result<(), Errno> {
        let Some(found) = look(parent, name)? else { return Ok(()) };
        if !is_directory(&found) {
            return self.remove_file(parent, name, &found);
        }
        if found.st_mode & 0o700 != 0o700 {
            // Such as those of modules, which can't be moved elsewhere, either.
            open_to_owner(parent, name)?;
        }
        if depth > DEEPEST {
            renameat(parent, name, self.top, moved_name(self.moved))?;
            self.moved += 1;
            return Ok(());
        }
        let below = enter(parent, name)?;
        let mut removed = Ok(());
        for one in names_in(below.as_fd())? {
            removed = removed.and(self.remove(below.as_fd(), &one, depth + 1));
        }
        removed?;
        unlinkat(parent, name, AtFlags::REMOVEDIR)
    }

    fn remove_file(&mut self, parent: BorrowedFd, name: &OsStr, found: &Stat) -> Result<(), Errno> {
        let lost = self.lost.as_mut().filter(|_| found.st_nlink > 1);
        let file = lost.as_ref().map(|_| open_as_it_is(parent, name)).transpose()?;
        let Some((lost, file)) = lost.zip(file) else {
            return unlinkat(parent, name, AtFlags::empty());
        };
        lost(found, NameLoss::Begins);
        unlinkat(parent, name, AtFlags::empty())?;
        lost(&fstat(&file)?, NameLoss::Done);
        Ok(())
    }
}

fn moved_name(number: usize) -> OsString {
    // Another process may remove something in the same directory.
    format!("{REMOVED}{}-moved-{number}", std::process::id()).into()
}

fn open_to_owner(parent: BorrowedFd, name: &OsStr) -> Result<(), Errno> {
    let there = open_as_it_is(parent, name)?;
    let stat = fstat(&there)?;
    if !is_directory(&stat) {
        return Err(Errno::NOTDIR);
    }
    chmod(by_descriptor(there.as_fd()), Mode::from_raw_mode(stat.st_mode & 0o7777 | 0o700))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use rustix::fs::{fchmod, mkdirat};

    #[test]
    fn read_only_and_deeply_nested_directories_go_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("top");
        let kept = folder.path().join("kept");
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "x").unwrap();
        symlink(&kept, top.join("a/link")).unwrap();
        fs::write(top.join("a/b/file"), "x").unwrap();
        fs::set_permissions(top.join("a/b"), Permissions::from_mode(0o500)).unwrap();
        fs::set_permissions(top.join("a"), Permissions::from_mode(0o000)).unwrap();
        let above = File::open(folder.path()).unwrap();
        let mut deep = enter(above.as_fd(), OsStr::new("top")).unwrap();
        for _ in 0..1000 {
            mkdirat(&deep, c"d", Mode::RWXU).unwrap();
            let next = enter(deep.as_fd(), OsStr::new("d")).unwrap();
            fchmod(&deep, Mode::from_raw_mode(0o500)).unwrap();
            deep = next;
        }
        remove_tree(above.as_fd(), OsStr::new("top")).unwrap();
        let left = fs::read_dir(folder.path()).unwrap().flatten();
        assert_eq!(left.map(|entry| entry.file_name()).collect::<Vec<_>>(), ["kept"]);
        assert_eq!(fs::read_to_string(kept.join("file")).unwrap(), "x");
    }
}
