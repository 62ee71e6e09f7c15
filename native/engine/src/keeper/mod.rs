//! The keeper, the process that runs a host's commands: how it is started and found.

pub mod attributes;
pub mod cradles;
pub mod identity;
pub mod lifeline;

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use forkline_launch::{Failure, Image, Place, Request, Signals, Stack, Step, launch};
use forkline_protocol::{Call, VERSION, pair, role};
use parking_lot::Mutex;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use crate::command::errors::LaunchError;
use crate::keeper::cradles::{Cradle, Cradles};
use crate::keeper::identity::Identity;
use crate::keeper::lifeline::Lifeline;
use crate::os::memfd::memory_file;
use crate::os::watch::Watch;

/// A keeper at work.
pub struct Keeper {
    /// Unique in this host.
    pub id: u64,
    /// Who the host was.
    pub identity: Identity,
    /// The way to it.
    pub lifeline: Lifeline,
    /// Its cradles that wait.
    pub cradles: Cradles,
    /// What keeps it from being of use, until it has greeted: then 0.
    fault: AtomicI32,
    gone: AtomicBool,
}

impl Keeper {
    /// A cradle for the next command. None: the keeper is gone, or has been replaced.
    pub fn cradle(&self) -> io::Result<Option<Cradle>> {
        self.cradles.take(&self.lifeline)
    }

    /// Sees to it that some cradles wait.
    pub fn prepare(&self) {
        self.cradles.fill(&self.lifeline);
    }

    /// It has said that it is there, and which version it speaks.
    pub fn greeted(&self, version: u32) {
        let fault = if version == VERSION { 0 } else { libc::EPROTO };
        self.fault.store(fault, Ordering::Relaxed);
    }

    /// The errno of what keeps it from being of use: it has never said that it is there, or speaks
    /// another version.
    pub fn fault(&self) -> Option<i32> {
        Some(self.fault.load(Ordering::Relaxed)).filter(|errno| *errno != 0)
    }

    /// It has died.
    pub fn dies(&self) {
        self.gone.store(true, Ordering::Relaxed);
    }

    /// Whether it has died.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// No more commands: it ends with those that it runs.
    pub fn retire(&self) {
        self.cradles.close();
        let _ = self.lifeline.call(Call::Retire, &[]);
    }
}

/// Where the host's keeper sits.
pub struct Seat {
    program: Option<PathBuf>,
    watch: Watch,
    on_start: Box<dyn Fn(Arc<Keeper>) + Send + Sync>,
    current: Mutex<Option<Arc<Keeper>>>,
}

impl Seat {
    /// An empty seat, for the program at this path. `on_start` is told of whoever takes it; what its
    /// cradles have to say comes by `watch`.
    pub fn new(
        program: Option<PathBuf>,
        watch: Watch,
        on_start: Box<dyn Fn(Arc<Keeper>) + Send + Sync>,
    ) -> Self {
        Seat { program, watch, on_start, current: Mutex::new(None) }
    }

    /// The keeper's program.
    pub fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    /// The keeper for what the calling thread is now; started, if there is none. `stays`: for a command
    /// that is to start in the host's own directory.
    pub fn keeper(&self, stays: bool) -> Result<Arc<Keeper>, LaunchError> {
        self.keeper_for(Identity::now(stays))
    }

    fn keeper_for(&self, identity: Identity) -> Result<Arc<Keeper>, LaunchError> {
        let mut current = self.current.lock();
        if let Some(keeper) = current.as_ref().filter(|keeper| !keeper.is_gone()) {
            if keeper.identity.serves(&identity) {
                return Ok(keeper.clone());
            }
            // Whoever it started goes on; nobody else is started as who the host was.
            keeper.retire();
        }
        *current = None;
        let keeper = Arc::new(start(self.program(), &self.watch, identity)?);
        *current = Some(keeper.clone());
        drop(current);
        // Its calls lie there until it runs, and the first requests with them.
        keeper.prepare();
        (self.on_start)(keeper.clone());
        Ok(keeper)
    }

    /// The keeper for a request that nobody of this one has taken.
    pub fn keeper_in_place_of(&self, gone: &Keeper) -> Result<Arc<Keeper>, LaunchError> {
        let identity = Identity::now(gone.identity.has_birthplace());
        if identity == gone.identity {
            return self.keeper_for(identity);
        }
        let current = self.current.lock();
        let same = current.as_ref().filter(|keeper| !keeper.is_gone());
        let same = same.filter(|keeper| keeper.identity == gone.identity);
        same.cloned().ok_or_else(|| no_keeper(Errno::PERM.into()))
    }
}

/// What a keeper that can't be started, or isn't there, comes to.
pub fn no_keeper(error: io::Error) -> LaunchError {
    LaunchError::new(Step::Keeper, &error, "forkline-keeper")
}

fn start(program: Option<&Path>, watch: &Watch, identity: Identity) -> Result<Keeper, LaunchError> {
    let program = program.ok_or_else(|| no_keeper(Errno::NOENT.into()))?;
    let (socket, theirs) = pair().map_err(no_keeper)?;
    let mut stack = Stack::new().map_err(no_keeper)?;
    let pid = launch_keeper(
        program,
        role::KEEP,
        // It must not pin a file system, unless there is no other way.
        if identity.has_birthplace() { None } else { Some(Place::Path(c"/")) },
        [theirs.as_fd(), null().map_err(no_keeper)?.as_fd()],
        None,
        &mut stack,
    )
    .map_err(no_keeper)?;

    Ok(Keeper {
        id: watch.new_id(),
        identity,
        lifeline: Lifeline { socket, keeper: pid },
        cradles: Cradles::new(watch.clone()),
        fault: AtomicI32::new(libc::ESRCH),
        gone: AtomicBool::new(false),
    })
}

fn null() -> io::Result<OwnedFd> {
    Ok(open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}

/// Starts the program at `path` in one of its roles, with its directory and its descriptors 0, 1
/// and perhaps 3; its process id.
pub fn launch_keeper(
    path: &Path,
    role: &str,
    directory: Option<Place>,
    [stdin, stdout]: [BorrowedFd<'_>; 2],
    fourth: Option<BorrowedFd<'_>>,
    stack: &mut Stack,
) -> io::Result<i32> {
    let arguments = ["forkline-keeper", role, &VERSION.to_string()];
    let argv = arguments.map(CString::new).into_iter().collect::<Result<Vec<_>, _>>()?;
    let null = null()?;
    let launch = |path: CString, file: BorrowedFd<'_>, stack: &mut Stack| {
        let request = Request {
            images: &[Image { path, argv: argv.clone() }],
            environment: &[],
            directory,
            stdio: [stdin, stdout, file],
            script: fourth,
            parent_death: None,
            terminal: false,
            share_directory: false,
            attributes: None,
            reset: Signals::ALL,
        };
        launch(&request, stack)
    };
    match launch(CString::new(path.as_os_str().as_bytes())?, null.as_fd(), stack) {
        Ok(pid) => Ok(pid),
        // It may be there and not be executed: on a file system mounted so, or without its mode.
        Err(Failure { step: Step::Exec, error }) if is_refused(&error) => {
            let Ok(program) = std::fs::read(path) else { return Err(error) };
            let Ok(copy) = memory_file("forkline-keeper", &program) else { return Err(error) };
            launch(CString::default(), copy.as_fd(), stack).map_err(|failure| failure.error)
        }
        Err(failure) => Err(failure.error),
    }
}

fn is_refused(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}
