//! Directories of git's, and what is found in them.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use crate::sandbox::warden::gate::names::{Names, Touch};

/// A directory of git's.
pub struct Root {
    /// Where it is seen.
    pub path: PathBuf,
    /// Where it can be written to.
    pub tree: OwnedFd,
    pub names: Names,
}

/// Something in such a directory, by the directory that has it.
pub struct GateEntry<'a> {
    pub root: &'a Root,
    pub directory: OwnedFd,
    pub name: CString,
    pub touch: Touch,
}
