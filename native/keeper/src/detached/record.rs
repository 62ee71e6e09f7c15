//! The record of a detached command, for whoever finds no keeper any more.

use std::fs::{File, OpenOptions, rename};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use forkline_protocol::task::{ProcessIdentity, Stage, TaskState};

use crate::proc;

/// A record is no longer than what a disk hands out at once.
const BYTES: usize = 4096;

/// The state and its file. Each version is written to a file of another name, which then takes the
/// place of the one before: who reads it finds one or the other, and never a part.
pub struct Record {
    path: PathBuf,
    state: TaskState,
    /// Files for the versions to come, the last one first; their room on the disk is there already.
    spare: Vec<Spare>,
}

struct Spare {
    path: PathBuf,
    file: File,
}

impl Record {
    /// Makes room for it beside `output`: for the start, for the end, and for that of the last one.
    pub fn beside(output: &Path) -> io::Result<Record> {
        let path = output.with_extension("state");
        let names = ["state.3", "state.2", "state.1"];
        let spare = names.map(|name| Spare::make(output.with_extension(name)));
        let spare = spare.into_iter().collect::<io::Result<_>>()?;
        Ok(Record { path, state: TaskState::default(), spare })
    }

    /// The command runs.
    pub fn started(&mut self, leader: i32) {
        self.state = TaskState {
            boot: boot(),
            keeper: process(std::process::id() as i32),
            leader: process(leader),
            started: now(),
            stage: Stage::Running,
        };
        self.write();
    }

    /// It is as far as that.
    pub fn set_stage(&mut self, stage: Stage) {
        self.state.stage = stage;
        self.write();
    }

    pub fn state(&self) -> &TaskState {
        &self.state
    }

    /// What can't be written is not there: then it is not known, and that is what readers say.
    fn write(&mut self) {
        let Some(mut spare) = self.spare.pop() else { return };
        let record = self.state.encode_within(BYTES);
        let written = spare.file.write_all(&record);
        let length = record.len() as u64;
        if written.and_then(|()| spare.file.set_len(length)).is_ok() {
            let _ = rename(&spare.path, &self.path);
        }
    }
}

impl Spare {
    /// A disk that can't promise room gets no promise.
    fn make(path: PathBuf) -> io::Result<Spare> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
        let file = options.open(&path)?;
        // SAFETY: takes numbers only.
        let error = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, BYTES as libc::off_t) };
        if error == libc::ENOSPC || error == libc::EDQUOT {
            return Err(io::Error::from_raw_os_error(error));
        }
        Ok(Spare { path, file })
    }
}

fn process(pid: i32) -> ProcessIdentity {
    let stat = if proc::shows_own_pids() { proc::stat(pid) } else { None };
    ProcessIdentity { pid, started: stat.map_or(0, |stat| stat.started) }
}

/// Which boot this is.
fn boot() -> Vec<u8> {
    let mut id = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.pop_if(|last| *last == b'\n');
    id
}

/// In milliseconds since 1970.
pub fn now() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(time.as_millis()).unwrap_or(0)
}
