//! A process beside the sandbox that has overlays look again at what the host has changed. An overlay
//! remembers each name that was looked up in it, and would show a replaced file for ever.
//!
//! It hears of changes of the host's directories, and nothing from commands, which do not see it.

use std::fs::{self, File};
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::process::exit;
use std::thread;
use std::time::Duration;

use crate::sandbox::mounts;
use crate::sandbox::tree::{OverlayBase, names};
use crate::sandbox::warden::Charge;
use crate::sandbox::watchers::{done, enter, listen};

/// Entries come and go, or are others by the same names, or have another mode.
const CHANGES: u32 = libc::IN_CREATE
    | libc::IN_DELETE
    | libc::IN_MOVED_FROM
    | libc::IN_MOVED_TO
    | libc::IN_ATTRIB
    | libc::IN_ONLYDIR;

/// What changes meanwhile is looked at together.
const PAUSE: Duration = Duration::from_millis(5);

const OVERLAYFS_SUPER_MAGIC: u64 = 0x794c_7630;

/// That process, which is to be ended.
pub struct Refresher {
    pub pid: i32,
    entered: PipeReader,
}

/// A directory that may have an overlay in the sandbox, and its device without one.
type OverlaySite = (PathBuf, u64);

/// Starts it as a child of this process, while the files of the sandbox are being made. None: no name is
/// hidden by an overlay, or changes can't be heard of.
pub fn start(charge: &Charge) -> Option<Refresher> {
    let (bases, _) = names(&charge.plan.resolved(), &mounts::all());
    let device =
        |base: &OverlayBase| Some((base.path.clone(), fs::metadata(&base.path).ok()?.dev()));
    let places: Vec<OverlaySite> = bases.iter().filter_map(device).collect();
    if places.is_empty() {
        return None;
    }
    let changes = listen(bases.iter().flat_map(OverlayBase::merged), CHANGES).ok()?;
    let (entered, mut tell) = io::pipe().ok()?;
    // SAFETY: takes nothing.
    let parent = unsafe { libc::getpid() };
    // SAFETY: there is one thread, so the child has everything that its parent had.
    match unsafe { libc::fork() } {
        -1 => None,
        0 => {
            if enter(charge, parent).and_then(|()| tell.write_all(&[1])).is_ok() {
                drop((entered, tell));
                serve(changes, &places);
            }
            exit(1)
        }
        pid => Some(Refresher { pid, entered }),
    }
}

impl Refresher {
    /// Waits until it is in the sandbox, or has ended: whoever is in there is closed to it later.
    pub fn wait(&mut self) {
        let _ = self.entered.read(&mut [0]);
    }
}

/// Until it is ended.
fn serve(mut changes: File, places: &[OverlaySite]) {
    let mut events = [0; 4096];
    while changes.read(&mut events).is_ok() {
        places.iter().filter_map(overlay).for_each(|overlay| forget(&overlay));
        thread::sleep(PAUSE);
    }
}

/// The overlay at this path, if there is one: it is no directory of the device that the host has there.
fn overlay((path, device): &OverlaySite) -> Option<OwnedFd> {
    let flags = libc::O_PATH | libc::O_DIRECTORY;
    let directory = File::options().read(true).custom_flags(flags).open(path).ok()?;
    // SAFETY: valid as zeros; fills the structure.
    let kind = unsafe {
        let mut status: libc::statfs = std::mem::zeroed();
        done(libc::fstatfs(directory.as_raw_fd(), &mut status)).ok()?;
        // Its type is another one with each C library.
        status.f_type as u64
    };
    let is_overlay = kind == OVERLAYFS_SUPER_MAGIC && directory.metadata().ok()?.dev() != *device;
    is_overlay.then(|| directory.into())
}

/// Has an overlay forget what was looked up in it: being configured anew does that, whatever comes of it.
fn forget(overlay: &OwnedFd) {
    const FSPICK_CLOEXEC: libc::c_int = 1;
    const FSPICK_EMPTY_PATH: libc::c_int = 8;
    const FSCONFIG_CMD_RECONFIGURE: libc::c_int = 7;
    let none = std::ptr::null::<libc::c_char>();
    // SAFETY: an empty path, numbers, and nothing where there is no name or value; what is opened is closed.
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
