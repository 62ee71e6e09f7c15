//! Rights of directories, given once all is in them: those that they are to have may forbid it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, Stat, chmod, fstat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::accepting::not_accepted::NotAccepted;
use crate::accepting::putting::give_rights;
use crate::node::{by_descriptor, enter_beneath, is_directory, look, open_as_it_is, parted};
use crate::set::PendingRoot;

/// What a directory is to have.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FinalRights {
    /// Those of the directory in the layer.
    OfLayer,
    /// The mode that it had before it was opened for what goes into it.
    AsBefore(u32),
}

/// The directories that get their rights at the end, by root and path.
#[derive(Debug, Default)]
pub(crate) struct OpenedDirectories {
    all: BTreeMap<(usize, PathBuf), FinalRights>,
}

impl OpenedDirectories {
    /// A directory gets the rights that it has in its layer.
    pub fn keep(&mut self, root: usize, path: &Path) {
        self.all.insert((root, path.to_owned()), FinalRights::OfLayer);
    }

    /// Lets its owner, who this is, into a directory and those above it. Returns false if nothing is gained by it.
    pub fn open(&mut self, root: usize, lower: BorrowedFd, path: &Path) -> Result<bool, Errno> {
        let mut is_opened = self.open_one(root, lower, Path::new(""), OsStr::new("."))?;
        let mut at = lower.try_clone_to_owned().map_err(|_| Errno::MFILE)?;
        let mut here = PathBuf::new();
        for name in path {
            here.push(name);
            is_opened |= self.open_one(root, at.as_fd(), &here, name)?;
            at = open_as_it_is(at.as_fd(), name)?;
        }
        Ok(is_opened)
    }

    fn open_one(
        &mut self,
        root: usize,
        above: BorrowedFd,
        path: &Path,
        name: &OsStr,
    ) -> Result<bool, Errno> {
        let there = open_as_it_is(above, name)?;
        let stat = fstat(&there)?;
        if !is_directory(&stat) {
            return Err(Errno::NOTDIR);
        }
        if stat.st_mode & 0o700 == 0o700 || stat.st_uid != geteuid().as_raw() {
            return Ok(false);
        }
        let mode = stat.st_mode & 0o7777;
        chmod(by_descriptor(there.as_fd()), Mode::from_raw_mode(mode | 0o700))?;
        let before = FinalRights::AsBefore(mode);
        self.all.entry((root, path.to_owned())).or_insert(before);
        Ok(true)
    }

    /// Returns them, the deepest first.
    pub fn deepest_first(self) -> impl Iterator<Item = ((usize, PathBuf), FinalRights)> {
        self.all.into_iter().rev()
    }
}

/// Gives a directory its rights. Returns what it then is.
pub(crate) fn finish(
    root: &PendingRoot,
    path: &Path,
    rights: FinalRights,
) -> Result<Stat, NotAccepted> {
    let lower = root.lower.as_ref().map_err(|why| NotAccepted::because(why.clone()))?;
    let (above, name) = parted(path);
    let outside = enter_beneath(lower.as_fd(), above)?;
    let there = open_as_it_is(outside.as_fd(), name)?;
    if !is_directory(&fstat(&there)?) {
        return Err(Errno::NOTDIR.into());
    }
    match rights {
        FinalRights::AsBefore(mode) => {
            chmod(by_descriptor(there.as_fd()), Mode::from_raw_mode(mode))?;
        }
        FinalRights::OfLayer => {
            let inside = enter_beneath(root.upper.as_fd(), above)?;
            let from = look(inside.as_fd(), name)?.ok_or(Errno::NOENT)?;
            give_rights(&there, inside.as_fd(), name, &from)?;
        }
    }
    Ok(fstat(&there)?)
}
