//! The files that git obeys: read, and replaced by copies that no other process has open.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use crate::sandbox::place as files;
use crate::sandbox::warden::caller::Caller;
use crate::sandbox::warden::gate::found::GateEntry;
use crate::sandbox::warden::gate::names::name_of_gate;
use crate::sandbox::warden::gate::settings::reading::LONGEST;
use crate::sandbox::warden::held::{id, read_all};

/// What is at a name.
pub struct Present {
    pub status: libc::stat,
    pub content: Vec<u8>,
}

/// What would be at a name; `content` None: nothing.
pub struct WantedFile<'a> {
    pub content: Option<&'a [u8]>,
    pub mode: u32,
}

/// Returns what is at a name. None: nothing. An error: no regular file, or one that is too long.
pub fn present(caller: &Caller, at: &GateEntry) -> Result<Option<Present>, i32> {
    present_up_to(caller, at, LONGEST)
}

/// The same, for a file of at most this many bytes.
pub fn present_up_to(caller: &Caller, at: &GateEntry, most: usize) -> Result<Option<Present>, i32> {
    match open(caller, at, libc::O_RDONLY) {
        Err(libc::ENOENT) => Ok(None),
        Err(libc::ELOOP) => Err(libc::EACCES),
        file => {
            let file = file?;
            let status = files::status(&file).map_err(|_| libc::EACCES)?;
            if status.st_mode & libc::S_IFMT != libc::S_IFREG {
                return Err(libc::EACCES);
            }
            Ok(Some(Present { status, content: read_all(file.as_fd(), most)? }))
        }
    }
}

/// Puts a copy there that no other process has open, or removes what is there. The error is EAGAIN if
/// that has been changed since.
pub fn put(
    caller: &Caller,
    at: &GateEntry,
    present: Option<&Present>,
    wanted: &WantedFile,
) -> Result<(), i32> {
    let directory = at.directory.as_raw_fd();
    let Some(content) = wanted.content else {
        return caller.act(|| {
            // SAFETY: a name that ends with NUL, and numbers.
            done(unsafe { libc::unlinkat(directory, at.name.as_ptr(), 0) }.into())
        });
    };
    if present.is_some_and(|present| present.content == content) {
        return Ok(());
    }
    let own = name_of_gate(&id().map_err(|error| errno(&error))?);
    let own = CString::new(own).map_err(|_| libc::EINVAL)?;
    let made = caller.act(|| make(at, &own, content, mode(at, present, wanted)?, None));
    let result = made.and_then(|()| {
        let is_same = is_unchanged(caller, at, present);
        if is_same { rename(caller, at, &own) } else { Err(libc::EAGAIN) }
    });
    if result.is_err() {
        remove(caller, at, &own);
    }
    result
}

/// Puts a copy of an index there, whatever is there now. `status`: that of the file that the caller has
/// written; git compares its time with those of other files.
pub fn replace(
    caller: &Caller,
    at: &GateEntry,
    content: &[u8],
    status: &libc::stat,
) -> Result<(), i32> {
    let own = name_of_gate(&id().map_err(|error| errno(&error))?);
    let own = CString::new(own).map_err(|_| libc::EINVAL)?;
    let mode = status.st_mode & 0o777;
    let made = caller.act(|| make(at, &own, content, mode, Some(status)));
    let result = made.and_then(|()| rename(caller, at, &own));
    if result.is_err() {
        remove(caller, at, &own);
    }
    result
}

/// Gives a file of the gate's own its name.
fn rename(caller: &Caller, at: &GateEntry, own: &CString) -> Result<(), i32> {
    let directory = at.directory.as_raw_fd();
    caller.act(|| {
        // SAFETY: names that end with NUL, and numbers.
        let result =
            unsafe { libc::renameat(directory, own.as_ptr(), directory, at.name.as_ptr()) };
        done(result.into())
    })
}

fn remove(caller: &Caller, at: &GateEntry, own: &CString) {
    let _ = caller.act(|| {
        // SAFETY: a name that ends with NUL, and numbers.
        done(unsafe { libc::unlinkat(at.directory.as_raw_fd(), own.as_ptr(), 0) }.into())
    });
}

/// Makes a file under a name of the gate's own, which the gate opens for nobody. `times`: the status that
/// has them; None: the current time.
fn make(
    at: &GateEntry,
    own: &CString,
    content: &[u8],
    mode: u32,
    times: Option<&libc::stat>,
) -> Result<(), i32> {
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: a name that ends with NUL, and numbers.
    let file = unsafe { libc::openat(at.directory.as_raw_fd(), own.as_ptr(), flags, 0o600) };
    if file < 0 {
        return Err(errno(&io::Error::last_os_error()));
    }
    // SAFETY: the descriptor was just opened; nothing else owns it.
    let mut file = File::from(unsafe { OwnedFd::from_raw_fd(file) });
    file.write_all(content).map_err(|error| errno(&error))?;
    if let Some(it) = times {
        let time = |tv_sec, tv_nsec| libc::timespec { tv_sec, tv_nsec };
        let both = [time(it.st_atime, it.st_atime_nsec), time(it.st_mtime, it.st_mtime_nsec)];
        // SAFETY: a number, and an array that outlives the call.
        done(unsafe { libc::futimens(file.as_raw_fd(), both.as_ptr()) }.into())?;
    }
    // SAFETY: takes numbers only.
    done(unsafe { libc::fchmod(file.as_raw_fd(), mode) }.into())
}

/// Returns the mode of the file: as asked for, but readable, and not writable for others than before.
fn mode(at: &GateEntry, present: Option<&Present>, wanted: &WantedFile) -> Result<u32, i32> {
    let directory = files::status(&at.directory).map_err(|error| errno(&error))?;
    let before = present.map_or(0, |present| present.status.st_mode);
    Ok(0o400 | wanted.mode & 0o777 & (0o755 | before | directory.st_mode & 0o020))
}

fn is_unchanged(caller: &Caller, at: &GateEntry, before: Option<&Present>) -> bool {
    let now = open(caller, at, libc::O_PATH)
        .and_then(|file| files::status(&file).map_err(|error| errno(&error)));
    let of = |status: &libc::stat| {
        (status.st_dev, status.st_ino, status.st_size, status.st_mtime, status.st_mtime_nsec)
    };
    match (now, before) {
        (Ok(now), Some(before)) => of(&now) == of(&before.status),
        (Err(libc::ENOENT), None) => true,
        _ => false,
    }
}

fn open(caller: &Caller, at: &GateEntry, flags: i32) -> Result<OwnedFd, i32> {
    let flags = flags | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    caller.act(|| {
        // SAFETY: a name that ends with NUL, and numbers.
        let file = unsafe { libc::openat(at.directory.as_raw_fd(), at.name.as_ptr(), flags) };
        if file < 0 {
            return Err(errno(&io::Error::last_os_error()));
        }
        // SAFETY: the descriptor was just opened; nothing else owns it.
        Ok(unsafe { OwnedFd::from_raw_fd(file) })
    })
}

fn done(result: i64) -> Result<(), i32> {
    if result == 0 { Ok(()) } else { Err(errno(&io::Error::last_os_error())) }
}

fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EACCES)
}
