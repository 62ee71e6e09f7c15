//! The file that a detached command writes to: how much it may have, and the line at its end.

use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use crate::line::{Completion, completion_line};
use crate::quota::Quota;
use crate::room::DiskReserve;

pub struct OutputFile {
    /// What the command prints, where it does not write to the file itself.
    pipe: Option<PipeReader>,
    /// Ours alone: what the command does to its own descriptor (flags, position) does not matter.
    file: File,
    quota: Quota,
    /// For the line, when the disk is full by then.
    room: Option<DiskReserve>,
    /// The line is still to be written.
    line_pending: bool,
    /// How long it was.
    line_bytes: u64,
}

impl OutputFile {
    /// Makes the file; the second one is for the command.
    pub fn create(path: &Path, quota: u64, line: bool) -> io::Result<(OutputFile, File)> {
        let append = || {
            let mut options = OpenOptions::new();
            options.append(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
            options
        };
        let theirs = append().create_new(true).open(path)?;
        let file = append().open(path)?;
        let room = if line { DiskReserve::beside(path) } else { None };
        let quota = Quota::new(quota);
        Ok((
            OutputFile { pipe: None, file, quota, room, line_pending: line, line_bytes: 0 },
            theirs,
        ))
    }

    /// The same for a command that has nothing but a pipe: a file could not be opened by its name
    /// (`/dev/stdout`) in a sandbox that it does not belong to.
    pub fn create_piped(path: &Path, quota: u64, line: bool) -> io::Result<(OutputFile, File)> {
        let (output, _) = OutputFile::create(path, quota, line)?;
        let (reader, writer) = io::pipe()?;
        // SAFETY: takes numbers only. The flag is this end's alone.
        if unsafe { libc::fcntl(reader.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OutputFile { pipe: Some(reader), ..output }, File::from(OwnedFd::from(writer))))
    }

    /// Readable when there is something to hold.
    pub fn descriptor(&self) -> Option<i32> {
        self.pipe.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Takes what the command has printed, and cuts off what is over the limit; returns when to look
    /// again.
    pub fn hold(&mut self) -> Duration {
        self.take();
        self.quota.hold(&self.file)
    }

    /// More than a pipe holds, and not all that somebody prints without an end.
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

    /// As much of it as can be written.
    fn put(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() {
            match self.file.write(piece) {
                Ok(written) if written > 0 => piece = piece.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => return self.quota.lose(piece.len() as u64),
            }
        }
    }

    /// Bytes of the command's that are kept, and at least so many that were cut off.
    pub fn sizes(&mut self) -> (u64, u64) {
        self.hold();
        let size = self.file.metadata().map_or(0, |metadata| metadata.len());
        (size.saturating_sub(self.line_bytes), self.quota.cut())
    }

    /// Nobody wants the line.
    pub fn skip_line(&mut self) {
        self.line_pending = false;
    }

    /// Writes how it ended, unless that is done or nobody wants it.
    pub fn write_line(&mut self, end: Completion) {
        if !std::mem::take(&mut self.line_pending) {
            return;
        }
        self.hold();
        let line = completion_line(end, self.quota.line().as_deref());
        // One write, so that nobody who still writes can come in between; so its room is there
        // before it is known to be needed.
        if let Some(room) = self.room.take() {
            room.release();
        }
        // A file that is gone leaves nobody to tell.
        if self.file.write_all(line.as_bytes()).is_ok() {
            self.line_bytes = line.len() as u64;
            self.quota.allow(self.line_bytes);
        }
    }
}
