//! A read buffer that begins on a page boundary.
//!
//! The kernel copies into memory 16 bytes past a boundary, which is what `malloc` gives for
//! large sizes, at half the speed.

use std::io;
use std::ptr::null_mut;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// What a pipe holds, and so what one read can bring.
pub const SIZE: usize = 64 * 1024;

/// A page-aligned buffer of [`SIZE`] bytes.
#[derive(Debug)]
pub struct PageBuffer {
    bytes: &'static mut [u8],
}

impl PageBuffer {
    /// Maps one.
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

    /// The buffer.
    pub fn bytes(&mut self) -> &mut [u8] {
        self.bytes
    }
}

impl Drop for PageBuffer {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`; nobody can refer to it any more.
        let _ = unsafe { munmap(self.bytes.as_mut_ptr().cast(), SIZE) };
    }
}
