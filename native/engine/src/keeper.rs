//! The keeper, the process that runs a host's commands: how it is started and found.

use std::ffi::CString;
use std::io;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

use forkline_launch::{Failure, Image, Place, Request, Stack, Step, launch};
use forkline_protocol::{VERSION, pair, role, take};
use parking_lot::Mutex;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use crate::errors::LaunchError;
use crate::identity::Identity;
use crate::plumbing::memory_file;

/// A keeper at work. It takes the end of our side of the lifeline for the host's death.
#[derive(Debug)]
pub struct Keeper {
    /// Unique in this host.
    pub id: u64,
    /// Its process id, and its group's, which is its cradles' too.
    pub pid: i32,
    /// Who the host was.
    pub identity: Identity,
    /// What it tells us.
    pub lifeline: OwnedFd,
    /// Where requests are sent to; None: to no more.
    requests: Mutex<Option<Requests>>,
    /// What keeps it from being of use, until it has greeted: then 0.
    fault: AtomicI32,
    gone: AtomicBool,
    /// Whether the host has been allowed to look into it.
    was_seen: AtomicBool,
    /// How many commands are yet to be taken, or to be told of.
    turns: AtomicUsize,
    /// Whether there are to be no more.
    resigned: AtomicBool,
}

/// A keeper, for a command that it is to run: it takes requests for as long as there is one of these.
#[derive(Debug)]
pub struct Turn(Arc<Keeper>);

impl Turn {
    /// One more command for it.
    pub fn of(keeper: Arc<Keeper>) -> Turn {
        keeper.turns.fetch_add(1, Ordering::SeqCst);
        Turn(keeper)
    }
}

impl Clone for Turn {
    fn clone(&self) -> Turn {
        Turn::of(self.0.clone())
    }
}

impl Deref for Turn {
    type Target = Keeper;

    fn deref(&self) -> &Keeper {
        &self.0
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let is_last = self.turns.fetch_sub(1, Ordering::SeqCst) == 1;
        if is_last && self.has_resigned() {
            self.retire();
        }
    }
}

/// Both sides: what nobody has taken when the keeper dies is taken back through its own.
#[derive(Debug)]
struct Requests {
    ours: Arc<OwnedFd>,
    theirs: OwnedFd,
}

impl Keeper {
    /// The way for a request.
    pub fn requests(&self) -> Option<Arc<OwnedFd>> {
        self.requests.lock().as_ref().map(|requests| requests.ours.clone())
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

    /// Whether the calling thread may look into it as it always could: a thread that has confined itself
    /// by Landlock may not look into what is outside, and nothing else tells.
    pub fn is_seen(&self) -> bool {
        let (mut head, mut length) = (std::ptr::null_mut::<libc::c_void>(), 0usize);
        // SAFETY: fills both. It asks for the least that needs the right to look.
        let result = unsafe {
            libc::syscall(libc::SYS_get_robust_list, self.pid, &raw mut head, &raw mut length)
        };
        if result == 0 {
            self.was_seen.store(true, Ordering::Relaxed);
        }
        let denied = result != 0 && is_refused(&io::Error::last_os_error());
        !(denied && self.was_seen.load(Ordering::Relaxed))
    }

    /// Whether it could be told later that the host is no longer who it is now. If not, it is for one
    /// command.
    pub fn can_be_told_apart(&self) -> bool {
        let is_seen = self.is_seen() && self.was_seen.load(Ordering::Relaxed);
        let hides_landlock = self.identity.can_confine_itself && !is_seen && has_landlock();
        !hides_landlock && !self.identity.hides_something()
    }

    /// Has it go on if somebody has stopped it: its cradles look after commands.
    pub fn go_on(&self) {
        let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        let flags = libc::WSTOPPED | libc::WNOHANG;
        let pid = self.pid as libc::id_t;
        // SAFETY: fills the structure, which is valid as zeros too.
        let info = unsafe {
            libc::waitid(libc::P_PID, pid, info.as_mut_ptr(), flags);
            info.assume_init()
        };
        // SAFETY: for a child the kernel fills this field; zero when there is nothing to tell.
        if unsafe { info.si_pid() } == self.pid {
            // SAFETY: takes numbers. It is our child and stopped, so its number is its own.
            unsafe { libc::kill(self.pid, libc::SIGCONT) };
        }
    }

    /// It runs what was asked of it until now, and no more: the host is somebody else.
    pub fn resign(&self) {
        self.resigned.store(true, Ordering::SeqCst);
        if self.turns.load(Ordering::SeqCst) == 0 {
            self.retire();
        }
    }

    /// Whether it runs no more than what it was asked.
    pub fn has_resigned(&self) -> bool {
        self.resigned.load(Ordering::SeqCst)
    }

    /// No more requests at all: what its cradles have not taken is taken back, which its channels tell; it
    /// ends with what it runs.
    pub fn retire(&self) {
        let Some(Requests { ours, theirs }) = self.requests.lock().take() else { return };
        // SAFETY: takes numbers only.
        unsafe { libc::shutdown(std::os::fd::AsRawFd::as_raw_fd(&*ours), libc::SHUT_WR) };
        // Its own cradles may take them meanwhile: each one is taken once.
        while take(theirs.as_fd(), &mut [0; 16]).is_ok_and(|length| length > 0) {}
    }
}

/// What a keeper that can't be started, or isn't there, comes to.
pub fn no_keeper(error: io::Error) -> LaunchError {
    LaunchError::new(Step::Keeper, &error, "forkline-keeper")
}

/// Starts one for a host of this identity, which is the calling thread's.
pub fn start(program: Option<&Path>, id: u64, identity: Identity) -> Result<Keeper, LaunchError> {
    let program = program.ok_or_else(|| no_keeper(Errno::NOENT.into()))?;
    let (lifeline, their_lifeline) = pair().map_err(no_keeper)?;
    let (ours, theirs) = pair().map_err(no_keeper)?;
    let mut stack = Stack::new().map_err(no_keeper)?;
    let pid = launch_keeper(
        program,
        role::KEEP,
        // It must not pin a file system, unless there is no other way.
        if identity.has_birthplace() { None } else { Some(Place::Path(c"/")) },
        [their_lifeline.as_fd(), null().map_err(no_keeper)?.as_fd()],
        theirs.as_fd(),
        &mut stack,
    )
    .map_err(no_keeper)?;

    Ok(Keeper {
        id,
        pid,
        identity,
        lifeline,
        requests: Mutex::new(Some(Requests { ours: Arc::new(ours), theirs })),
        fault: AtomicI32::new(libc::ESRCH),
        gone: AtomicBool::new(false),
        was_seen: AtomicBool::new(false),
        turns: AtomicUsize::new(0),
        resigned: AtomicBool::new(false),
    })
}

/// Whether this kernel knows it.
fn has_landlock() -> bool {
    const VERSION: libc::c_int = 1;
    let none = std::ptr::null::<libc::c_void>();
    // SAFETY: asks for a number, and makes nothing.
    unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0, VERSION) > 0 }
}

fn null() -> io::Result<OwnedFd> {
    Ok(open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?)
}

/// Starts the program at `path` in one of its roles, with its directory and its descriptors 0, 1
/// and 3; its process id.
pub fn launch_keeper(
    path: &Path,
    role: &str,
    directory: Option<Place>,
    [stdin, stdout]: [BorrowedFd<'_>; 2],
    fourth: BorrowedFd<'_>,
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
            script: Some(fourth),
            parent_death: None,
            terminal: false,
            share_directory: false,
            attributes: None,
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
