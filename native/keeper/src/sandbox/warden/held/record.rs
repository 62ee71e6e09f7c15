//! What is written down of a held change: pairs of a word and a value, each ended by NUL.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, StatxFlags, statx};

use crate::sandbox::place;

/// The kind of what would be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldKind {
    File,
    /// A file or a link whose content is not in the user's history.
    Unknown {
        is_link: bool,
    },
    Removal,
}

/// A change that is not carried out.
pub struct HeldChange<'a> {
    /// The absolute path, as it is seen in the sandbox.
    pub path: &'a Path,
    pub kind: HeldKind,
    /// What has to be judged by the user: keys of a configuration, or the name of the setting.
    pub keys: &'a [String],
    pub mode: u32,
    pub content: &'a [u8],
    /// The status and content of what is there; None: nothing is.
    pub before: Option<(&'a libc::stat, &'a [u8])>,
}

/// The directory of a change, or the nearest one above it that exists: another one that has come to the
/// path is not meant.
pub struct HeldBase<'a> {
    path: &'a Path,
    /// `device:inode:nanoseconds`, the last being the time at which it was made, where the file system
    /// has that.
    identity: String,
}

/// What tells a held change from others.
pub struct KnownRecord {
    path: PathBuf,
    what: Vec<u8>,
    pub workspace: PathBuf,
}

impl HeldBase<'_> {
    /// Finds the directory below this root. None: it can't be seen.
    pub fn of<'a>(root: BorrowedFd, path: &'a Path) -> Option<HeldBase<'a>> {
        for path in path.ancestors().skip(1) {
            match place::beneath(root, path) {
                Ok(found) => return Some(HeldBase { path, identity: identity(&found)? }),
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {}
                Err(_) => return None,
            }
        }
        None
    }
}

impl KnownRecord {
    pub fn read(bytes: &[u8]) -> KnownRecord {
        let mut found =
            KnownRecord { path: PathBuf::new(), what: Vec::new(), workspace: PathBuf::new() };
        let path = |value: &[u8]| OsStr::from_bytes(value).into();
        let mut fields = bytes.split(|byte| *byte == 0);
        while let (Some(word), Some(value)) = (fields.next(), fields.next()) {
            match word {
                b"path" => found.path = path(value),
                b"what" => found.what = value.to_owned(),
                b"workspace" => found.workspace = path(value),
                _ => {}
            }
        }
        found
    }

    /// Returns whether a change is of this file and kind.
    pub fn is_of(&self, change: &HeldChange) -> bool {
        self.path == change.path && self.what == word(change.kind).as_bytes()
    }
}

/// Returns the pairs of a word and a value that describe a change.
pub fn write(change: &HeldChange, workspace: &Path, base: Option<&HeldBase>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut add = |word: &str, value: &OsStr| {
        bytes.extend([word.as_bytes(), b"\0", value.as_bytes(), b"\0"].concat());
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let before = change.before.map_or("none".into(), |(status, _)| {
        let at = i128::from(status.st_mtime) * 1_000_000_000 + i128::from(status.st_mtime_nsec);
        format!("{}:{}:{}:{at}", status.st_dev, status.st_ino, status.st_size)
    });
    let reason = match change.kind {
        HeldKind::File => "setting",
        HeldKind::Unknown { .. } => "unknown-content",
        HeldKind::Removal => "removal",
    };
    add("version", "1".as_ref());
    add("at", now.as_millis().to_string().as_ref());
    add("path", change.path.as_os_str());
    add("what", word(change.kind).as_ref());
    add("reason", reason.as_ref());
    for key in change.keys {
        add("key", key.as_ref());
    }
    add("mode", format!("{:o}", change.mode & 0o7777).as_ref());
    add("before", before.as_ref());
    add("workspace", workspace.as_os_str());
    if let Some(base) = base {
        add("base", base.path.as_os_str());
        add("directory", base.identity.as_ref());
    }
    bytes
}

fn word(kind: HeldKind) -> &'static str {
    match kind {
        HeldKind::File | HeldKind::Unknown { is_link: false } => "file",
        HeldKind::Unknown { is_link: true } => "link",
        HeldKind::Removal => "removal",
    }
}

/// Returns what tells a directory from a later one at the same path. None: it is no directory.
fn identity(directory: &OwnedFd) -> Option<String> {
    let status = place::status(directory).ok()?;
    if status.st_mode & libc::S_IFMT != libc::S_IFDIR {
        return None;
    }
    // Inode numbers are used again, often at once.
    let made = statx(directory.as_fd(), c"", AtFlags::EMPTY_PATH, StatxFlags::BTIME).ok();
    let made = made.filter(|it| it.stx_mask & StatxFlags::BTIME.bits() != 0).map(|it| {
        i128::from(it.stx_btime.tv_sec) * 1_000_000_000 + i128::from(it.stx_btime.tv_nsec)
    });
    let made = made.map(|at| format!(":{at}")).unwrap_or_default();
    Some(format!("{}:{}{made}", status.st_dev, status.st_ino))
}
