//! What a revert has begun with, written beside the logs: it can be interrupted, and done again.

use std::fs::File;
use std::os::fd::AsFd;

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use crate::log::{append, frame};
use crate::node::look;
use crate::reader::journals::OpenJournal;
use crate::record::LogRecord;
use crate::store::REVERTS;

/// The files of all journals, each with its length.
#[derive(Debug)]
pub(crate) struct Marks(Vec<(File, u64)>);

impl Marks {
    /// Opens the files. What was written in part is cut off.
    pub fn open(journals: &[OpenJournal]) -> Result<Marks, Errno> {
        let files = journals.iter().map(|journal| {
            let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC;
            let mode = Mode::from_raw_mode(0o600);
            let file = openat(&journal.directory, REVERTS, flags | OFlags::NOFOLLOW, mode)?;
            let length = journal.reverts.length;
            if look(file.as_fd())?.size != length {
                rustix::fs::ftruncate(&file, length)?;
            }
            Ok((File::from(file), length))
        });
        Ok(Marks(files.collect::<Result<_, Errno>>()?))
    }

    /// Writes a record. Nothing is done that could not be written down.
    pub fn add(&mut self, record: &LogRecord) -> Result<(), Errno> {
        let mut bytes = Vec::new();
        frame(record, &mut bytes);
        for (file, length) in &mut self.0 {
            append(file, length, &bytes)
                .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        }
        Ok(())
    }
}
