//! The directories to which sandboxed commands of this process can write.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

/// A set of directories, both by the given names and by their canonical ones.
#[derive(Debug, Clone, Default)]
pub struct Reach(HashSet<PathBuf>);

/// The reach of this process. It only grows: files that a command has made stay when its sandbox is gone.
static OF_PROCESS: LazyLock<Mutex<Arc<Reach>>> = LazyLock::new(Mutex::default);

impl Reach {
    /// Returns the reach of this process, as it is now.
    pub fn of_process() -> Arc<Reach> {
        OF_PROCESS.lock().clone()
    }

    /// Adds the writable directories of a sandbox's plan to the reach of this process.
    pub fn note_plan(plan: &[u8]) {
        let mut added = Reach::default();
        added.add_plan(plan);
        // The lock is taken only now, so that a disk that hangs does not hold up its other users.
        Arc::make_mut(&mut OF_PROCESS.lock()).0.extend(added.0);
    }

    /// Adds the writable directories of a plan, in the format that the keeper reads.
    pub fn add_plan(&mut self, plan: &[u8]) {
        let mut fields = plan.split(|byte| *byte == 0);
        while let (Some(word), Some(value)) = (fields.next(), fields.next()) {
            if word == b"write" {
                self.add(Path::new(OsStr::from_bytes(value)));
            }
        }
    }

    /// Adds a directory.
    pub fn add(&mut self, directory: &Path) {
        self.0.extend(directory.canonicalize());
        self.0.insert(directory.into());
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn contains(&self, directory: &Path) -> bool {
        self.0.contains(directory)
    }
}
