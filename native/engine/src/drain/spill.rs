//! The spill file: the whole output on disk.

use std::fs::File;
use std::io::{self, Write};

use crate::command::outcome::SpillReport;
use crate::command::{Opening, SpillTarget};
use crate::os::beneath::{Existing, Reach, open_for_writing};

/// A file that receives output until its quota, or until the disk refuses.
#[derive(Debug, Default)]
pub struct Spill {
    file: Option<File>,
    room: u64,
    report: SpillReport,
}

impl Spill {
    /// Creates or empties the file. A failure does not fail the command: it is reported at the end.
    pub fn open(target: &SpillTarget) -> Self {
        let existing = match target.opening {
            Opening::AtStart => Existing::Empty,
            Opening::After(_) => Existing::Refuse,
        };
        let opened = open_for_writing(&target.path, existing, &Reach::of_process());
        let mut report = SpillReport::default();
        let file = opened.map_err(|refusal| {
            report.error = Some(refusal.errno);
            report.why = refusal.why;
        });
        let file = file.ok();
        Spill { file, room: target.max_bytes, report }
    }

    /// Appends bytes. Once a byte has been dropped, all later bytes are dropped too: the file has no gap.
    pub fn write(&mut self, chunk: &[u8]) {
        let length = chunk.len() as u64;
        let fits = if self.report.dropped > 0 { 0 } else { length.min(self.room) };
        let (wanted, _) = chunk.split_at(fits as usize);
        let written = self.append(wanted);
        self.room -= written;
        self.report.written += written;
        self.report.dropped += length - written;
    }

    /// Closes the file and returns the report.
    pub fn close(self) -> SpillReport {
        self.report
    }

    fn append(&mut self, mut bytes: &[u8]) -> u64 {
        let Some(file) = &mut self.file else { return 0 };
        let mut written = 0;
        while !bytes.is_empty() {
            match file.write(bytes) {
                Ok(0) => break,
                Ok(count) => {
                    written += count as u64;
                    bytes = bytes.split_at(count).1;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.report.error = error.raw_os_error();
                    self.file = None;
                    break;
                }
            }
        }
        written
    }
}
