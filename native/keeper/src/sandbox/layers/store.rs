//! The layers on disk: `DIRECTORY/N/NAME/upper` for each cache and each of a few sandboxes that stand at
//! the same time, and `DIRECTORY/voids/NAME` for caches that the user does not have.

use std::cmp::Reverse;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};
use rustix::io::Errno;

use super::owner;
use super::requested::USED;
use crate::sandbox::plan::{Plan, Require};

/// Sandboxes of a workspace that can have layers on disk at the same time.
pub const MOST_SLOTS: usize = 4;

/// The start of the names of files whose times say when layers were written last.
const WRITTEN: &str = "written-";

/// How long a command waits for layers: removals hold the lock for some milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);

/// The layers of a sandbox's workspace.
pub struct Layers {
    directory: PathBuf,
    /// The lock that each sandbox of the workspace shares while it stands, whether it has layers or not.
    standing: File,
    /// The number of its own layers, and the lock that holds them. None: other sandboxes hold all.
    own: Option<(usize, File)>,
    /// All numbers, those first whose layers were written last.
    order: Vec<usize>,
}

/// Makes the directories, and takes layers that no other sandbox has. To be called outside. None: the
/// plan has no caches, or the directories can't be made, or not soon.
pub fn prepare(plan: &Plan) -> Option<Layers> {
    let directory = plan.caches.directory.clone().filter(|_| plan.require != Require::Landlock)?;
    // Nothing is removed meanwhile.
    let _settled = hold_still(&directory, FlockOperation::NonBlockingLockShared, PATIENCE).ok()?;
    make_all(plan, &directory).ok()?;
    let standing = open_directory(&directory).ok()?;
    flock(&standing, FlockOperation::NonBlockingLockShared).ok()?;
    let mut order: Vec<usize> = (0..MOST_SLOTS).collect();
    order.sort_by_key(|slot| Reverse(written(&directory, *slot)));
    let own = take(&directory, &order);
    if let Some((slot, _)) = &own {
        // Until it is known better, when the sandbox has ended.
        set_written(&directory, *slot, Some(SystemTime::now()));
    }
    Some(Layers { directory, standing, own, order })
}

impl Layers {
    /// Returns the words by which another image of this process has them, and the descriptors that it needs.
    pub fn carried(&self) -> (String, Vec<i32>) {
        let own = self.own.as_ref().map(|(slot, lock)| (*slot, lock.as_raw_fd()));
        let (slot, lock) = own.unwrap_or((0, -1));
        let standing = self.standing.as_raw_fd();
        let order: Vec<String> = self.order.iter().map(ToString::to_string).collect();
        let descriptors = std::iter::once(standing).chain(own.map(|(_, lock)| lock)).collect();
        (format!("{standing} {slot} {lock} {}", order.join(" ")), descriptors)
    }

    /// Reads those words. None: they are none.
    pub fn resumed(plan: &Plan, words: &str) -> Option<Layers> {
        let mut words = words.split(' ');
        // SAFETY: the numbers are those of descriptors that were kept open for this.
        let taken = |word: &str| unsafe {
            let number: i32 = word.parse().ok().filter(|number| *number > 2)?;
            libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC);
            Some(File::from_raw_fd(number))
        };
        let standing = taken(words.next()?)?;
        let slot = words.next()?.parse().ok()?;
        let own = taken(words.next()?).map(|lock| (slot, lock));
        let order = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
        Some(Layers { directory: plan.caches.directory.clone()?, standing, own, order })
    }
}

/// Takes the layers that were written last. If another sandbox has these, then such in which nothing was
/// written: files of older ones would cover newer files below.
fn take(directory: &Path, order: &[usize]) -> Option<(usize, File)> {
    let (newest, rest) = order.split_first()?;
    let mut rest = rest.to_vec();
    rest.sort_by_key(|slot| written(directory, *slot).is_some());
    let mut wanted = std::iter::once(*newest).chain(rest);
    wanted.find_map(|slot| Some((slot, lock(directory, slot)?)))
}

