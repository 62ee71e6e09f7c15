//! The record of what commands change, so that it can be taken back: a journal for each command, outside, where
//! no command sees it. Before a call is made for a caller, what it is about to change is written down.

mod announcing;
mod commands;
pub mod recording;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub use forkline_journal::Fate;
use forkline_journal::{Journal, KEPT_BOUNDS, Limits, WhenFull, sweep};
use rustix::fs::{Mode, OFlags, open};

use crate::cradle::roster;
use crate::outside;
use crate::sandbox::plan::{Access, Plan, UndoPlan};
use crate::sandbox::warden::held;
use commands::{Callers, CommandKey, CommandStage};

/// How long it takes at most to see that a command has ended, whose cradle was killed.
const PAUSE: Duration = Duration::from_millis(50);

/// How long processes take to die at most, once their cradle is gone.
const LONGEST_DEATH: Duration = Duration::from_millis(500);
/// After how many journals old ones are removed.
const SWEPT_EVERY: usize = 64;

/// Where journals are written. To be opened outside of the sandbox's mounts, where it is hidden.
pub struct JournalStore {
    directory: OwnedFd,
    /// The host's `/proc`, through which this process opens its own descriptors again.
    proc: OwnedFd,
    plan: UndoPlan,
}

/// Tells the host of a cradle's command.
pub type TellCradle = Box<dyn Fn(i32, String) + Send + Sync>;
/// Returns whether the host is gone.
pub type HostIsGone = Box<dyn Fn() -> bool + Send + Sync>;

/// Records what commands change.
pub struct Recorder {
    store: JournalStore,
    /// Where changes are recorded.
    places: RecordedPlaces,
    tell: TellCradle,
    journals: Mutex<Journals>,
    /// How many journals were begun.
    begun: AtomicUsize,
    callers: Callers,
    /// Whether the host is gone: then all commands are being killed, and leave nothing running.
    is_left: HostIsGone,
}

/// The journals that are being written.
#[derive(Default)]
struct Journals {
    open: HashMap<CommandKey, Journal>,
    /// Since when the cradles of commands are gone.
    orphaned: HashMap<CommandKey, Instant>,
    /// The commands whose journals can't be written.
    unwritten: HashSet<CommandKey>,
    /// Whether a thread looks for the end of their commands.
    is_watched: bool,
}

/// The places in which changes are recorded: those that are not the sandbox's own.
struct RecordedPlaces {
    plan: Plan,
}

impl Journals {
    /// Returns the journal for what nothing tells of whose it is: if the cradle of one command was killed, what is
    /// being killed of that command has lost it.
    fn of_unknown(&self, is_left: bool) -> CommandKey {
        let is_killed = |key: &&CommandKey| match key.stage() {
            CommandStage::Runs => is_left && key.cradle().is_some(),
            CommandStage::Ended => is_left,
            CommandStage::Orphaned => true,
        };
        let mut orphaned = self.open.keys().filter(is_killed);
        match (orphaned.next(), orphaned.next()) {
            (Some(key), None) => *key,
            _ => CommandKey::LeftBehind,
        }
    }

    /// Returns the commands that have ended, and those of whose processes none can be alive any more.
    fn over(&mut self, is_left: bool) -> Vec<CommandKey> {
        let now = Instant::now();
        self.orphaned.retain(|key, _| self.open.contains_key(key));
        let is_over = |key: &&CommandKey| match key.stage() {
            CommandStage::Runs => false,
            CommandStage::Ended if !is_left => true,
            CommandStage::Ended | CommandStage::Orphaned => {
                now.duration_since(*self.orphaned.entry(**key).or_insert(now)) > LONGEST_DEATH
            }
        };
        self.open.keys().filter(is_over).copied().collect()
    }
}

impl JournalStore {
    /// Opens the directory that a plan names. None: nothing is to be recorded.
    pub fn of(plan: &Plan) -> Option<io::Result<JournalStore>> {
        let undo = plan.undo.clone()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = || -> io::Result<JournalStore> {
            let proc = outside::proc().ok_or(io::ErrorKind::NotFound)?.try_clone_to_owned()?;
            let directory = open(&undo.at, flags, Mode::empty())?;
            Ok(JournalStore { directory, proc, plan: undo })
        };
        Some(opened())
    }
}

impl Recorder {
    pub fn new(
        store: JournalStore,
        plan: &Plan,
        keeper: i32,
        tell: TellCradle,
        is_left: HostIsGone,
    ) -> Recorder {
        let (places, journals) = (RecordedPlaces { plan: plan.clone() }, Mutex::default());
        let (begun, callers) = (AtomicUsize::new(0), Callers::new(keeper));
        Recorder { store, places, tell, journals, begun, callers, is_left }
    }

