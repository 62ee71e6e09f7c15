//! Where a child stands between clone and exec.

use std::ffi::c_void;
use std::io;
use std::ptr::null_mut;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// The memory a child stands on between clone and exec; one for each launching thread.
#[derive(Debug)]
pub struct Stack {
    base: *mut c_void,
}

// SAFETY: it owns its mapping, which belongs to no thread in particular.
unsafe impl Send for Stack {}

const PAGE: usize = 4096;

impl Stack {
    pub(crate) const SIZE: usize = 64 * 1024;

    /// Maps a stack with a guard page below it, so that an overflow faults instead of corrupting.
    pub fn new() -> io::Result<Self> {
        // SAFETY: a fresh anonymous mapping, overlapping nothing.
        let base = unsafe {
            mmap_anonymous(
                null_mut(),
                PAGE + Stack::SIZE,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }?;
        let stack = Stack { base };
        // SAFETY: the first page of the mapping just made, which nobody uses yet.
        unsafe { mprotect(base, PAGE, MprotectFlags::empty()) }?;
        Ok(stack)
    }

    /// Its lowest byte.
    pub(crate) fn lowest(&self) -> *mut c_void {
        self.base.wrapping_byte_add(PAGE)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`; launches borrow the stack, so none is under way.
        let _ = unsafe { munmap(self.base, PAGE + Stack::SIZE) };
    }
}