/// Returns when the layers of a number were written last. None: never.
fn written(directory: &Path, slot: usize) -> Option<SystemTime> {
    fs::symlink_metadata(directory.join(format!("{WRITTEN}{slot}"))).ok()?.modified().ok()
}

/// Notes when the layers of a number were written last.
pub fn set_written(directory: &Path, slot: usize, at: Option<SystemTime>) {
    let path = directory.join(format!("{WRITTEN}{slot}"));
    let _ = match at {
        Some(at) => File::create(&path).and_then(|file| file.set_modified(at)),
        None => fs::remove_file(&path),
    };
}

fn make_all(plan: &Plan, directory: &Path) -> io::Result<()> {
    for slot in 0..MOST_SLOTS {
        for (_, name) in &plan.caches.layers {
            let layer = directory.join(slot.to_string()).join(name);
            make(&layer.join("upper"))?;
            make(&layer.join("work"))?;
        }
        make(&directory.join(slot.to_string()))?;
    }
    for (name, _) in &plan.caches.voids {
        make(&directory.join("voids").join(name))?;
    }
    let workspace = plan.caches.workspace.as_deref().unwrap_or(Path::new(""));
    fs::write(directory.join(USED), owner::describe(workspace))?;
    tell_others(directory)
}

/// Has other sandboxes of the workspace look again at the layers.
pub fn tell_others(directory: &Path) -> io::Result<()> {
    File::options().append(true).open(directory.join(USED))?.set_modified(SystemTime::now())
}

impl Layers {
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the number of the layers that this sandbox writes to.
    pub fn own(&self) -> Option<usize> {
        self.own.as_ref().map(|(slot, _)| *slot)
    }

    /// Returns the numbers of the other layers, those first that were written last.
    pub fn others(&self) -> impl Iterator<Item = usize> {
        self.order.iter().copied().filter(|slot| Some(*slot) != self.own())
    }

    /// Has this sandbox stand no more. Returns whether no other one stands; to be called by whoever holds the
    /// lock of all workspaces.
    pub fn end_standing(&self) -> bool {
        let is_alone = flock(&self.standing, FlockOperation::NonBlockingLockExclusive).is_ok();
        let _ = flock(&self.standing, FlockOperation::Unlock);
        is_alone
    }

    /// Returns the directory of a cache's layer.
    pub fn layer(&self, slot: usize, name: &Path) -> PathBuf {
        self.directory.join(slot.to_string()).join(name)
    }

    /// Returns the directory for caches that the user does not have.
    pub fn void(&self, name: &Path) -> PathBuf {
        self.directory.join("voids").join(name)
    }
}

/// Takes the layers of a number. None: a sandbox holds them.
fn lock(directory: &Path, slot: usize) -> Option<File> {
    hold_alone(&directory.join(slot.to_string()))
}

/// Takes a directory. None: somebody holds it.
pub fn hold_alone(directory: &Path) -> Option<File> {
    let place = open_directory(directory).ok()?;
    flock(&place, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(place)
}

/// Takes a lock of all workspaces: shared by those that make directories, exclusive for removals. Tries for
/// `patience`: whoever holds it may have been stopped. `how`: one that does not block.
pub fn hold_still(directory: &Path, how: FlockOperation, patience: Duration) -> io::Result<File> {
    let place = open_directory(directory.parent().ok_or(io::ErrorKind::NotFound)?)?;
    let end = Instant::now() + patience;
    loop {
        match flock(&place, how) {
            Ok(()) => return Ok(place),
            Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < end => thread::sleep(PAUSE),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Opens a directory, and nothing else that is at its path: a link, or a pipe, which would wait for a writer.
fn open_directory(path: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    Ok(openat(CWD, path, flags, Mode::empty())?.into())
}

fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
