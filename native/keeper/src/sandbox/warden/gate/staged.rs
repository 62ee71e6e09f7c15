//! Files that git obeys and that a command writes in place: it gets a file in memory, and what that
//! contains is judged when no process can write to it any more.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use rustix::fs::{MemfdFlags, inotify, memfd_create};

use crate::sandbox::place;
use crate::sandbox::warden::caller::Caller;
use crate::sandbox::warden::gate::found::GateEntry;
use crate::sandbox::warden::gate::obeyed::Obeyed;
use crate::signals;

/// The most files at a time.
const MOST: usize = 64;
/// Sets the signal for a lease that ends.
const F_SETSIG: i32 = 10;
/// The time after which a file that was still open is looked at again.
const AGAIN: Duration = Duration::from_millis(20);
/// The flags of a call that hold for a file in memory too.
const KEPT_FLAGS: i32 = libc::O_ACCMODE | libc::O_APPEND | libc::O_NONBLOCK;

/// The files that are being written.
#[derive(Default)]
pub struct Staging {
    /// Tells when the last process has closed a file. Made for the first one: a user has few.
    watches: OnceLock<OwnedFd>,
    files: Mutex<HashMap<i32, StagedFile>>,
    /// Those in the map, or being judged.
    count: AtomicUsize,
    /// Read while a file is handed to its caller: until this process has closed its own descriptor, the
    /// caller's is not the last one.
    handing: RwLock<()>,
}

/// A file in memory, and the place for which it is meant.
pub struct StagedFile {
    pub caller: Caller,
    /// The caller's cradle, which is told.
    pub cradle: Option<i32>,
    /// The number of git's directory.
    pub root: usize,
    pub directory: OwnedFd,
    pub name: CString,
    pub below: PathBuf,
    pub obeyed: Obeyed,
    /// Open for reading.
    pub file: OwnedFd,
    /// Whether a process has closed it, perhaps not the last one.
    pub is_closed: bool,
}

impl Staging {
    /// Returns whether a file has been staged, so that somebody has to wait for its end.
    pub fn has_begun(&self) -> bool {
        self.watches.get().is_some()
    }

