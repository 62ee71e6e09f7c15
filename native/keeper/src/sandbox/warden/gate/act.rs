//! Actions for a caller, with its rights, on a name in an open directory.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::sandbox::place;
use crate::sandbox::warden::caller::Caller;
use crate::sandbox::warden::gate::found::GateEntry;
use crate::sandbox::warden::gate::request::Action;

/// Opens a file for writing. Refuses anything but a regular file, since opening it could block.
pub fn open(caller: &Caller, found: &GateEntry, flags: i32, mode: u32) -> Result<OwnedFd, i32> {
    // The filter asks about no file without a name, and none that is only looked at.
    if flags & (libc::O_PATH | libc::O_TMPFILE & !libc::O_DIRECTORY) != 0 {
        return Err(libc::EROFS);
    }
    let mode = mode & !caller.mask()?;
    let ours = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    let directory = found.directory.as_raw_fd();
    let file = caller.act(|| {
        // SAFETY: a name that ends with NUL, and numbers.
        let file = unsafe { libc::openat(directory, found.name.as_ptr(), flags | ours, mode) };
        // SAFETY: the descriptor was just opened; nothing else owns it.
        if file < 0 { Err(last_errno()) } else { Ok(unsafe { OwnedFd::from_raw_fd(file) }) }
    })?;
    let status = place::status(&file).map_err(|_| last_errno())?;
    if status.st_mode & libc::S_IFMT != libc::S_IFREG {
        return Err(libc::EACCES);
    }
    if flags & libc::O_NONBLOCK == 0 {
        // SAFETY: takes numbers only.
        unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags & !libc::O_NONBLOCK) };
    }
    Ok(file)
}

/// What the link leads to by which git finds out whether there can be links: no file.
const TRIAL: &CStr = c"testing";

/// Returns whether a link is that by which git finds out, in a new repository, whether there can be any.
/// No file of git's has such a name.
pub fn is_trial(found: &GateEntry, target: &[u8]) -> bool {
    let name = found.name.as_bytes();
    let is_random = |rest: &[u8]| rest.len() == 6 && rest.iter().all(u8::is_ascii_alphanumeric);
    target == TRIAL.to_bytes() && name.strip_prefix(b"t").is_some_and(is_random)
}

/// Makes that link, which git removes at once.
pub fn make_trial(caller: &Caller, found: &GateEntry) -> Result<(), i32> {
    let (directory, name) = (found.directory.as_raw_fd(), found.name.as_ptr());
    caller.act(|| {
        // SAFETY: names that end with NUL.
        done(unsafe { libc::symlinkat(TRIAL.as_ptr(), directory, name) }.into())
    })
}

/// Changes or removes one name.
pub fn change(caller: &Caller, found: &GateEntry, action: &Action) -> Result<(), i32> {
    let (directory, name) = (found.directory.as_raw_fd(), found.name.as_ptr());
    let mask = if let Action::MakeDirectory { .. } = action { caller.mask()? } else { 0 };
    caller.act(|| {
        // SAFETY: names that end with NUL, numbers, and an array that outlives the call.
        let result = unsafe {
            match action {
                Action::MakeDirectory { mode } => libc::mkdirat(directory, name, mode & !mask),
                Action::Remove { flags } => libc::unlinkat(directory, name, *flags),
                Action::ChangeMode { mode } => return change_mode(found, *mode),
                Action::SetTimes { times } => {
                    let times = times.as_ref().map_or(std::ptr::null(), |times| times.as_ptr());
                    libc::utimensat(directory, name, times, libc::AT_SYMLINK_NOFOLLOW)
                }
                Action::MakeNode { .. } => return Err(libc::EROFS),
                _ => return Err(libc::EINVAL),
            }
        };
        done(result.into())
    })
}

/// Changes the mode through the opened file: by name a link would be followed.
fn change_mode(found: &GateEntry, mode: u32) -> Result<(), i32> {
    let name = Path::new(OsStr::from_bytes(found.name.as_bytes()));
    let file = place::beneath(found.directory.as_fd(), name)
        .map_err(|error| error.raw_os_error().unwrap_or(libc::EACCES))?;
    let path = CString::new(format!("self/fd/{}", file.as_raw_fd())).map_err(|_| libc::EINVAL)?;
    // SAFETY: a path that ends with NUL.
    done(unsafe { libc::chmod(path.as_ptr(), mode) }.into())
}

/// Changes who may execute a file, and nothing else of its mode: git tries that in a new repository.
pub fn change_execution(caller: &Caller, found: &GateEntry, mode: u32) -> Result<(), i32> {
    const EXECUTION: u32 = 0o111;
    let before = mode_of(caller, found)?;
    if (before ^ mode) & 0o7777 & !EXECUTION != 0 {
        return Err(libc::EACCES);
    }
    caller.act(|| change_mode(found, mode))
}

/// Returns whether a call moves or links one file that is no directory.
pub fn moves_file(caller: &Caller, from: &GateEntry, action: &Action) -> Result<bool, i32> {
    let is_exchange = |flags: u32| flags & !libc::RENAME_NOREPLACE != 0;
    if matches!(action, Action::Rename { flags, .. } if is_exchange(*flags)) {
        return Ok(false);
    }
    Ok(mode_of(caller, from)? & libc::S_IFMT != libc::S_IFDIR)
}

fn mode_of(caller: &Caller, found: &GateEntry) -> Result<u32, i32> {
    let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    let directory = found.directory.as_raw_fd();
    let file = caller.act(|| {
        // SAFETY: a name that ends with NUL, and numbers.
        let file = unsafe { libc::openat(directory, found.name.as_ptr(), flags) };
        // SAFETY: the descriptor was just opened; nothing else owns it.
        if file < 0 { Err(last_errno()) } else { Ok(unsafe { OwnedFd::from_raw_fd(file) }) }
    })?;
    Ok(place::status(&file).map_err(|_| last_errno())?.st_mode)
}

/// Renames or links one name to another.
pub fn rename_or_link(
    caller: &Caller,
    from: &GateEntry,
    to: &GateEntry,
    action: &Action,
) -> Result<(), i32> {
    let (old, new) = (from.directory.as_raw_fd(), to.directory.as_raw_fd());
    let (from, to) = (from.name.as_ptr(), to.name.as_ptr());
    caller.act(|| {
        // SAFETY: names that end with NUL, and numbers.
        let result = unsafe {
            match action {
                Action::Rename { flags, .. } if flags & libc::RENAME_WHITEOUT == 0 => {
                    libc::syscall(libc::SYS_renameat2, old, from, new, to, *flags)
                }
                Action::Link { .. } => libc::linkat(old, from, new, to, 0).into(),
                _ => return Err(libc::EINVAL),
            }
        };
        done(result)
    })
}

fn done(result: i64) -> Result<(), i32> {
    if result == 0 { Ok(()) } else { Err(last_errno()) }
}

fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EACCES)
}
