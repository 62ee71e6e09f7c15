//! Changes that are held back: each has a directory of its own outside, which no process in the sandbox
//! sees, until the user accepts or drops it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, Stat, mkdirat, openat, renameat, statat, unlinkat};

/// The most bytes of all held changes together.
const MOST_BYTES: u64 = 64 << 20;
/// The most held changes.
const MOST: usize = 1000;
/// The most bytes that are kept of what was there.
const LONGEST_BEFORE: usize = 1 << 20;
/// The names of the files of a held change.
const FILES: [&str; 3] = ["record", "content", "before"];

/// The directory of held changes.
pub struct HeldStore {
    directory: OwnedFd,
    /// One change at a time is stored.
    storing: Mutex<()>,
}

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

/// A held change in the directory.
struct HeldEntry {
    name: String,
    changed: i64,
    size: u64,
}

impl HeldStore {
    /// Opens the directory. To be called outside of the sandbox's mounts, where it is hidden.
    pub fn open(path: &Path) -> io::Result<HeldStore> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(HeldStore { directory, storing: Mutex::new(()) })
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
        let mut files = vec![("record", record(change))];
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

    /// Removes the same change, and the oldest ones where there are too many.
    fn tidy(&self, change: &HeldChange) {
        let mut all = self.all();
        all.retain(|found| {
            let is_same = self.is_same(&found.name, change);
            if is_same {
                self.remove(&found.name);
            }
            !is_same
        });
        all.sort_by_key(|found| found.changed);
        let mut bytes =
            change.content.len() as u64 + all.iter().map(|found| found.size).sum::<u64>();
        let mut count = all.len() + 1;
        for found in all {
            if count <= MOST && bytes <= MOST_BYTES {
                break;
            }
            self.remove(&found.name);
            (count, bytes) = (count - 1, bytes.saturating_sub(found.size));
        }
    }

    fn all(&self) -> Vec<HeldEntry> {
        let Ok(directory) = Dir::read_from(&self.directory) else { return Vec::new() };
        let names = directory.flatten().filter_map(|entry| {
            let name = entry.file_name().to_str().ok()?;
            is_id(name).then(|| name.to_owned())
        });
        names.filter_map(|name| self.found(name)).collect()
    }

    fn found(&self, name: String) -> Option<HeldEntry> {
        let there = self.at(&name).ok()?;
        let status = |file| statat(&there, file, AtFlags::SYMLINK_NOFOLLOW).ok();
        let changed = status("record").map_or(0, |it: Stat| it.st_mtime);
        let size = FILES.iter().filter_map(|file| status(file)).map(|it| it.st_size as u64).sum();
        Some(HeldEntry { name, changed, size })
    }

    fn is_same(&self, name: &str, change: &HeldChange) -> bool {
        let Some(record) = self.read(name, "record") else { return false };
        let mut fields = record.split(|byte| *byte == 0);
        let mut path = None;
        let mut kind = None;
        while let (Some(word), Some(value)) = (fields.next(), fields.next()) {
            match word {
                b"path" => path = Some(value),
                b"what" => kind = Some(value),
                _ => {}
            }
        }
        path == Some(change.path.as_os_str().as_bytes())
            && kind == Some(change.kind.word().as_bytes())
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

    fn remove(&self, name: &str) {
        let Ok(there) = self.at(name) else { return };
        for file in FILES {
            let _ = unlinkat(&there, file, AtFlags::empty());
        }
        let _ = unlinkat(&self.directory, name, AtFlags::REMOVEDIR);
    }
}

impl HeldKind {
    fn word(self) -> &'static str {
        match self {
            HeldKind::File | HeldKind::Unknown { is_link: false } => "file",
            HeldKind::Unknown { is_link: true } => "link",
            HeldKind::Removal => "removal",
        }
    }
}

/// Returns the pairs of a word and a value that describe a change.
fn record(change: &HeldChange) -> Vec<u8> {
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
    add("what", change.kind.word().as_ref());
    add("reason", reason.as_ref());
    for key in change.keys {
        add("key", key.as_ref());
    }
    add("mode", format!("{:o}", change.mode & 0o7777).as_ref());
    add("before", before.as_ref());
    bytes
}

fn is_id(name: &str) -> bool {
    name.len() == 16 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn change<'a>(path: &'a str, content: &'a [u8], keys: &'a [String]) -> HeldChange<'a> {
        let kind = HeldKind::File;
        HeldChange { path: Path::new(path), kind, keys, mode: 0o100644, content, before: None }
    }

    #[test]
    fn the_same_change_is_held_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = HeldStore::open(folder.path()).unwrap();
        let keys = ["core.fsmonitor".to_owned()];
        let first = store.hold(&change("/w/.git/config", b"a", &keys)).unwrap();
        let second = store.hold(&change("/w/.git/config", b"a", &keys)).unwrap();
        let third = store.hold(&change("/w/.git/config", b"b", &keys)).unwrap();
        let exists = |id: &str| folder.path().join(id).exists();
        assert!(!exists(&first) && exists(&second) && exists(&third));
        let record = std::fs::read(folder.path().join(&second).join("record")).unwrap();
        let text = String::from_utf8(record).unwrap();
        assert!(text.contains("path\0/w/.git/config\0what\0file\0reason\0setting\0"));
        assert!(text.ends_with("key\0core.fsmonitor\0mode\x00644\0before\0none\0"));
        let content = std::fs::read(folder.path().join(&second).join("content")).unwrap();
        assert_eq!(content, b"a");
    }

    #[test]
    fn the_oldest_ones_go_when_there_are_too_many() {
        let folder = tempfile::tempdir().unwrap();
        let store = HeldStore::open(folder.path()).unwrap();
        let content = vec![0; (MOST_BYTES / 3) as usize + 1];
        for path in ["/1", "/2", "/3"] {
            store.hold(&change(path, &content, &[])).unwrap();
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
