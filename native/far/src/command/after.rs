//! Checks after a command has ended, which only the system can answer. `src/command/after` is the same in
//! TypeScript.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, mpsc};
use std::time::{Duration, Instant};

use forkline_engine::{Cause, Outcome, Status, names_own_descriptor};
use parking_lot::Mutex;
use serde::Serialize;

use crate::command::spilled::{SpillError, Spilled};

/// The results of the checks.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    #[serde(skip_serializing_if = "Option::is_none")]
    out_of_memory: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spill: Option<Spilled>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<LimitsReport>,
}

/// The mechanisms that enforced the limits.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitsReport {
    cpu_seconds: &'static str,
}

impl LimitsReport {
    /// A limit of processor time, the only one that this far side enforces.
    pub const CPU: LimitsReport = LimitsReport { cpu_seconds: "rlimit" };
}

/// Returns the results for a command that needs no check.
pub fn unchecked(limits: Option<LimitsReport>) -> Checked {
    Checked { limits, ..Checked::default() }
}

/// Which commands have written a spill file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writers {
    /// The command alone.
    One,
    /// The command, and others at the same time.
    Several,
}

/// Runs the checks.
pub fn check(
    outcome: &Outcome,
    spill: Option<&Path>,
    writers: Writers,
    limits: Option<LimitsReport>,
) -> Checked {
    let report = outcome.spill.clone().map(Spilled::from);
    let spill = report.zip(spill).map(|(report, path)| {
        let error = report.error.clone().or_else(|| fault(path, report.bytes, writers));
        Spilled { path: Some(path.to_string_lossy().into_owned()), error, ..report }
    });
    Checked { out_of_memory: was_killed(outcome).then(|| judge(outcome.wall)), spill, limits }
}

/// Returns whether the command, or its last program, ended by a SIGKILL that forkline has not sent.
pub fn was_killed(outcome: &Outcome) -> bool {
    let killed = [Status::Signaled(libc::SIGKILL), Status::Exited(128 + libc::SIGKILL)];
    outcome.cause == Cause::Itself && killed.contains(&outcome.status)
}

/// How many processes the kernel had ended for want of memory, at each earlier check; oldest first.
static SEEN: Mutex<Vec<(Instant, u64)>> = Mutex::new(Vec::new());
const MOST_SEEN: usize = 16;

/// Returns whether want of memory ended the command: whether the control group has counted such an end
/// since the last check before the command began.
fn judge(wall: Duration) -> &'static str {
    let now = Instant::now();
    let Some(kills) = count_kills() else { return "unknown" };
    let mut seen = SEEN.lock();
    let began = now.checked_sub(wall).unwrap_or(now);
    // Without an earlier check, all that the group has counted counts.
    let before = seen.iter().rfind(|(at, _)| *at <= began).map_or(0, |(_, kills)| *kills);
    seen.push((now, kills));
    if seen.len() > MOST_SEEN {
        seen.remove(0);
    }
    if kills > before { "likely" } else { "no" }
}

/// Returns how many processes the kernel has ended in this process's control group for want of memory.
/// None: no group counts them, or the count can't be read.
fn count_kills() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    groups.lines().flat_map(files_of).find_map(|path| {
        let text = fs::read_to_string(path).ok()?;
        text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.parse().ok())
    })
}

/// Returns the files that may contain the count, for a line of `/proc/self/cgroup`. In a container the
/// path may be the machine's, while the mounted tree begins at the container's own group.
fn files_of(line: &str) -> Vec<String> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { return Vec::new() };
    let folder = if path == "/" { "" } else { path };
    let (root, file) = match controllers {
        "" => ("/sys/fs/cgroup", "memory.events"),
        _ if controllers.split(',').any(|one| one == "memory") => {
            ("/sys/fs/cgroup/memory", "memory.oom_control")
        }
        _ => return Vec::new(),
    };
    vec![format!("{root}{folder}/{file}"), format!("{root}/{file}")]
}

/// The longest time that a result waits for a disk that hangs.
const LOOK: Duration = Duration::from_secs(1);

/// Returns what is wrong with a file that should have this many bytes.
fn fault(path: &Path, bytes: u64, writers: Writers) -> Option<SpillError> {
    let (tell, told) = mpsc::channel();
    let looked_at = path.to_owned();
    // A thread that hangs there is not waited for.
    let look = move || drop(tell.send(look_at(&looked_at).map(Box::new)));
    std::thread::Builder::new().spawn(look).ok()?;
    match told.recv_timeout(LOOK).ok()? {
        Ok(found) if found.is_symlink() => {
            Some(SpillError::new(libc::EIO, "a link has replaced the file".to_owned()))
        }
        // A device or a pipe does not keep what is written.
        Ok(found) if !found.is_file() => None,
        Ok(_) if writers == Writers::Several => {
            let message = "another command wrote the same file meanwhile";
            Some(SpillError::new(libc::EBUSY, message.to_owned()))
        }
        Ok(found) if found.len() == bytes => None,
        Ok(found) => {
            let message = format!("the file was changed meanwhile: it has {} bytes", found.len());
            Some(SpillError::new(libc::EIO, message))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Some(SpillError::new(libc::ENOENT, "the file was removed meanwhile".to_owned()))
        }
        // The file may exist: an error without access says nothing.
        Err(_) => None,
    }
}

/// A spill file that is written from the command's start on.
pub struct SpillFile {
    path: PathBuf,
    /// Whether another command has written the same file at the same time.
    is_shared: Arc<AtomicBool>,
}

/// The commands that write spill files now: two that write the same file at once spoil it.
static WRITERS: LazyLock<Mutex<HashMap<PathBuf, Vec<Arc<AtomicBool>>>>> =
    LazyLock::new(Mutex::default);

impl SpillFile {
    /// Registers a file that is about to be written.
    pub fn open(path: PathBuf) -> SpillFile {
        let is_shared = Arc::new(AtomicBool::new(false));
        let mut writers = WRITERS.lock();
        let all = writers.entry(path.clone()).or_default();
        all.push(is_shared.clone());
        if all.len() > 1 {
            all.iter().for_each(|one| one.store(true, Ordering::Relaxed));
        }
        SpillFile { path, is_shared }
    }

    /// Unregisters the file, which is written. Returns which commands have written it.
    pub fn close(&self) -> Writers {
        let mut writers = WRITERS.lock();
        if let Some(all) = writers.get_mut(&self.path) {
            all.retain(|one| !Arc::ptr_eq(one, &self.is_shared));
            if all.is_empty() {
                writers.remove(&self.path);
            }
        }
        if self.is_shared.load(Ordering::Relaxed) { Writers::Several } else { Writers::One }
    }
}

/// Returns the metadata of a file. A symbolic link has replaced a file that the engine has opened, except
/// for the kernel's own names of devices and descriptors.
fn look_at(path: &Path) -> std::io::Result<fs::Metadata> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() && names_own_descriptor(path) => fs::metadata(path),
        looked => looked,
    }
}
