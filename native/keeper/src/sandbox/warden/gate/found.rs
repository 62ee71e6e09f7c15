//! Git's directories, and the entries found in them.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use crate::sandbox::warden::gate::names::Names;
use crate::sandbox::warden::gate::obeyed::Touch;
use crate::sandbox::warden::undo::recording::RecordedName;

/// One of git's directories.
pub struct Root {
    /// Its number among all.
    pub number: usize,
    /// The path at which it is seen.
    pub path: PathBuf,
    /// The tree that can be written to.
    pub tree: OwnedFd,
    pub names: Names,
}

/// An entry in one of git's directories, by the directory that contains it.
pub struct GateEntry<'a> {
    pub root: &'a Root,
    pub directory: OwnedFd,
    pub name: CString,
    /// The path relative to git's directory.
    pub below: PathBuf,
    pub touch: Touch,
}

impl GateEntry<'_> {
    /// Returns the place, to be recorded.
    pub fn spot(&self) -> RecordedName<'_> {
        RecordedName { directory: &self.directory, path: Some(self.path().into()) }
    }

    /// Returns the path at which the entry is seen.
    pub fn path(&self) -> PathBuf {
        self.root.path.join(&self.below)
    }
}
