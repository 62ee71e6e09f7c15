//! Files that a command writes for the place of a setting, until it has closed them.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{CreateFlags, ReadFlags, WatchFlags, add_watch, init};
use rustix::fs::{CWD, Mode, OFlags, openat};

/// The longest content that is held back: all of them together have no more room.
pub const LONGEST_HELD: usize = 64 << 20;
/// The most files at once.
const MOST: usize = 256;
/// A directory in the sandbox that is on no disk.
const PLACE: &str = "/tmp";

/// The files that are being written.
pub struct StagedSettings {
    /// Tells which files have been closed by all who could write to them.
    events: OwnedFd,
    open: HashMap<i32, Staged>,
}

/// A file that a command writes.
pub struct Staged {
    pub path: PathBuf,
    pub repository: usize,
    pub tracked: PathBuf,
    /// The cradle of the command.
    pub cradle: Option<i32>,
    file: File,
}

impl StagedSettings {
    pub fn new() -> io::Result<StagedSettings> {
        let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(StagedSettings { events, open: HashMap::new() })
    }

    pub fn events(&self) -> &OwnedFd {
        &self.events
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns whether a file is being written for this path, or below it.
    pub fn has(&self, path: &Path) -> bool {
        self.open.values().any(|staged| staged.path.starts_with(path))
    }

    /// Drops what is being written for a path. Returns whether there was something.
    pub fn drop_at(&mut self, path: &Path) -> bool {
        let before = self.open.len();
        self.open.retain(|_, staged| staged.path != path);
        self.open.len() < before
    }

    /// Makes a file for a command. Returns the descriptor for it, opened with these flags.
    pub fn make(
        &mut self,
        path: &Path,
        (repository, tracked): (usize, &Path),
        cradle: Option<i32>,
        flags: i32,
        mode: u32,
    ) -> io::Result<OwnedFd> {
        if self.open.len() >= MOST {
            return Err(io::Error::from_raw_os_error(libc::ENFILE));
        }
        let kind = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        let made = openat(CWD, PLACE, kind, Mode::from_raw_mode(0o600))?;
        rustix::fs::fchmod(&made, Mode::from_raw_mode(mode & 0o777))?;
        // The working directory is the host's `/proc`.
        let again = |flags| openat(CWD, opened(&made), flags | OFlags::CLOEXEC, Mode::empty());
        let file = File::from(again(OFlags::RDONLY)?);
        let kept = libc::O_ACCMODE | libc::O_APPEND | libc::O_SYNC | libc::O_DSYNC;
        // Rights that the command gives to a new file do not hinder it from writing to that.
        let writing = again(OFlags::from_bits_retain((flags & kept) as u32))?;
        drop(made);
        let how = WatchFlags::CLOSE_WRITE | WatchFlags::ONESHOT;
        let number = add_watch(&self.events, opened(&file), how)?;
        let (path, tracked) = (path.to_owned(), tracked.to_owned());
        self.open.insert(number, Staged { path, repository, tracked, cradle, file });
        Ok(writing)
    }

    /// Takes the files that have been closed.
    pub fn closed(&mut self) -> Vec<Staged> {
        let mut all = Vec::new();
        let mut buffer = [const { std::mem::MaybeUninit::uninit() }; 4096];
        let mut events = rustix::fs::inotify::Reader::new(&self.events, &mut buffer);
        while let Ok(event) = events.next() {
            if event.events().contains(ReadFlags::CLOSE_WRITE) {
                all.extend(self.open.remove(&event.wd()));
            }
        }
        all
    }
}

impl Staged {
    /// Returns the content, and the file's rights. None: it is too long to be held back.
    pub fn content(&self) -> io::Result<Option<(Vec<u8>, u32)>> {
        let metadata = self.file.metadata()?;
        let mut content = Vec::new();
        (&self.file).take(LONGEST_HELD as u64 + 1).read_to_end(&mut content)?;
        Ok((content.len() <= LONGEST_HELD).then(|| (content, metadata.mode() & 0o777)))
    }
}

fn opened(file: &impl AsRawFd) -> CString {
    CString::new(format!("self/fd/{}", file.as_raw_fd())).unwrap_or_default()
}
