//! What has a name, by descriptors: nothing is followed.

use std::ffi::{CString, OsStr, OsString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use forkline_journal::NodeKind;
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat, getxattr, listxattr, openat, openat2,
    statat,
};
use rustix::io::Errno;

/// Bytes of the names or of one value of extended attributes, at most.
const MOST_ATTRIBUTE_BYTES: usize = 64 * 1024;

/// Bytes of a path that one call opens, at most.
const LONGEST_PART: usize = 3000;

/// Which inode it is, and when it was last changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StampedNode {
    pub device: u64,
    pub inode: u64,
    pub changed: (i64, i64),
}

pub(crate) fn stamp(stat: &Stat) -> StampedNode {
    let changed = (stat.st_ctime, stat.st_ctime_nsec as i64);
    StampedNode { device: stat.st_dev, inode: stat.st_ino, changed }
}

pub(crate) fn type_of(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

pub(crate) fn is_directory(stat: &Stat) -> bool {
    type_of(stat) == FileType::Directory
}

/// What nobody outside gets of a file's mode: the rights of another user, by what a command has made.
const NOT_GIVEN: u32 = 0o6000;

/// Returns the mode that something has outside once it is accepted.
pub(crate) fn given_mode(stat: &Stat) -> u32 {
    stat.st_mode & !if is_directory(stat) { 0o4000 } else { NOT_GIVEN }
}

pub(crate) fn kind_of(stat: &Stat) -> NodeKind {
    match type_of(stat) {
        FileType::RegularFile => NodeKind::File,
        FileType::Directory => NodeKind::Directory,
        FileType::Symlink => NodeKind::Link,
        _ => NodeKind::Other,
    }
}

/// Returns what has this name; `None`: nothing has.
pub(crate) fn look(directory: BorrowedFd, name: &OsStr) -> Result<Option<Stat>, Errno> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Returns the names in a directory, sorted.
pub(crate) fn names_in(directory: BorrowedFd) -> Result<Vec<OsString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsString::from_vec(name.to_vec()));
        }
    }
    names.sort();
    Ok(names)
}

/// Opens a directory in another one, to be read.
pub(crate) fn enter(directory: BorrowedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(directory, name, flags, Mode::empty())
}

/// Opens the directory at a path below another one: through no link, and on no other file system.
pub(crate) fn enter_beneath(root: BorrowedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    let enter = |at: BorrowedFd, path: &Path| openat2(at, path, flags, Mode::empty(), resolve);
    // One call takes no path that is longer than `PATH_MAX`.
    let mut at: Option<OwnedFd> = None;
    let mut part = PathBuf::new();
    for name in path {
        if part.as_os_str().len() + name.len() >= LONGEST_PART {
            at = Some(enter(at.as_ref().map_or(root, AsFd::as_fd), &part)?);
            part.clear();
        }
        part.push(name);
    }
    if part.as_os_str().is_empty() {
        part.push(".");
    }
    enter(at.as_ref().map_or(root, AsFd::as_fd), &part)
}

/// Opens something as it is, links too, without reading it.
pub(crate) fn open_as_it_is(directory: BorrowedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    openat(directory, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// Opens a file to be read.
pub(crate) fn open_file(directory: BorrowedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    openat(directory, name, flags, Mode::empty())
}

/// The path by which calls without a descriptor reach an open file.
pub(crate) fn by_descriptor(file: BorrowedFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Returns the value of an extended attribute; `None`: there is none.
pub(crate) fn attribute(file: BorrowedFd, name: &str) -> Result<Option<Vec<u8>>, Errno> {
    let mut value = vec![0; MOST_ATTRIBUTE_BYTES];
    match getxattr(by_descriptor(file), name, &mut value) {
        Ok(length) => {
            value.truncate(length);
            Ok(Some(value))
        }
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::PERM) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// An extended attribute: name and value.
pub(crate) type NamedValue = (CString, Vec<u8>);

/// Returns the extended attributes that are taken: those of users and access lists, none of overlays. Rights of
/// programs (`security.capability`) are never.
pub(crate) fn taken_attributes(file: BorrowedFd) -> Result<Vec<NamedValue>, Errno> {
    let mut names = vec![0; MOST_ATTRIBUTE_BYTES];
    let length = match listxattr(by_descriptor(file), &mut names) {
        Ok(length) => length,
        Err(Errno::OPNOTSUPP) => 0,
        Err(errno) => return Err(errno),
    };
    names.truncate(length);
    let mut found = Vec::new();
    for name in names.split(|byte| *byte == 0) {
        let Ok(text) = std::str::from_utf8(name) else { continue };
        let is_users = text.starts_with("user.") && !text.starts_with("user.overlay.");
        if !is_users && !text.starts_with("system.posix_acl_") {
            continue;
        }
        if let (Ok(name), Some(value)) = (CString::new(text), attribute(file, text)?) {
            found.push((name, value));
        }
    }
    found.sort();
    Ok(found)
}

/// Splits a path into its directory and its name.
pub(crate) fn parted(path: &Path) -> (&Path, &OsStr) {
    let parent = path.parent().unwrap_or(Path::new(""));
    (parent, path.file_name().unwrap_or(OsStr::from_bytes(b".")))
}
