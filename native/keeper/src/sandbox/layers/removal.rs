//! Removes directories that commands have filled, as far as possible: with directories that can't be
//! written to, and nested however deeply. Follows no link.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, chmodat, fchmod, openat, renameat, statat, unlinkat,
};
use rustix::path::Arg;

/// What begins so is to be removed, by whoever comes upon it: its removal may have been cut short.
pub const REMOVED: &str = ".removed-";

/// Deeper directories are moved up: each level takes a descriptor.
const MOST_DEPTH: usize = 200;

/// The removal of one entry of a directory.
struct TreeRemoval {
    top: OwnedFd,
    /// Directories that were moved up.
    moved: usize,
}

/// Removes a file, or a directory with all that is in it.
pub fn remove(path: &Path) {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
    let Ok(name) = CString::new(name.as_bytes()) else { return };
    let Ok(top) = open(CWD, parent) else { return };
    let mut removal = TreeRemoval { top, moved: 0 };
    let _ = removal.remove(None, &name, 0);
    let mut next = 0;
    while next < removal.moved {
        let _ = removal.remove(None, &moved_name(next), 0);
        next += 1;
    }
}

fn moved_name(number: usize) -> CString {
    // Another process may remove something in the same directory.
    CString::new(format!("{REMOVED}{}-moved-{number}", std::process::id())).unwrap_or_default()
}

impl TreeRemoval {
    /// `parent`: None for the top.
    fn remove(&mut self, parent: Option<&OwnedFd>, name: &CStr, depth: usize) -> io::Result<()> {
        let parent = parent.unwrap_or(&self.top);
        let found = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
            return Ok(unlinkat(parent, name, AtFlags::empty())?);
        }
        if found.st_mode & 0o700 != 0o700 {
            // Such as those of modules, which can't be moved elsewhere, either. Nobody else exchanges it by now.
            chmodat(parent, name, Mode::RWXU, AtFlags::empty())?;
        }
        if depth > MOST_DEPTH {
            renameat(parent, name, &self.top, moved_name(self.moved))?;
            self.moved += 1;
            return Ok(());
        }
        let parent = parent.as_fd().try_clone_to_owned()?;
        let directory = open(&parent, name)?;
        fchmod(&directory, Mode::RWXU)?;
        for entry in Dir::read_from(&directory)?.flatten() {
            let name = entry.file_name();
            if name != c"." && name != c".." {
                let _ = self.remove(Some(&directory), name, depth + 1);
            }
        }
        Ok(unlinkat(&parent, name, AtFlags::REMOVEDIR)?)
    }
}

fn open(at: impl AsFd, name: impl Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    Ok(openat(at, name, flags, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

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
        let mut deep = open(CWD, &*top).unwrap();
        for _ in 0..1000 {
            rustix::fs::mkdirat(&deep, c"d", Mode::RWXU).unwrap();
            let next = open(&deep, c"d").unwrap();
            fchmod(&deep, Mode::from_raw_mode(0o500)).unwrap();
            deep = next;
        }
        remove(&top);
        let left = fs::read_dir(folder.path()).unwrap().flatten();
        assert_eq!(left.map(|entry| entry.file_name()).collect::<Vec<_>>(), ["kept"]);
        assert_eq!(fs::read_to_string(kept.join("file")).unwrap(), "x");
    }
}
