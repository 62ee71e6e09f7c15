//! Trees that are changed at random, each change announced to a journal.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "it is for tests")]

pub mod driver;
pub mod operation;
pub mod picture;

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use driver::Driver;
use forkline_journal::{Journal, JournalLimits, WhenFull};
use operation::Operation;
use tempfile::TempDir;

/// A store and a tree beside it.
pub struct Scene {
    _directory: TempDir,
    pub root: PathBuf,
    pub store: OwnedFd,
    pub store_path: PathBuf,
}

impl Scene {
    pub fn new() -> Scene {
        let directory = tempfile::tempdir().unwrap();
        let (root, store_path) = (directory.path().join("tree"), directory.path().join("store"));
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&store_path).unwrap();
        let root = root.canonicalize().unwrap();
        let store = File::open(&store_path).unwrap().into();
        Scene { _directory: directory, root, store, store_path }
    }

    pub fn begin(&self, id: &str) -> Journal {
        self.begin_with(id, u64::MAX / 2, WhenFull::GoOn)
    }

    pub fn begin_with(&self, id: &str, most_bytes: u64, when_full: WhenFull) -> Journal {
        use std::os::fd::AsFd;
        let proc = File::open("/proc").unwrap();
        let limits = JournalLimits { most_bytes, when_full };
        Journal::begin(self.store.as_fd(), id, &[("command", b"test")], limits, proc.as_fd())
            .unwrap()
    }

    /// Does these, each announced to the journal, if there is one.
    pub fn act(&self, journal: Option<&mut Journal>, operations: &[Operation]) {
        let mut driver = Driver { root: &self.root, journal, is_killed: false };
        for operation in operations {
            driver.act(operation);
        }
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        open_all(&self.root);
    }
}

/// Lets an ordinary user remove the tree.
fn open_all(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(status) = path.symlink_metadata() else { return };
    if status.is_dir() {
        let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700));
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            open_all(&entry.path());
        }
    }
}
