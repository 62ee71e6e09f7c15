//! Where commands in sandboxes of this process can write.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

/// Directories, by the names that they were given and by those that they have.
#[derive(Debug, Clone, Default)]
pub struct Reach(HashSet<PathBuf>);

/// What was in reach of a command once stays so: what that has made is there still.
static OF_PROCESS: LazyLock<Mutex<Arc<Reach>>> = LazyLock::new(Mutex::default);

impl Reach {
    /// That of this process, as it is now.
    pub fn of_process() -> Arc<Reach> {
        OF_PROCESS.lock().clone()
    }

    /// Adds to that of this process what can be written to by a sandbox's plan.
    pub fn note_plan(plan: &[u8]) {
        let mut added = Reach::default();
        added.add_plan(plan);
        // A disk that hangs holds nobody up who has the lock.
        Arc::make_mut(&mut OF_PROCESS.lock()).0.extend(added.0);
    }

    /// Adds what can be written to by a plan, as the keeper reads it.
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