    /// Writes down how everything is when all processes have ended.
    pub fn finish(&self) {
        for (_, mut journal) in self.lock().open.drain() {
            journal.finish();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Journals> {
        self.journals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the journal of a command, which this may begin. None: it can't be written, and calls go on.
    fn journal_of<'a>(
        self: &Arc<Self>,
        key: CommandKey,
        journals: &'a mut Journals,
    ) -> io::Result<Option<&'a mut Journal>> {
        if key == CommandKey::Unseen {
            // Nobody could be told of the change.
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        if journals.unwritten.contains(&key) {
            return Ok(None);
        }
        if let Entry::Vacant(vacant) = journals.open.entry(key) {
            let id = held::id()?;
            let begun = self.begin_journal(&id);
            // Of a journal that is not there the host says that it can't be read.
            let is_told = begun.is_ok() || !self.store.plan.refuses;
            if let Some(cradle) = key.cradle().filter(|_| is_told) {
                (self.tell)(cradle, format!("undo={id}"));
            }
            match begun {
                Ok(journal) => drop(vacant.insert(journal)),
                Err(error) if self.store.plan.refuses => return Err(error),
                Err(_) => {
                    journals.unwritten.retain(|key| key.stage() == CommandStage::Runs);
                    journals.unwritten.insert(key);
                }
            }
            self.start_watching(journals);
        }
        Ok(journals.open.get_mut(&key))
    }

    fn begin_journal(&self, id: &str) -> io::Result<Journal> {
        let JournalStore { directory, proc, plan } = &self.store;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let workspace = self.places.plan.paths(Access::Write).next().unwrap_or(Path::new(""));
        let at = now.as_millis().to_string();
        let about = [("at", at.as_bytes()), ("workspace", workspace.as_os_str().as_bytes())];
        let when_full = if plan.refuses { WhenFull::Refuse } else { WhenFull::GoOn };
        let limits = Limits { most_bytes: plan.most_bytes, when_full };
        self.sweep_now_and_then();
        Journal::begin(directory.as_fd(), id, &about, limits, proc.as_fd())
    }

    /// Removes old journals of all hosts, in the background.
    fn sweep_now_and_then(&self) {
        if !self.begun.fetch_add(1, Ordering::Relaxed).is_multiple_of(SWEPT_EVERY) {
            return;
        }
        let Ok(directory) = self.store.directory.try_clone() else { return };
        let stack = thread::Builder::new().stack_size(256 * 1024);
        // Another journal sweeps them.
        let _ = stack.spawn(move || drop(sweep(directory.as_fd(), &KEPT_BOUNDS)));
    }

    /// Starts a thread that closes journals whose commands have ended, as long as there are any.
    fn start_watching(self: &Arc<Self>, journals: &mut Journals) {
        if journals.is_watched {
            return;
        }
        let recorder = Arc::clone(self);
        let watch = move || {
            loop {
                let seen = roster::ends();
                let mut journals = recorder.lock();
                for key in journals.over((recorder.is_left)()) {
                    if let Some(mut journal) = journals.open.remove(&key) {
                        journal.finish();
                    }
                }
                if journals.open.is_empty() {
                    journals.is_watched = false;
                    return;
                }
                drop(journals);
                roster::wait_for_end(seen, PAUSE);
            }
        };
        let stack = thread::Builder::new().stack_size(256 * 1024);
        // Without it, they are closed at the end.
        journals.is_watched = stack.spawn(watch).is_ok();
    }
}

impl RecordedPlaces {
    /// Returns whether changes at this path are recorded.
    fn has(&self, path: &Path) -> bool {
        const KERNELS: [&str; 3] = ["/proc", "/sys", "/dev"];
        let of = |root: &&Path| path.starts_with(root);
        let longest = |root: &Path| root.components().count();
        let own = self.plan.own_directories().iter().copied().chain(KERNELS).map(Path::new);
        let own = own.filter(of).map(longest).max().unwrap_or(0);
        let rules = self.plan.rules.iter().filter(|rule| path.starts_with(&rule.path));
        // Where no rule applies, nothing can be written but what mounts of the sandbox hold.
        rules.max_by_key(|rule| longest(&rule.path)).is_some_and(|rule| {
            let is_recorded = !matches!(rule.access, Access::Cache | Access::Hide);
            is_recorded && longest(&rule.path) > own
        })
    }
}
