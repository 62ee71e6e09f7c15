//! Settings that are tracked in git (`.vscode`, `.npmrc`, ...). In the sandbox they are mounts, which can't
//! be changed. A change that leads to what the user's own history has at this path is made all the same, by
//! a process beside the sandbox: so a checkout is whole. Everything else is held back.
//!
//! What is renamed or linked to such a name is judged at once. What is written to a new file is not known
//! before it is closed: until then it has no name, and it gets its name before the next call of any process
//! is answered.
//!
//! No call that makes a name goes on by itself, not even where a setting is there: it could be on its way
//! until that has been removed. The deputy makes it.

mod changes;
mod history;
mod objects;
mod removed;
mod request;
mod settling;
mod staged;

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use forkline_protocol::{receive, send};

use crate::sandbox::plan::{Plan, Repository};
use crate::sandbox::warden::held::HeldStore;
use crate::sandbox::warden::lines::Telling;
use crate::sandbox::watchers::change::{Change, encode};
use history::{Entry, History, Mode};
use removed::Removals;
use staged::StagedSettings;

/// The line to the process that changes settings.
pub struct SettlerLine {
    pub line: OwnedFd,
    /// The settings that it can change.
    settled: Vec<PathBuf>,
    staging: StagedSettings,
}

impl SettlerLine {
    /// Prepares what is needed for judging these settings. The error is the line: then mounts decide about them.
    pub fn new(line: OwnedFd, settled: Vec<PathBuf>) -> Result<SettlerLine, OwnedFd> {
        match StagedSettings::new() {
            Ok(staging) if !settled.is_empty() => Ok(SettlerLine { line, settled, staging }),
            _ => Err(line),
        }
    }
}

/// Judges changes to settings.
pub struct Settings {
    shared: Arc<Shared>,
}

/// The state shared with the thread that takes closed files.
struct Shared {
    repositories: Vec<Judged>,
    settler: Mutex<OwnedFd>,
    open: Mutex<Unsettled>,
    store: Arc<HeldStore>,
    telling: Arc<Telling>,
    /// Read while the warden still has a file open that it gives to a caller.
    giving: RwLock<()>,
}

/// What has been begun and is not settled.
struct Unsettled {
    staging: StagedSettings,
    removals: Removals,
    /// Whether a thread takes what no call waits for.
    is_watched: bool,
}

/// A repository, and its settings.
struct Judged {
    top: PathBuf,
    settings: Vec<PathBuf>,
    history: Mutex<History>,
}

/// A name that is a setting or below one, by the directory in which the caller finds it.
struct FoundSetting {
    path: PathBuf,
    /// Which repository.
    repository: usize,
    /// The path in the working tree.
    tracked: PathBuf,
    directory: OwnedFd,
    name: CString,
}

/// A change of a setting whose content is known.
struct Proposed<'a> {
    path: &'a Path,
    repository: usize,
    tracked: &'a Path,
    /// The cradle of the command.
    cradle: Option<i32>,
    mode: Mode,
    /// The rights of the file.
    rights: u32,
    content: &'a [u8],
}

impl Settings {
    pub fn new(
        plan: &Plan,
        settler: SettlerLine,
        store: Arc<HeldStore>,
        telling: Arc<Telling>,
    ) -> io::Result<Settings> {
        let program = plan.git_program.as_deref().ok_or(io::ErrorKind::NotFound)?;
        let SettlerLine { line, settled, staging } = settler;
        let open = Unsettled { staging, removals: Removals::default(), is_watched: false };
        let of = |repository| Judged::of(repository, program, &settled);
        let judged = plan.repositories.iter().map(of);
        let shared = Shared {
            repositories: judged.collect(),
            store,
            settler: Mutex::new(line),
            open: Mutex::new(open),
            telling,
            giving: RwLock::default(),
        };
        Ok(Settings { shared: Arc::new(shared) })
    }
}

impl Judged {
    /// `settled`: what can be changed. Mounts decide about the others.
    fn of(repository: &Repository, program: &Path, settled: &[PathBuf]) -> Judged {
        let Repository { git, top, tips, settings, present } = repository;
        let names = settings.iter().filter_map(|path| path.strip_prefix(top).ok());
        let names = names.map(Path::to_owned).collect();
        let present = present.iter().filter_map(|(path, blob)| {
            Some((path.strip_prefix(top).ok()?.to_owned(), Entry::parse(blob)?))
        });
        Judged {
            top: top.clone(),
            settings: settings.iter().filter(|path| settled.contains(path)).cloned().collect(),
            history: Mutex::new(History::new(program, git, names, tips).with(present)),
        }
    }

    fn history(&self) -> MutexGuard<'_, History> {
        locked(&self.history)
    }
}

impl Shared {
    fn repository(&self, number: usize) -> Result<&Judged, i32> {
        self.repositories.get(number).ok_or(libc::EACCES)
    }

    /// Has the settler make a change.
    fn ask(&self, path: &Path, change: &Change, content: Option<OwnedFd>) -> Result<(), i32> {
        let settler = locked(&self.settler);
        let text = encode(path, change);
        let content: Vec<_> = content.iter().map(AsFd::as_fd).collect();
        send(settler.as_fd(), [&text, b""], &content).map_err(|error| errno(&error))?;
        let mut answer = [0; 4];
        let received = loop {
            match receive(settler.as_fd(), &mut answer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                received => break received.map_err(|error| errno(&error))?,
            }
        };
        match i32::from_le_bytes(answer) {
            0 if received.length == answer.len() => Ok(()),
            0 => Err(libc::EROFS),
            errno => Err(errno),
        }
    }
}

/// Copies a content to a file that nobody else has open.
fn copy_of(content: &[u8]) -> io::Result<OwnedFd> {
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::io::{Seek, Write};
    let copy = memfd_create(c"setting", MemfdFlags::CLOEXEC)?;
    let mut file = std::fs::File::from(copy);
    file.write_all(content)?;
    file.rewind()?;
    Ok(file.into())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EACCES)
}
