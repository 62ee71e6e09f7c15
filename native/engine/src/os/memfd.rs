//! Files in memory.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, SeekFrom, memfd_create, seek};

/// A file in memory, to be read from its start.
pub fn memory_file(name: &str, contents: &[u8]) -> io::Result<OwnedFd> {
    let file = memfd_create(name, MemfdFlags::CLOEXEC)?;
    let mut rest = contents;
    while !rest.is_empty() {
        rest = rest.split_at(rustix::io::write(&file, rest)?).1;
    }
    seek(&file, SeekFrom::Start(0))?;
    Ok(file)
}
