//! Room on a disk that is kept free for the completion line.

use std::fs::{File, OpenOptions, remove_file};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A line that goes over the end of a block needs a part of another one.
const BYTES: libc::off_t = 4096;

/// A block of the disk, in a file without a name: gone when nobody has it open any more, however we
/// end.
pub struct DiskReserve(File);

impl DiskReserve {
    /// Takes it on the disk of `output`. None: there is none left, or that disk can't promise any.
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

    /// Gives it back to the disk, for what is written next.
    pub fn release(self) {
        // At once: some file systems take their time over a file that is closed.
        let _ = self.0.set_len(0);
    }
}
