//! Removes directories that commands have filled, as far as possible.

use std::path::Path;

use forkline_pending::remove_tree;
use rustix::fd::AsFd;
use rustix::fs::{CWD, Mode, OFlags, openat};

/// Removes a file, or a directory with all that is in it.
pub fn remove(path: &Path) {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    if let Ok(top) = openat(CWD, parent, flags, Mode::empty()) {
        let _ = remove_tree(top.as_fd(), name);
    }
}