    /// Watches a file. It must not be open for writing anywhere but where its end is to be seen.
    pub fn add(&self, staged: StagedFile) -> Result<(), i32> {
        let watches = match self.watches.get() {
            Some(watches) => watches,
            None => {
                let flags = inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK;
                let made = inotify::init(flags).map_err(|_| libc::EROFS)?;
                self.watches.get_or_init(|| made)
            }
        };
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() >= MOST {
            return Err(libc::EROFS);
        }
        let path = format!("self/fd/{}", staged.file.as_raw_fd());
        let watch = inotify::add_watch(watches, path, inotify::WatchFlags::CLOSE_WRITE);
        files.insert(watch.map_err(|_| libc::EROFS)?, staged);
        self.count.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// To be kept while a file is handed to its caller, and closed here.
    pub fn handing(&self) -> RwLockReadGuard<'_, ()> {
        self.handing.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Judges what has been closed. When this returns, so has every earlier call.
    pub fn settle(&self, mut judge: impl FnMut(StagedFile)) {
        if self.count.load(Ordering::Acquire) == 0 {
            return;
        }
        let Some(watches) = self.watches.get() else { return };
        drop(self.handing.write().unwrap_or_else(PoisonError::into_inner));
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        mark_closed(watches, &mut files);
        let all = files.iter().filter(|(_, staged)| staged.is_closed && !staged.is_written());
        let over: Vec<i32> = all.map(|(watch, _)| *watch).collect();
        for watch in over {
            let Some(staged) = files.remove(&watch) else { continue };
            let _ = inotify::remove_watch(watches, watch);
            judge(staged);
            self.count.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Waits until something has been closed, or for what is being closed: the kernel tells of it a moment
    /// before.
    pub fn wait(&self) {
        let Some(watches) = self.watches.get() else { return };
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let time = files.values().any(|staged| staged.is_closed).then_some(AGAIN);
        drop(files);
        signals::wait([Some((watches.as_fd(), libc::POLLIN))], time);
        // Also what is told of a watch that has ended, or the next wait would return at once.
        mark_closed(watches, &mut self.files.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Takes what has been told.
fn mark_closed(watches: &OwnedFd, files: &mut HashMap<i32, StagedFile>) {
    let mut buffer = [const { std::mem::MaybeUninit::uninit() }; 4096];
    let mut events = inotify::Reader::new(watches, &mut buffer);
    while let Ok(event) = events.next() {
        if let Some(staged) = files.get_mut(&event.wd()) {
            staged.is_closed = true;
        }
    }
}

/// Makes a file in memory as a caller would have opened it. Returns it for the caller, and for reading.
pub fn file_in_memory(
    caller: &Caller,
    content: &[u8],
    flags: i32,
    mode: u32,
) -> Result<(OwnedFd, OwnedFd), i32> {
    caller.act(|| {
        let made = memfd_create(c"git-setting", MemfdFlags::CLOEXEC).map_err(|_| libc::EROFS)?;
        let mut made = File::from(made);
        made.write_all(content).map_err(|error| errno(&error))?;
        // Opened anew, so that its end is seen: the kernel tells nothing of one made without a name.
        let theirs = again(&made, flags & KEPT_FLAGS)?;
        let ours = again(&made, libc::O_RDONLY)?;
        // SAFETY: takes numbers only.
        match unsafe { libc::fchmod(made.as_raw_fd(), mode & 0o777) } {
            0 => Ok((theirs, ours)),
            _ => Err(errno(&io::Error::last_os_error())),
        }
    })
}

/// Returns an error unless a caller may write to a file, or make one.
pub fn check_rights(caller: &Caller, at: &GateEntry, is_there: bool) -> Result<(), i32> {
    let (name, mode) =
        if is_there { (at.name.as_c_str(), libc::W_OK) } else { (c".", libc::W_OK | libc::X_OK) };
    caller.act(|| {
        // SAFETY: a name that ends with NUL, and numbers.
        let result = unsafe {
            libc::faccessat(at.directory.as_raw_fd(), name.as_ptr(), mode, libc::AT_EACCESS)
        };
        if result == 0 { Ok(()) } else { Err(errno(&io::Error::last_os_error())) }
    })
}

impl StagedFile {
    /// Returns whether a process has it open for writing: only without one there can be a lease for
    /// reading.
    fn is_written(&self) -> bool {
        let file = self.file.as_raw_fd();
        let leased = self.caller.act(|| {
            // SAFETY: takes numbers only. If a process opened the file meanwhile, the signal would be one
            // that is ignored.
            let result = unsafe {
                libc::fcntl(file, F_SETSIG, libc::SIGURG);
                libc::fcntl(file, libc::F_SETLEASE, libc::F_RDLCK)
            };
            if result < 0 {
                return Err(errno(&io::Error::last_os_error()));
            }
            // SAFETY: takes numbers only.
            unsafe { libc::fcntl(file, libc::F_SETLEASE, libc::F_UNLCK) };
            Ok(())
        });
        leased == Err(libc::EAGAIN)
    }

    /// Returns the mode that the file has been given.
    pub fn mode(&self) -> u32 {
        place::status(&self.file).map_or(0o644, |status| status.st_mode)
    }
}

fn again(file: &File, flags: i32) -> Result<OwnedFd, i32> {
    let path = CString::new(format!("self/fd/{}", file.as_raw_fd())).map_err(|_| libc::EINVAL)?;
    // SAFETY: a path that ends with NUL.
    let opened = unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) };
    if opened < 0 {
        return Err(errno(&io::Error::last_os_error()));
    }
    // SAFETY: the descriptor was just opened; nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(opened) })
}

fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EROFS)
}
