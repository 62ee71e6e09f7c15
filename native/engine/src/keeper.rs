//! The keeper, a process that outlives the host: how the engine starts it, and what it does. (Its
//! other role, to keep a detached command, is in `detached`.)
//!
//! It holds the reading end of a pipe whose only writing end is the host's. End of file
//! means that the host is gone, however it went, and that its commands must follow.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::iter;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::fs::{Mode, OFlags, open};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;

use crate::family::Family;
use crate::launch::{Image, Launched, Place, Request, Stack, launch};
use crate::mark::Mark;
use crate::proc::Stat;
use crate::roster::{self, Roster};
use crate::scene::Scene;

/// A keeper at work; it takes dropping this for the host's death.
#[derive(Debug)]
pub struct Keeper {
    _lifeline: OwnedFd,
}

/// The keeper's role, as its first argument.
pub const WATCH_HOST: &str = "watch-host";

impl Keeper {
    /// Starts the program at `path` as the keeper of this host.
    pub fn start(path: &Path, roster: &Roster, stack: &mut Stack) -> io::Result<Self> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        let null = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        let stdio = [reader.as_fd(), null.as_fd(), null.as_fd()];
        let mark = Mark::of_host().entry();
        launch_keeper(path, &[WATCH_HOST, mark], stdio, roster.memory(), stack)?;
        Ok(Keeper { _lifeline: writer })
    }
}

/// Starts the program at `path` in one of its roles, with `stdio` and `fourth` as descriptor 3.
pub fn launch_keeper(
    path: &Path,
    arguments: &[&str],
    stdio: [BorrowedFd<'_>; 3],
    fourth: BorrowedFd<'_>,
    stack: &mut Stack,
) -> io::Result<Launched> {
    let program = CString::new(path.as_os_str().as_bytes())?;
    let argv = iter::once(&"forkline-keeper").chain(arguments);
    let argv = argv.map(|argument| CString::new(*argument)).collect::<Result<_, _>>()?;
    let request = Request {
        images: &[Image { path: program, argv }],
        environment: &[],
        // It must not pin a file system.
        directory: Some(Place::Path(c"/")),
        stdio,
        script: Some(fourth),
        slots: None,
        parent_death: None,
        terminal: false,
        holder: None,
    };
    launch(&request, stack).map_err(|failure| failure.error)
}

/// Where the host's one keeper sits, once the first command has been launched.
#[derive(Debug)]
pub struct Seat {
    program: Option<PathBuf>,
    asked: AtomicBool,
    keeper: Mutex<Option<Keeper>>,
}

impl Seat {
    /// An empty seat; None leaves it empty for ever.
    pub fn new(program: Option<PathBuf>) -> Self {
        Seat { program, asked: AtomicBool::new(false), keeper: Mutex::new(None) }
    }

    /// The keeper's program.
    pub fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    /// Whether a keeper watches this host.
    pub fn is_taken(&self) -> bool {
        self.keeper.lock().is_some()
    }

    /// Starts the keeper, the first time. If it can't be, commands run all the same.
    pub fn fill(&self, roster: &Roster, stack: &mut Stack) {
        let Some(program) = &self.program else { return };
        if !self.asked.swap(true, Ordering::Relaxed) {
            *self.keeper.lock() = Keeper::start(program, roster, stack).ok();
        }
    }
}

/// From SIGTERM to SIGKILL, for what a dead host leaves behind.
const GRACE: Duration = Duration::from_secs(2);
const GIVE_UP: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(25);

/// The keeper's work: waits for the host's death, then ends its commands.
///
/// `lifeline` is read to its end; `roster` lists the groups that ran.
pub fn watch_host(mut lifeline: impl Read, roster: File, mark: &str) {
    let _ = lifeline.read_to_end(&mut Vec::new());
    let mut family = Family {
        groups: roster::read(roster),
        mark: Mark::from_text(mark),
        known: Default::default(),
        asked: Default::default(),
        outlets: Vec::new(),
        born_after: 0,
    };
    end_family(&mut family, GRACE);
}

/// Ends a family: SIGTERM, `grace`, SIGKILL, until nobody of it lives. Blocks until then. What this
/// process has adopted, as the subreaper of a command, belongs to it.
pub fn end_family(family: &mut Family, grace: Duration) {
    let began = Instant::now();
    let members = look(family).unwrap_or_default();
    family.ask(&members);
    loop {
        std::thread::sleep(LOOK);
        let members = look(family);
        let waited = began.elapsed();
        if members.as_ref().is_ok_and(Vec::is_empty) || waited > grace + GIVE_UP {
            return;
        }
        let members = members.unwrap_or_default();
        if waited > grace {
            family.signal(&members, Signal::KILL);
        } else {
            family.ask_leavers(&members);
        }
    }
}

fn look(family: &mut Family) -> io::Result<Vec<Stat>> {
    let mut scene = Scene::now()?;
    let own = std::process::id() as i32;
    let adopted = scene.processes.iter().filter(|stat| stat.parent == own);
    family.known.extend(adopted.map(|stat| (stat.pid, stat.started)));
    Ok(family.survey(&mut scene))
}
