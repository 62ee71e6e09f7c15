//! Space on a disk, reserved for the completion line.

use std::fs::{File, OpenOptions, remove_file};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The size in bytes: a line that crosses the end of a block needs a part of another block.
const BYTES: libc::off_t = 4096;

/// A block of the disk, in a file without a name. It is freed when no process has the file open any more.
pub struct DiskReserve(File);

impl DiskReserve {
    /// Reserves space on the disk of `output`. None: the disk is full, or can't reserve space.
    pub fn beside(output: &Path) -> Option<DiskReserve> {
        let name = output.with_extension("room");
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let file = options.open(&name).ok()?;
        // SAFETY: takes numbers only.
        let error = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, BYTES) };
        remove_file(&name).ok()?;
        (error == 0).then_some(DiskReserve(file))
    }

    /// Returns the space to the disk, for the next write.
    pub fn release(self) {
        // Frees the space at once: some file systems delay that for a closed file.
        let _ = self.0.set_len(0);
    }
}
