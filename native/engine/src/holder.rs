//! The thread that keeps a command's working directory, so that its end can be told.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicI32, Ordering};

use parking_lot::Mutex;
use rustix::fs::readlink;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

use crate::launch::ffi;

/// A place for a command's holder: kept until the command has ended, and released by its drop.
#[derive(Debug)]
pub struct Holder {
    /// Taken by the drop alone.
    place: Option<Place>,
}

/// What the kernel and the thread itself write to, so that it must stay where it is.
#[derive(Debug)]
struct Place {
    raw: NonNull<ffi::Holder>,
    stack: NonNull<std::ffi::c_void>,
}

// SAFETY: it owns both pieces of memory, which belong to no thread in particular; what the
// holder's thread writes to is only looked at as an atomic.
unsafe impl Send for Place {}

const PAGE: usize = 4096;
const STACK_SIZE: usize = 16 * 1024;

/// Places whose threads are about to end, or have.
static IDLE: Mutex<Vec<Place>> = Mutex::new(Vec::new());
/// So many are kept for commands to come.
const MOST_IDLE: usize = 8;

impl Holder {
    /// A place that no thread uses.
    pub fn new() -> io::Result<Self> {
        let mut idle = IDLE.lock();
        let free = idle.iter().position(|place| place.thread() == 0);
        let place = free.map(|index| idle.swap_remove(index));
        drop(idle);
        let place = place.map_or_else(Place::new, Ok)?;
        Ok(Holder { place: Some(place) })
    }

    /// For the launch, which starts the thread.
    pub fn as_raw(&self) -> *mut ffi::Holder {
        self.place.as_ref().map_or(null_mut(), |place| place.raw.as_ptr())
    }

    /// Where the command is, or was at its end. A directory that has been removed has
    /// ` (deleted)` after its name. None: it can't be told (no `/proc`, out of this root, too long).
    pub fn directory(&self) -> Option<PathBuf> {
        let thread = self.place.as_ref()?.thread();
        let path = readlink(format!("/proc/self/task/{thread}/cwd"), Vec::new()).ok()?;
        let path = PathBuf::from(OsString::from_vec(path.into_bytes()));
        path.is_absolute().then_some(path)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let Some(place) = self.place.take() else { return };
        // SAFETY: it lives on until its thread, if there is one, has ended.
        unsafe { ffi::forkline_release(place.raw.as_ptr()) };
        // Nobody waits for the thread: its memory rests here until it is gone.
        let mut idle = IDLE.lock();
        idle.push(place);
        let surplus = idle.len().saturating_sub(MOST_IDLE);
        let gone = idle.extract_if(.., |place| place.thread() == 0).take(surplus);
        let gone: Vec<Place> = gone.collect();
        drop(idle);
        drop(gone);
    }
}

impl Place {
    fn new() -> io::Result<Self> {
        let size = PAGE + STACK_SIZE;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh anonymous mapping, overlapping nothing.
        let base = unsafe { mmap_anonymous(null_mut(), size, access, MapFlags::PRIVATE) }?;
        let stack = NonNull::new(base).ok_or(io::ErrorKind::OutOfMemory)?;
        let raw = ffi::Holder {
            thread: 0,
            state: 0,
            stack: base.wrapping_byte_add(PAGE),
            stack_size: STACK_SIZE,
        };
        let raw = NonNull::from(Box::leak(Box::new(raw)));
        let place = Place { raw, stack };
        // SAFETY: the first page of the mapping just made, which nobody uses yet: an overflow
        // faults instead of corrupting.
        unsafe { mprotect(base, PAGE, MprotectFlags::empty()) }?;
        Ok(place)
    }

    /// The thread's id; 0 when there is none.
    fn thread(&self) -> i32 {
        // SAFETY: the field lives as long as `self`, is aligned, and is written by the kernel
        // alone, a word at a time.
        let thread = unsafe { AtomicI32::from_ptr(&raw mut (*self.raw.as_ptr()).thread) };
        thread.load(Ordering::Acquire)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // SAFETY: both were made in `new`; places are dropped only when no thread uses them.
        unsafe {
            let _ = munmap(self.stack.as_ptr(), PAGE + STACK_SIZE);
            drop(Box::from_raw(self.raw.as_ptr()));
        }
    }
}
