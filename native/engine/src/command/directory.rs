//! Where a command starts.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Statx, StatxFlags, open, statx};
use rustix::io::Errno;

use crate::command::errors::{LaunchError, Step};

/// The directory in which a command starts.
#[derive(Debug, Clone)]
pub enum Directory {
    /// At this path, absolute.
    Path(CString),
    /// This one, whatever it is called by the time of the launch, and even if it is removed.
    Held(Arc<OwnedFd>),
}

impl Directory {
    /// For an error.
    pub fn name(&self) -> &CStr {
        match self {
            Directory::Path(path) => path,
            Directory::Held(_) => c".",
        }
    }
}

/// The host's own directory, held for commands that were asked for while the host was in it: it may
/// be in another one when they are launched.
#[derive(Debug, Default)]
pub struct HostDirectory {
    /// That of the last command, for as long as one waits for its launch. A thousand commands that
    /// are asked for at once must not take a thousand descriptors.
    last: Weak<OwnedFd>,
}

impl HostDirectory {
    /// Holds the directory of now. Never blocks. None: the host may not look for anything in its
    /// own directory, as after `sudo -u`; a command can only be born there.
    pub fn hold(&mut self) -> Result<Option<Directory>, LaunchError> {
        if let Some(last) = self.last.upgrade()
            && is_current(&last)
        {
            return Ok(Some(Directory::Held(last)));
        }
        match open(c".", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(descriptor) => {
                let descriptor = Arc::new(descriptor);
                self.last = Arc::downgrade(&descriptor);
                Ok(Some(Directory::Held(descriptor)))
            }
            Err(errno @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => {
                let error = io::Error::from(errno);
                let subject = "a descriptor for the host's directory";
                Err(LaunchError::new(Step::Descriptors, &error, subject))
            }
            Err(_) => Ok(None),
        }
    }
}

/// Whether the host is still in this directory. One that can't be told is not.
fn is_current(directory: &OwnedFd) -> bool {
    let mask = StatxFlags::INO | StatxFlags::MNT_ID;
    // What the kernel has in memory will do: a network's server is not asked.
    let flags = AtFlags::STATX_DONT_SYNC;
    let held = statx(directory, c"", flags | AtFlags::EMPTY_PATH, mask).map(identity);
    let current = statx(CWD, c".", flags, mask).map(identity);
    matches!((held, current), (Ok(held), Ok(current)) if held == current)
}

/// Of a directory at one place of the tree: bind mounts show one at several. (Kernels before 5.8
/// can't tell those apart: the mount's id is 0.)
fn identity(status: Statx) -> (u32, u32, u64, u64) {
    (status.stx_dev_major, status.stx_dev_minor, status.stx_ino, status.stx_mnt_id)
}
