//! The file that a detached command writes to: how much it may have, and the line at its end.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use crate::line::{End, completion_line};
use crate::quota::Quota;
use crate::room::Room;

pub struct Output {
    /// Ours alone: what the command does to its own descriptor (flags, position) does not matter.
    file: File,
    quota: Quota,
    /// For the line, when the disk is full by then.
    room: Option<Room>,
    /// The line is still to be written.
    owes_line: bool,
    /// How long it was.
    line_bytes: u64,
}

impl Output {
    /// Makes the file; the second one is for the command.
    pub fn create(path: &Path, quota: u64, line: bool) -> io::Result<(Output, File)> {
        let append = || {
            let mut options = OpenOptions::new();
            options.append(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
            options
        };
        let theirs = append().create_new(true).open(path)?;
        let file = append().open(path)?;
        let room = if line { Room::beside(path) } else { None };
        Ok((
            Output { file, quota: Quota::new(quota), room, owes_line: line, line_bytes: 0 },
            theirs,
        ))
    }

    /// Cuts off what is over the limit; returns when to look again.
    pub fn hold(&mut self) -> Duration {
        self.quota.hold(&self.file)
    }

    /// Bytes of the command's that are kept, and at least so many that were cut off.
    pub fn sizes(&mut self) -> (u64, u64) {
        self.hold();
        let size = self.file.metadata().map_or(0, |metadata| metadata.len());
        (size.saturating_sub(self.line_bytes), self.quota.cut())
    }

    /// Nobody wants the line.
    pub fn waive_line(&mut self) {
        self.owes_line = false;
    }

    /// Writes how it ended, unless that is done or nobody wants it.
    pub fn write_line(&mut self, end: End) {
        if !std::mem::take(&mut self.owes_line) {
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
