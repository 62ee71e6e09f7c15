//! The directory in which a command starts.

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
    /// The directory at this absolute path.
    Path(CString),
    /// The open directory, whatever its name is by the time of the launch, and even if it has been removed.
    Held(Arc<OwnedFd>),
}

impl Directory {
    /// Returns the name of the directory, for an error.
    pub fn name(&self) -> &CStr {
        match self {
            Directory::Path(path) => path,
            Directory::Held(_) => c".",
        }
    }
}

/// The host's own directory, kept open for commands that were requested while the host was in it: the host
/// may be in another one when they are launched.
#[derive(Debug, Default)]
pub struct HostDirectory {
    /// The directory of the last command, while any command waits for its launch: a thousand commands
    /// requested at once must not take a thousand descriptors.
    last: Weak<OwnedFd>,
}

impl HostDirectory {
    /// Opens the host's current directory. Never blocks. None: the host may not search its own directory, as
    /// after `sudo -u`; only its child processes can start there.
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

/// Returns whether the host is still in this directory; false if that can't be found out.
fn is_current(directory: &OwnedFd) -> bool {
    let mask = StatxFlags::INO | StatxFlags::MNT_ID;
    // The attributes that the kernel has in memory are enough: no file server is asked.
    let flags = AtFlags::STATX_DONT_SYNC;
    let held = statx(directory, c"", flags | AtFlags::EMPTY_PATH, mask).map(identity);
    let current = statx(CWD, c".", flags, mask).map(identity);
    matches!((held, current), (Ok(held), Ok(current)) if held == current)
}

/// Returns device, inode and mount: bind mounts show one directory at several places. (Kernels before 5.8
/// can't tell those apart: the mount's id is 0.)
fn identity(status: Statx) -> (u32, u32, u64, u64) {
    (status.stx_dev_major, status.stx_dev_minor, status.stx_ino, status.stx_mnt_id)
}
