//! The refresher: a process beside the sandbox that makes overlays notice what the host has changed. An
//! overlay caches each name that was looked up, and would show a replaced file for ever.
//!
//! It is notified of changes in the host's directories, and is out of reach of commands.

use std::fs::{self, File};
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::exit;
use std::thread;
use std::time::Duration;

use crate::sandbox::mounts;
use crate::sandbox::tree::{OverlayBase, names};
use crate::sandbox::warden::GuardedSandbox;
use crate::sandbox::watchers::{done, enter, listen};

/// Entries are made, removed or replaced, or their mode changes.
const CHANGES: u32 =
    libc::IN_CREATE | libc::IN_DELETE | libc::IN_MOVED_FROM | libc::IN_MOVED_TO | libc::IN_ATTRIB;

/// How long to collect changes before the next refresh.
const PAUSE: Duration = Duration::from_millis(5);

const OVERLAYFS_SUPER_MAGIC: u64 = 0x794c_7630;

/// The refresher's process.
pub struct Refresher {
    pub pid: i32,
    entered: PipeReader,
}

/// A directory that may have an overlay in the sandbox, and its device outside of the overlay.
type OverlaySite = (PathBuf, u64);

/// Starts the refresher as a child of this process, while the file tree of the sandbox is being made.
/// None: no name is hidden by an overlay, or changes can't be watched.
pub fn start(guarded: &GuardedSandbox) -> Option<Refresher> {
    let (bases, _) = names(&guarded.plan.resolved(), &mounts::all());
    let site = |path: &Path| Some((path.to_owned(), fs::metadata(path).ok()?.dev()));
    let caches = guarded.plan.caches.layers.iter().filter_map(|(path, _)| site(path));
    let places: Vec<OverlaySite> =
        bases.iter().filter_map(|base| site(&base.path)).chain(caches).collect();
    if places.is_empty() {
        return None;
    }
    let used = guarded.plan.caches.used();
    let directories = bases.iter().flat_map(OverlayBase::merged);
    let changes = listen(directories.chain(used.as_deref()), CHANGES).ok()?;
    let (entered, mut tell) = io::pipe().ok()?;
    // SAFETY: takes nothing.
    let parent = unsafe { libc::getpid() };
    // SAFETY: there is one thread, so the child has everything that its parent had.
    match unsafe { libc::fork() } {
        -1 => None,
        0 => {
            if enter(guarded, parent).and_then(|()| tell.write_all(&[1])).is_ok() {
                drop((entered, tell));
                serve(changes, &places);
            }
            exit(1)
        }
        pid => Some(Refresher { pid, entered }),
    }
}

impl Refresher {
    /// Waits until the refresher is in the sandbox, or has ended: the sandbox can't be entered later.
    pub fn wait(&mut self) {
        let _ = self.entered.read(&mut [0]);
    }
}

/// Refreshes overlays until this process is killed.
fn serve(mut changes: File, places: &[OverlaySite]) {
    let mut events = [0; 4096];
    while changes.read(&mut events).is_ok() {
        places.iter().filter_map(overlay).for_each(|overlay| forget(&overlay));
        thread::sleep(PAUSE);
    }
}

/// Opens the overlay at this path. None: the directory is not an overlay, or is on the same device as the
/// host's.
fn overlay((path, device): &OverlaySite) -> Option<OwnedFd> {
    let flags = libc::O_PATH | libc::O_DIRECTORY;
    let directory = File::options().read(true).custom_flags(flags).open(path).ok()?;
    // SAFETY: valid as zeros; fills the structure.
    let kind = unsafe {
        let mut status: libc::statfs = std::mem::zeroed();
        done(libc::fstatfs(directory.as_raw_fd(), &mut status)).ok()?;
        // Its type differs between C libraries.
        status.f_type as u64
    };
    let is_overlay = kind == OVERLAYFS_SUPER_MAGIC && directory.metadata().ok()?.dev() != *device;
    is_overlay.then(|| directory.into())
}

/// Makes an overlay drop cached lookups: reconfiguring does that, whether it succeeds or not.
fn forget(overlay: &OwnedFd) {
    const FSPICK_CLOEXEC: libc::c_int = 1;
    const FSPICK_EMPTY_PATH: libc::c_int = 8;
    const FSCONFIG_CMD_RECONFIGURE: libc::c_int = 7;
    let none = std::ptr::null::<libc::c_char>();
    // SAFETY: an empty path, numbers, and null pointers for names and values; the opened descriptor is
    // closed.
    unsafe {
        let flags = FSPICK_CLOEXEC | FSPICK_EMPTY_PATH;
        let overlay = overlay.as_raw_fd();
        let configuration = libc::syscall(libc::SYS_fspick, overlay, c"".as_ptr(), flags) as i32;
        if configuration >= 0 {
            libc::syscall(
                libc::SYS_fsconfig,
                configuration,
                FSCONFIG_CMD_RECONFIGURE,
                none,
                none,
                0,
            );
            libc::close(configuration);
        }
    }
}
