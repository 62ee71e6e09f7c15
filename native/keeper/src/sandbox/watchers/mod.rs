//! Processes beside the sandbox that watch directories for changes from outside, and keep the sandbox's
//! mounts as commands must see them. They end with the process that starts them.

pub mod change;
pub mod cover;
mod making;
pub mod refresher;
pub mod settler;

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::sandbox::privileges;
use crate::sandbox::warden::GuardedSandbox;

/// Enters the sandbox's mount namespace, with no right but that to change mounts. From then on the
/// process ends with `parent`.
fn enter(guarded: &GuardedSandbox, parent: i32) -> io::Result<()> {
    // The end of the lifeline must show to the host.
    // SAFETY: takes a number only; the descriptor is not used here.
    unsafe { libc::close(guarded.lifeline.as_raw_fd()) };
    guarded.enter(libc::CLONE_NEWNS)?;
    privileges::keep_mounting()?;
    privileges::close_to_others()?;
    // SAFETY: take numbers only. A change of privileges would have cleared the signal.
    unsafe {
        done(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
        if libc::getppid() != parent { Err(io::ErrorKind::NotFound.into()) } else { Ok(()) }
    }
}

/// Watches directories for these changes. A directory that can't be read is not watched.
fn listen<'a>(directories: impl Iterator<Item = &'a Path>, changes: u32) -> io::Result<File> {
    // SAFETY: takes a number; nothing else owns the descriptor.
    let events = unsafe {
        let events = done(libc::inotify_init1(libc::IN_CLOEXEC))?;
        File::from_raw_fd(events)
    };
    for path in directories {
        let name = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: a path that ends with NUL, and numbers.
        unsafe { libc::inotify_add_watch(events.as_raw_fd(), name.as_ptr(), changes) };
    }
    Ok(events)
}

fn done(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
