//! The stack of a child between clone and exec.

use std::ffi::c_void;
use std::io;
use std::ptr::null_mut;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// The stack of a child between clone and exec; one for each launching thread.
#[derive(Debug)]
pub struct Stack {
    /// The lowest address of the guard page.
    base: *mut c_void,
    /// The page size, in bytes: 4 KiB with most kernels, 16 or 64 KiB with some on arm64.
    page: usize,
}

// SAFETY: owns its mapping, which belongs to no thread in particular.
unsafe impl Send for Stack {}

/// Returns the page size as the C library knows it. rustix reads `/proc/self/auxv` for it before Linux 6.4, which a
/// process that no other may look into can't open.
fn page_size() -> usize {
    // SAFETY: takes a number. It does not fail for this one.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

impl Stack {
    /// The size in bytes, without the guard page; a multiple of every page size.
    pub(crate) const SIZE: usize = 64 * 1024;

    /// Maps a stack with a guard page below it, so that an overflow faults instead of corrupting.
    pub fn new() -> io::Result<Self> {
        let page = page_size();
        // SAFETY: a fresh anonymous mapping, overlapping nothing.
        let base = unsafe {
            mmap_anonymous(
                null_mut(),
                page + Stack::SIZE,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }?;
        let stack = Stack { base, page };
        // SAFETY: the first page of the mapping just made, which is not in use yet.
        unsafe { mprotect(base, page, MprotectFlags::empty()) }?;
        Ok(stack)
    }

    /// Returns the address of the stack's lowest byte, above the guard page.
    pub(crate) fn lowest(&self) -> *mut c_void {
        self.base.wrapping_byte_add(self.page)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`; launches borrow the stack, so none is under way.
        let _ = unsafe { munmap(self.base, self.page + Stack::SIZE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a byte can be read and written. The kernel does both, and fails where that is not
    /// allowed.
    fn takes_a_byte(at: *mut c_void) -> bool {
        let mut byte = 0_u8;
        let here = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
        let there = libc::iovec { iov_base: at, iov_len: 1 };
        // SAFETY: reads a byte of this process and writes the same byte back, in memory that no other
        // thread uses; an address that is not mapped so is an error.
        unsafe {
            let own = libc::getpid();
            libc::process_vm_readv(own, &here, 1, &there, 1, 0) == 1
                && libc::process_vm_writev(own, &here, 1, &there, 1, 0) == 1
        }
    }

    #[test]
    fn a_stack_is_usable_and_guarded_with_any_page_size() {
        let stack = Stack::new().unwrap();
        let lowest = stack.lowest();
        let at = |offset: usize| lowest.wrapping_byte_add(offset);
        assert!(takes_a_byte(at(0)) && takes_a_byte(at(Stack::SIZE - 1)));
        // The guard is a whole page of this kernel, since a smaller one could not be protected.
        assert_eq!(lowest.addr() - stack.base.addr(), page_size());
        assert!(!takes_a_byte(lowest.wrapping_byte_sub(1)) && !takes_a_byte(stack.base));
    }
}
