//! Git's directories, and the entries found in them.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use crate::sandbox::warden::gate::names::{Names, Touch};

/// One of git's directories.
pub struct Root {
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
    pub touch: Touch,
}
