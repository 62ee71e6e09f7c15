//! A read buffer that begins on a page boundary.
//!
//! Into memory that begins 16 bytes past a page boundary, as `malloc` returns it for large sizes, the kernel
//! copies at half the speed.

use std::io;
use std::ptr::null_mut;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// The capacity of a pipe, in bytes, and so the most that one read can return.
pub const SIZE: usize = 64 * 1024;

/// A page-aligned buffer of [`SIZE`] bytes.
#[derive(Debug)]
pub struct PageBuffer {
    bytes: &'static mut [u8],
}

impl PageBuffer {
    /// Maps a buffer.
    pub fn new() -> io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping of SIZE zeroed bytes, which only this value refers to and
        // which is unmapped only when it is dropped; 'static stands for that lifetime.
        let bytes = unsafe {
            let start = mmap_anonymous(null_mut(), SIZE, access, MapFlags::PRIVATE)?;
            std::slice::from_raw_parts_mut(start.cast(), SIZE)
        };
        Ok(PageBuffer { bytes })
    }

    /// Returns the buffer.
    pub fn bytes(&mut self) -> &mut [u8] {
        self.bytes
    }
}

impl Drop for PageBuffer {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `new`, and no reference to it is left.
        let _ = unsafe { munmap(self.bytes.as_mut_ptr().cast(), SIZE) };
    }
}
