//! Changes that are held: each directory that commands may write to is seen through an overlay, whose upper
//! layer lies outside, in `DIRECTORY/N/upper`. Nothing is changed in the directory itself.

mod mounting;
mod roots;

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use forkline_journal::KEPT_BOUNDS;
use forkline_pending::sweep_pending;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

pub use mounting::held_tree;

use crate::sandbox::layers;
use crate::sandbox::plan::{Plan, Require};
use crate::sandbox::report::{Protection, SetupError};

/// The file whose lock all share that use the layers, so that nobody removes them.
const LOCK: &str = "lock";
/// The file whose lock one sandbox has, which writes to the layers.
const MOUNTED: &str = "mounted";

/// The file by which they go with the sandbox.
const DISCARDED: &str = "discard";

/// The layers of a sandbox, which no other one has meanwhile.
pub struct HeldLayers {
    directory: PathBuf,
    locks: [File; 2],
}

/// Makes the layers, or takes those that are there. To be called outside. None: nothing is to be held.
pub fn prepare(plan: &Plan) -> Result<Option<HeldLayers>, SetupError> {
    let Some(pending) = &plan.pending else { return Ok(None) };
    if plan.require == Require::Landlock {
        let without = SetupError::of(Protection::Changes, "holding changes without namespaces");
        return Err(without(io::Error::from_raw_os_error(libc::EOPNOTSUPP)));
    }
    let plan = plan.resolved();
    let locks = locks(&pending.at).map_err(SetupError::of(
        Protection::Changes,
        "taking the layers, which another sandbox may have",
    ))?;
    let roots = roots::of(&plan)?;
    for (index, root) in roots.iter().enumerate() {
        make_layer(&pending.at, index, &root.path).map_err(roots::refuse(&root.path))?;
    }
    roots::note(&pending.at, &roots).map_err(SetupError::of(
        Protection::Changes,
        "writing down what is held, which may be of other directories",
    ))?;
    Ok(Some(HeldLayers { directory: pending.at.clone(), locks }))
}

impl HeldLayers {
    /// To be called when no process of the sandbox is left: what is to be discarded goes, and what is old.
    pub fn end(self) {
        if self.directory.join(DISCARDED).exists() {
            layers::remove(&self.directory);
        }
        drop(self.locks);
        if let Some(store) = self.directory.parent().and_then(|store| File::open(store).ok()) {
            // The next one tries it again.
            let _ = sweep_pending(store.as_fd(), &KEPT_BOUNDS);
        }
    }
}

fn locks(directory: &Path) -> io::Result<[File; 2]> {
    let mounted = lock(&directory.join(MOUNTED), FlockOperation::NonBlockingLockExclusive)?;
    Ok([mounted, lock(&directory.join(LOCK), FlockOperation::NonBlockingLockShared)?])
}

fn lock(path: &Path, how: FlockOperation) -> io::Result<File> {
    let mut options = File::options();
    let options = options.create(true).truncate(false).write(true).mode(0o600);
    let file = options.custom_flags(libc::O_NOFOLLOW).open(path)?;
    match flock(&file, how) {
        Err(Errno::WOULDBLOCK) => Err(io::Error::from_raw_os_error(libc::EBUSY)),
        locked => Ok(locked.map(|()| file)?),
    }
}

/// Makes the directories of a layer. The upper one is seen in place of the lowest: it has that one's owner and mode.
fn make_layer(directory: &Path, index: usize, root: &Path) -> io::Result<()> {
    let layer = layer(directory, index);
    DirBuilder::new().recursive(true).mode(0o700).create(layer.join("work"))?;
    let upper = layer.join("upper");
    match DirBuilder::new().mode(0o700).create(&upper) {
        // It is as commands have left it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        made => made?,
    }
    let seen = fs::metadata(root)?;
    // One of another owner is this user's here, with the same rights.
    let _ = chown(&upper, Some(seen.uid()), Some(seen.gid()));
    fs::set_permissions(&upper, Permissions::from_mode(seen.mode() & 0o7777))
}

fn layer(directory: &Path, index: usize) -> PathBuf {
    directory.join(index.to_string())
}
