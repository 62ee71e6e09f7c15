//! Removes things outside, and looks for what was changed there.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, Stat, fchmod, fstat, unlinkat};
use rustix::io::Errno;

use crate::node::{enter, is_directory, look, names_in};

/// Returns the first path at or below a name for which this holds. Follows no link.
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
    let below = enter(directory, name)?;
    for one in names_in(below.as_fd())? {
        if let Some(later) = first_later(below.as_fd(), &one, &path.join(&one), is_later)? {
            return Ok(Some(later));
        }
    }
    Ok(None)
}

/// Removes what has a name, with all that is in it. Follows no link.
pub(crate) fn remove(directory: BorrowedFd, name: &OsStr) -> Result<(), Errno> {
    let Some(found) = look(directory, name)? else { return Ok(()) };
    if !is_directory(&found) {
        return unlinkat(directory, name, AtFlags::empty());
    }
    let below = enter(directory, name)?;
    let mode = fstat(&below)?.st_mode;
    if mode & 0o300 != 0o300 {
        fchmod(&below, Mode::from_raw_mode(mode & 0o7777 | 0o300))?;
    }
    for one in names_in(below.as_fd())? {
        remove(below.as_fd(), &one)?;
    }
    unlinkat(directory, name, AtFlags::REMOVEDIR)
}
