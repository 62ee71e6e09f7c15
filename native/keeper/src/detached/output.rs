//! The output of a detached command: the pipe that it writes to, its files, and the completion line.

use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use super::store::Store;
use crate::completion_line::{Completion, completion_line};
use crate::disk_reserve::DiskReserve;

/// Read into memory that begins a page: elsewhere the kernel copies at half the speed.
#[repr(align(4096))]
struct Buffer([u8; 64 * 1024]);

pub struct OutputFile {
    /// The pipe to which the command writes. None: no process can write to it any more.
    pipe: Option<PipeReader>,
    buffer: Box<Buffer>,
    store: Store,
    /// Space for the line, in case the disk is full by then.
    room: Option<DiskReserve>,
    /// Whether the line is still to be written.
    line_pending: bool,
    /// The length of the line.
    line_bytes: u64,
}

impl OutputFile {
    /// Makes the file. The second value is the command's descriptor, a pipe: so no byte is on the disk that the
    /// quota does not allow, and `/dev/stdout` can be opened by its name, in a sandbox too.
    pub fn create(
        path: &Path,
        quota: u64,
        with_line: bool,
        seated: bool,
    ) -> io::Result<(OutputFile, File)> {
        let store = Store::create(path, quota, !seated)?;
        let room = if with_line { DiskReserve::beside(path) } else { None };
        let (reader, writer) = io::pipe()?;
        // SAFETY: takes numbers only. The flag is this end's alone.
        if unsafe { libc::fcntl(reader.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let output = OutputFile {
            pipe: Some(reader),
            buffer: Box::new(Buffer([0; 64 * 1024])),
            store,
            room,
            line_pending: with_line,
            line_bytes: 0,
        };
        Ok((output, File::from(OwnedFd::from(writer))))
    }

    /// Returns the descriptor of the pipe, readable when output has arrived.
    pub fn descriptor(&self) -> Option<i32> {
        self.pipe.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Copies output from the pipe to the files: more than a pipe holds, but not without end from a command that
    /// never stops printing.
    pub fn take(&mut self) {
        const PIECES: usize = 64;
        for _ in 0..PIECES {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(&mut self.buffer.0) {
                Ok(0) => self.pipe = None,
                Ok(length) => self.store.put(self.buffer.0.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// Takes output that does not come by the pipe: that of a terminal.
    pub fn put(&mut self, piece: &[u8]) {
        self.store.put(piece);
    }

    /// Returns how many bytes of output are kept, and how many were cut off.
    pub fn sizes(&mut self) -> (u64, u64) {
        self.take();
        (self.store.kept().saturating_sub(self.line_bytes), self.store.cut())
    }

    /// Cancels the line.
    pub fn skip_line(&mut self) {
        self.line_pending = false;
    }

    /// Writes the completion line, unless it is written already or cancelled.
    pub fn write_line(&mut self, end: Completion) {
        if !std::mem::take(&mut self.line_pending) {
            return;
        }
        self.take();
        let line = completion_line(end, self.store.line().as_deref());
        // The reserved space is freed before, whether it is needed or not.
        if let Some(room) = self.room.take() {
            room.release();
        }
        let before = self.store.kept();
        // An error is ignored: a file that is gone has no reader.
        let _ = self.store.append(&line);
        self.line_bytes = self.store.kept() - before;
    }
}
