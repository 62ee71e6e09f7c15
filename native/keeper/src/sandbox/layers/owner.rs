//! The workspace that layers belong to: a directory at a path, and no later one at the same path.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use rustix::io::Errno;

/// Describes a workspace as it is now: `PATH`, and after NUL what tells its directory from another one.
pub fn describe(workspace: &Path) -> Vec<u8> {
    let mut text = workspace.as_os_str().as_bytes().to_vec();
    if let Ok(identity) = identity(workspace) {
        text.push(0);
        text.extend_from_slice(identity.as_bytes());
    }
    text
}

/// Returns whether the workspace of this description is no more. What can't be looked at may be there.
pub fn is_gone(description: &[u8]) -> bool {
    let mut parts = description.splitn(2, |byte| *byte == 0);
    let path = Path::new(OsStr::from_bytes(parts.next().unwrap_or_default()));
    match (identity(path), parts.next()) {
        (Ok(now), Some(then)) => now.as_bytes() != then,
        (Ok(_), None) => false,
        (Err(error), _) => matches!(error, Errno::NOENT | Errno::NOTDIR),
    }
}

/// Returns device, inode and, since inode numbers are reused, the time of creation where that is known.
fn identity(path: &Path) -> Result<String, Errno> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted)?;
    let (major, minor, inode) = (found.stx_dev_major, found.stx_dev_minor, found.stx_ino);
    let is_known = found.stx_mask & StatxFlags::BTIME.bits() != 0;
    let born = is_known.then(|| format!("{}.{}", found.stx_btime.tv_sec, found.stx_btime.tv_nsec));
    Ok(format!("{major}:{minor}:{inode}:{}", born.unwrap_or_default()))
}
