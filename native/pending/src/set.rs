//! The held changes of one id, on disk.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, fstat, open, openat, unlinkat};
use rustix::io::Errno;

use crate::error::PendingError;
use crate::node::{enter, enter_beneath};
use crate::settled::SettledLog;

/// A directory over which a layer lies.
#[derive(Debug)]
pub(crate) struct PendingRoot {
    pub path: PathBuf,
    pub upper: OwnedFd,
    /// The real directory; else why it is not the one that it was.
    pub lower: Result<OwnedFd, String>,
}

/// Held changes.
#[derive(Debug)]
pub(crate) struct PendingSet {
    /// Nothing outside had a later time of change when the layers were first mounted.
    pub since: (i64, i64),
    pub roots: Vec<PendingRoot>,
    /// The settings that are only accepted by name.
    pub guarded: Vec<PathBuf>,
    pub settled: SettledLog,
    /// The name under which a file is made that is accepted, before it is whole: the same each time, so that what a
    /// killed process has left is found.
    pub unfinished: OsString,
    /// Kept locked, so that it is not removed meanwhile.
    lock: Option<File>,
}

impl PendingSet {
    /// Opens those of an id in the directory of all.
    pub fn open(store: BorrowedFd, id: &str) -> Result<Self, PendingError> {
        let directory = open_set(store, id)?;
        let lock = lock_of(directory.as_fd())?;
        if let Some(lock) = &lock
            && flock(lock.as_fd(), FlockOperation::NonBlockingLockShared).is_err()
        {
            return Err(PendingError::Busy(id.to_owned()));
        }
        let unreadable = || PendingError::Unreadable(id.to_owned());
        let mut fields = fields_of(directory.as_fd(), "roots")?.into_iter();
        let mut since = (i64::MAX, 0);
        let mut roots = Vec::new();
        while let Some(word) = fields.next() {
            match word.to_str() {
                Some("since") => {
                    since = fields.next().and_then(moment_from).ok_or_else(unreadable)?
                }
                Some("root") => {
                    let path = PathBuf::from(fields.next().ok_or_else(unreadable)?);
                    let identity = fields.next().and_then(identity_from).ok_or_else(unreadable)?;
                    let layer = Path::new(&roots.len().to_string()).join("upper");
                    let upper = enter_beneath(directory.as_fd(), &layer)?;
                    let lower = open_lower(&path, identity);
                    roots.push(PendingRoot { path, upper, lower });
                }
                _ => return Err(unreadable()),
            }
        }
        let guarded =
            fields_of(directory.as_fd(), "guarded")?.into_iter().map(PathBuf::from).collect();
        let settled = SettledLog::open(directory.as_fd())?;
        let unfinished = format!(".forkline-accept-{id}").into();
        Ok(Self { since, roots, guarded, settled, unfinished, lock })
    }

    /// Others may remove it from now on.
    pub fn unlock(&mut self) {
        self.lock = None;
    }

    /// Removes what an accept that was killed has left in a directory outside.
    pub fn remove_unfinished(&self, root: usize, above: &Path) {
        let Some(Ok(lower)) = self.roots.get(root).map(|root| root.lower.as_ref()) else { return };
        if let Ok(directory) = enter_beneath(lower.as_fd(), above) {
            let _ = unlinkat(&directory, &*self.unfinished, AtFlags::empty());
        }
    }

    /// The absolute path of what lies in a root.
    pub fn absolute(&self, root: usize, path: &Path) -> PathBuf {
        let base = self.roots.get(root).map_or(Path::new("/"), |root| &root.path);
        if path.as_os_str().is_empty() { base.to_owned() } else { base.join(path) }
    }
}

pub(crate) fn open_set(store: BorrowedFd, id: &str) -> Result<OwnedFd, PendingError> {
    match enter(store, OsStr::new(id)) {
        Ok(directory) => Ok(directory),
        Err(Errno::NOENT) => Err(PendingError::Absent(id.to_owned())),
        Err(errno) => Err(errno.into()),
    }
}

/// Opens the file by whose lock a set is in use; `None`: nothing was mounted yet.
pub(crate) fn lock_of(directory: BorrowedFd) -> Result<Option<File>, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(directory, "lock", flags, Mode::empty()) {
        Ok(file) => Ok(Some(file.into())),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Reads a file of fields, each ended by NUL; none: there is no such file.
fn fields_of(directory: BorrowedFd, name: &str) -> Result<Vec<OsString>, PendingError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file: File = match openat(directory, name, flags, Mode::empty()) {
        Ok(file) => file.into(),
        Err(Errno::NOENT) => return Ok(Vec::new()),
        Err(errno) => return Err(errno.into()),
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let fields = bytes.split(|byte| *byte == 0).filter(|field| !field.is_empty());
    Ok(fields.map(|field| OsString::from_vec(field.to_vec())).collect())
}

fn moment_from(text: OsString) -> Option<(i64, i64)> {
    let (seconds, rest) = text.to_str()?.split_once('.')?;
    Some((seconds.parse().ok()?, rest.parse().ok()?))
}

fn identity_from(text: OsString) -> Option<(u64, u64)> {
    let (device, inode) = text.to_str()?.split_once(':')?;
    Some((device.parse().ok()?, inode.parse().ok()?))
}

fn open_lower(path: &Path, identity: (u64, u64)) -> Result<OwnedFd, String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let lower = open(path, flags, Mode::empty())
        .map_err(|errno| format!("its directory {} can't be opened: {errno}", path.display()))?;
    match fstat(&lower) {
        Ok(stat) if (stat.st_dev, stat.st_ino) == identity => Ok(lower),
        _ => Err(format!("its directory {} was replaced outside", path.display())),
    }
}
