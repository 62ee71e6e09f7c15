//! The output file of a detached command: its limit, and the completion line.

use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use crate::completion_line::{Completion, completion_line};
use crate::disk_reserve::DiskReserve;
use crate::quota::Quota;

pub struct OutputFile {
    /// The pipe to which the command writes, if it does not write to the file itself.
    pipe: Option<PipeReader>,
    /// The keeper's own descriptor: flags and position of the command's descriptor do not affect it.
    file: File,
    quota: Quota,
    /// Space for the line, in case the disk is full by then.
    room: Option<DiskReserve>,
    /// Whether the line is still to be written.
    line_pending: bool,
    /// The length of the line.
    line_bytes: u64,
}

impl OutputFile {
    /// Makes the file. The second value is the command's descriptor.
    pub fn create(path: &Path, quota: u64, with_line: bool) -> io::Result<(OutputFile, File)> {
        let append = || {
            let mut options = OpenOptions::new();
            options.append(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
            options
        };
        let theirs = append().create_new(true).open(path)?;
        let file = append().open(path)?;
        let room = if with_line { DiskReserve::beside(path) } else { None };
        let quota = Quota::new(quota);
        Ok((
            OutputFile { pipe: None, file, quota, room, line_pending: with_line, line_bytes: 0 },
            theirs,
        ))
    }

    /// Makes the file for a command that writes to a pipe: a sandbox does not contain the file, so the
    /// command could not open it by name (`/dev/stdout`).
    pub fn create_piped(
        path: &Path,
        quota: u64,
        with_line: bool,
    ) -> io::Result<(OutputFile, File)> {
        let (output, _) = OutputFile::create(path, quota, with_line)?;
        let (reader, writer) = io::pipe()?;
        // SAFETY: takes numbers only. The flag is this end's alone.
        if unsafe { libc::fcntl(reader.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OutputFile { pipe: Some(reader), ..output }, File::from(OwnedFd::from(writer))))
    }

    /// Returns the descriptor of the pipe, readable when output has arrived.
    pub fn descriptor(&self) -> Option<i32> {
        self.pipe.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Copies output from the pipe, and cuts off bytes above the limit. Returns the time until the next
    /// check.
    pub fn hold(&mut self) -> Duration {
        self.take();
        self.quota.hold(&self.file)
    }

    /// Reads more than a pipe holds, but not without end from a command that never stops printing.
    fn take(&mut self) {
        const PIECES: usize = 64;
        let mut buffer = [0; 64 * 1024];
        for _ in 0..PIECES {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(length) => self.put(buffer.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    /// Writes as much of the piece as the disk takes.
    fn put(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() {
            match self.file.write(piece) {
                Ok(written) if written > 0 => piece = piece.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => return self.quota.lose(piece.len() as u64),
            }
        }
    }

    /// Returns how many bytes of output are kept, and how many at least were cut off.
    pub fn sizes(&mut self) -> (u64, u64) {
        self.hold();
        let size = self.file.metadata().map_or(0, |metadata| metadata.len());
        (size.saturating_sub(self.line_bytes), self.quota.cut())
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
        self.hold();
        let line = completion_line(end, self.quota.line().as_deref());
        // Written at once, so that a process that still writes can't split it; the reserved space is
        // freed before, whether it is needed or not.
        if let Some(room) = self.room.take() {
            room.release();
        }
        // An error is ignored: a file that is gone has no reader.
        if self.file.write_all(line.as_bytes()).is_ok() {
            self.line_bytes = line.len() as u64;
            self.quota.allow(self.line_bytes);
        }
    }
}
