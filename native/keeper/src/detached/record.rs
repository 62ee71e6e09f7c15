//! The record of a detached command, for clients that no longer find its keeper.

use std::fs::{File, OpenOptions, rename};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use forkline_protocol::task::{ProcessIdentity, Stage, TaskState};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::proc;

/// The longest record in bytes: a read returns that many at once.
const BYTES: usize = 4096;

/// The state and its file. Each version is written to a file of another name, which then replaces the one
/// before: a reader sees one version or the other, and never a part.
pub struct Record {
    path: PathBuf,
    state: TaskState,
    /// Files for later versions, the last one first; their space on the disk is reserved.
    spare: Vec<Spare>,
    /// Its directory, locked while this process runs.
    _lock: Option<File>,
}

struct Spare {
    path: PathBuf,
    file: File,
}

impl Record {
    /// Reserves space beside `output` for three versions: the start, the leader's end, and the last
    /// member's end.
    pub fn beside(output: &Path) -> io::Result<Record> {
        let path = output.with_extension("state");
        let names = ["state.3", "state.2", "state.1"];
        let spare = names.map(|name| Spare::make(output.with_extension(name)));
        let spare = spare.into_iter().collect::<io::Result<_>>()?;
        let lock = output.parent().and_then(hold);
        Ok(Record { path, state: TaskState::default(), spare, _lock: lock })
    }

    /// Takes note that the command runs.
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

    /// Sets the stage.
    pub fn set_stage(&mut self, stage: Stage) {
        self.state.stage = stage;
        self.write();
    }

    pub fn state(&self) -> &TaskState {
        &self.state
    }

    /// Writes the state. If that fails, the record stays as it was; readers see that the keeper is gone.
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
    /// Makes a file. A disk that does not support reserving space reserves none.
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

/// Locks a directory, as systemd-tmpfiles asks of those whose files are in use however old they are: it leaves
/// out a directory that it can't lock. None: the file system has no locks.
fn hold(directory: &Path) -> Option<File> {
    const PATIENCE: u32 = 20;
    let directory = File::open(directory).ok()?;
    for _ in 0..PATIENCE {
        match flock(&directory, FlockOperation::NonBlockingLockShared) {
            Ok(()) => return Some(directory),
            // A cleaner looks through it at this moment.
            Err(Errno::WOULDBLOCK) => std::thread::sleep(Duration::from_millis(10)),
            Err(_) => return None,
        }
    }
    None
}

fn process(pid: i32) -> ProcessIdentity {
    let stat = if proc::shows_own_pids() { proc::stat(pid) } else { None };
    ProcessIdentity { pid, started: stat.map_or(0, |stat| stat.started) }
}

/// Returns the id of this boot of the machine.
fn boot() -> Vec<u8> {
    let mut id = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.pop_if(|last| *last == b'\n');
    id
}

/// Returns the time in milliseconds since 1970.
pub fn now() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(time.as_millis()).unwrap_or(0)
}
