//! Changes that are held back: each has a directory of its own outside, which no process in the sandbox
//! sees, until the user accepts or drops it.

mod record;
mod room;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use forkline_journal::is_id;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat};

use crate::sandbox::plan::{Access, Plan};
use record::{HeldBase, KnownRecord};
pub use record::{HeldChange, HeldKind};
use room::{HeldEntry, HeldRoom};

/// The most bytes of all held changes together.
const MOST_BYTES: u64 = 64 << 20;
/// The most held changes.
const MOST: usize = 1000;
/// The most bytes that are kept of what was there.
const LONGEST_BEFORE: usize = 1 << 20;
/// The names of the files of a held change.
const FILES: [&str; 3] = ["record", "content", "before"];
/// What a host that ended while it put a change in place leaves behind.
const REMNANTS: [&str; 3] = ["merged", "merged.lock", "put"];

/// The directory of held changes.
pub struct HeldStore {
    directory: OwnedFd,
    /// The root directory outside: in the sandbox some directories are overlays, with identities of their own.
    root: OwnedFd,
    /// The first directory that commands write to: each one has its share of the room.
    workspace: PathBuf,
    /// One change at a time is stored.
    storing: Mutex<()>,
}

impl HeldStore {
    /// Opens the directory that a plan names. None: it names none, or that can't be opened.
    pub fn of(plan: &Plan) -> Option<HeldStore> {
        let workspace = plan.paths(Access::Write).next().unwrap_or(Path::new(""));
        HeldStore::open(plan.held.as_deref()?, workspace).ok()
    }

    /// Opens the directory. To be called outside of the sandbox's mounts, where it is hidden.
    ///
    /// `workspace`: the first directory that commands write to; empty: none.
    fn open(path: &Path, workspace: &Path) -> io::Result<HeldStore> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::open(path, flags, Mode::empty())?;
        let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let workspace = workspace.to_owned();
        Ok(HeldStore { directory, root, workspace, storing: Mutex::new(()) })
    }

    /// Stores a change, and removes an older one that is the same. Returns its id.
    pub fn hold(&self, change: &HeldChange) -> io::Result<String> {
        let _one = self.storing.lock().unwrap_or_else(PoisonError::into_inner);
        let id = id()?;
        let unfinished = format!(".{id}");
        let at = self.directory.as_fd();
        mkdirat(at, &unfinished, Mode::RWXU)?;
        let stored = self.write(&unfinished, change).and_then(|()| {
            self.tidy(change);
            Ok(renameat(at, &unfinished, at, &id)?)
        });
        if stored.is_err() {
            self.remove(&unfinished);
        }
        stored.map(|()| id)
    }

    fn write(&self, name: &str, change: &HeldChange) -> io::Result<()> {
        let there = self.at(name)?;
        let mut files = vec![("record", self.record(change))];
        if change.kind != HeldKind::Removal {
            files.push(("content", change.content.to_vec()));
        }
        if let Some((_, content)) = change.before.filter(|(_, it)| it.len() <= LONGEST_BEFORE) {
            files.push(("before", content.to_vec()));
        }
        for (name, bytes) in files {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let file = openat(&there, name, flags, Mode::RUSR | Mode::WUSR)?;
            File::from(file).write_all(&bytes)?;
        }
        Ok(())
    }

    fn record(&self, change: &HeldChange) -> Vec<u8> {
        let base = HeldBase::of(self.root.as_fd(), change.path);
        record::write(change, &self.workspace, base.as_ref())
    }

    /// Removes the same change, and older ones where there are too many.
    fn tidy(&self, change: &HeldChange) {
        let mut all = self.all();
        all.retain(|(found, record)| {
            let is_same = self.is_same(&found.name, record.as_ref(), change);
            if is_same {
                self.remove(&found.name);
            }
            !is_same
        });
        let before = change.before.map_or(0, |(_, content)| content.len());
        let mut room = HeldRoom::new(&self.workspace, (change.content.len() + before) as u64);
        all.into_iter().for_each(|(found, _)| room.add(found));
        for name in room.displaced(MOST, MOST_BYTES) {
            self.remove(&name);
        }
    }

    fn all(&self) -> Vec<(HeldEntry, Option<KnownRecord>)> {
        let Ok(directory) = Dir::read_from(&self.directory) else { return Vec::new() };
        let names = directory.flatten().filter_map(|entry| {
            let name = entry.file_name().to_str().ok()?;
            is_id(name).then(|| name.to_owned())
        });
        names.filter_map(|name| self.found(name)).collect()
    }

    fn found(&self, name: String) -> Option<(HeldEntry, Option<KnownRecord>)> {
        let there = self.at(&name).ok()?;
        let status = |file| statat(&there, file, AtFlags::SYMLINK_NOFOLLOW).ok();
        let changed = status("record").map_or((0, 0), |it| (it.st_mtime, it.st_mtime_nsec as i64));
        let size = FILES.iter().filter_map(|file| status(file)).map(|it| it.st_size as u64).sum();
        let record = self.read(&name, "record").map(|bytes| KnownRecord::read(&bytes));
        let workspace = record.as_ref().map(|it| it.workspace.clone()).unwrap_or_default();
        Some((HeldEntry { name, changed, size, workspace }, record))
    }

    fn is_same(&self, name: &str, record: Option<&KnownRecord>, change: &HeldChange) -> bool {
        record.is_some_and(|record| record.is_of(change))
            && self.read(name, "content").unwrap_or_default() == change.content
    }

    fn read(&self, name: &str, file: &str) -> Option<Vec<u8>> {
        let there = self.at(name).ok()?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut bytes = Vec::new();
        let file = openat(&there, file, flags, Mode::empty()).ok()?;
        File::from(file).take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn at(&self, name: &str) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.directory, name, flags, Mode::empty())?)
    }

    /// Returns whether there is a change of this id.
    pub fn has(&self, id: &str) -> bool {
        self.at(id).is_ok()
    }

    /// Removes a change.
    pub fn remove(&self, name: &str) {
        let Ok(there) = self.at(name) else { return };
        for file in FILES.into_iter().chain(REMNANTS) {
            let _ = unlinkat(&there, file, AtFlags::empty());
        }
        let _ = unlinkat(&self.directory, name, AtFlags::REMOVEDIR);
    }
}

/// Returns a name that no command can foresee.
pub fn id() -> io::Result<String> {
    let mut bytes = [0_u8; 8];
    // SAFETY: fills at most as many bytes as it is told.
    let count = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if count != bytes.len() as isize {
        return Err(io::Error::last_os_error());
    }
    Ok(format!("{:016x}", u64::from_ne_bytes(bytes)))
}

/// Makes a file in memory with this content, read from its beginning.
pub fn in_memory(content: &[u8]) -> io::Result<OwnedFd> {
    use std::io::{Seek, SeekFrom};
    let mut file =
        File::from(rustix::fs::memfd_create(c"setting", rustix::fs::MemfdFlags::CLOEXEC)?);
    file.write_all(content)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file.into())
}

/// Reads at most this many bytes of an open file; more are an error (EFBIG).
pub fn read_all(file: BorrowedFd, most: usize) -> Result<Vec<u8>, i32> {
    let mut bytes = Vec::new();
    let file = file.try_clone_to_owned().map_err(|_| libc::EMFILE)?;
    let read = File::from(file).take(most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
    if bytes.len() > most { Err(libc::EFBIG) } else { Ok(bytes) }
}
