//! The keeper, the process that runs a host's commands: how it is started and found.

pub mod attributes;
pub mod cradles;
pub mod identity;
pub mod lifeline;
pub mod program;
pub mod sandbox;
pub mod seat;
pub mod seats;
pub mod startup_stderr;
pub mod status;
pub mod tenancy;
pub mod thread;

use std::io;
use std::ops::Deref;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use forkline_launch::{Place, Stack, Step};
use forkline_protocol::{Call, VERSION, memory_file, pair, role};
use parking_lot::Mutex;
use rustix::io::Errno;

use crate::command::errors::LaunchError;
use crate::keeper::cradles::{Cradle, Cradles};
use crate::keeper::identity::Identity;
use crate::keeper::lifeline::Lifeline;
use crate::keeper::program::{NAME, is_refused, launch_keeper, no_keeper, null};
use crate::keeper::sandbox::Sandbox;
use crate::keeper::startup_stderr::{StartupStderr, describe_end, end_of};
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
    /// The sandbox that it makes and is in.
    pub sandbox: Option<Sandbox>,
    /// What keeps it from being of use, until it has greeted: then 0.
    fault: AtomicI32,
    /// What it says keeps it from being of use.
    refused: OnceLock<LaunchError>,
    /// What it says, until it has greeted.
    stderr: Mutex<Option<StartupStderr>>,
    /// How it has ended, if that was before it greeted.
    end: OnceLock<String>,
    /// Whether this host has ended it, since it hung.
    was_killed: AtomicBool,
    gone: AtomicBool,
    /// Whether the host has been allowed to look into it.
    was_visible: AtomicBool,
    /// How many commands are yet to be taken, or to be told of.
    turns: AtomicUsize,
    /// Of how many commands somebody may run.
    tenants: AtomicUsize,
    /// Whether there are to be no more.
    resigned: AtomicBool,
}

/// A keeper, for a command that it is to run: it takes requests for as long as there is one of these.
pub struct Turn(Arc<Keeper>);

impl Turn {
    /// One more command for it.
    pub fn of(keeper: Arc<Keeper>) -> Turn {
        keeper.turns.fetch_add(1, Ordering::SeqCst);
        Turn(keeper)
    }

    /// Who it is.
    pub fn keeper(&self) -> &Arc<Keeper> {
        &self.0
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

impl Keeper {
    /// A cradle for the next command. None: the keeper is gone, or has been replaced.
    pub fn cradle(&self) -> io::Result<Option<Cradle>> {
        self.cradles.take(&self.lifeline)
    }

    /// The same, but one that nothing has run in yet.
    pub fn new_cradle(&self) -> io::Result<Option<Cradle>> {
        self.cradles.take_new(&self.lifeline)
    }

    /// Sees to it that some cradles wait.
    pub fn prepare(&self) {
        if !self.has_resigned() {
            self.cradles.fill(&self.lifeline);
        }
    }

    /// It has said that it is there, and which version it speaks.
    pub fn greeted(&self, version: u32) {
        let fault = if version == VERSION { 0 } else { libc::EPROTO };
        self.fault.store(fault, Ordering::Relaxed);
        *self.stderr.lock() = None;
    }

    /// The errno of what keeps it from being of use: it has never said that it is there, or speaks
    /// another version.
    pub fn fault(&self) -> Option<i32> {
        Some(self.fault.load(Ordering::Relaxed)).filter(|errno| *errno != 0)
    }

    /// It has said why it is of no use: the errno, and what could not be done.
    pub fn is_refused(&self, errno: i32, what: String) {
        match &self.sandbox {
            Some(sandbox) => sandbox.is_refused(errno, what),
            None => {
                let subject = format!("forkline-keeper: {what}");
                let _ = self.refused.set(LaunchError { step: Step::Keeper, errno, subject });
            }
        }
    }

    /// What comes of a command that it can't run; None: it can.
    pub fn refusal(&self) -> Option<LaunchError> {
        let fault = self.fault()?;
        let refused = self.sandbox.as_ref().and_then(Sandbox::refusal);
        let refused = refused.or_else(|| self.refused.get().cloned());
        Some(refused.unwrap_or_else(|| match self.end.get() {
            Some(subject) => {
                let late = self.was_killed.load(Ordering::Relaxed);
                let errno = if late { libc::ETIMEDOUT } else { libc::ECONNABORTED };
                LaunchError { step: Step::Keeper, errno, subject: subject.clone() }
            }
            None => no_keeper(io::Error::from_raw_os_error(fault)),
        }))
    }

    /// It has died, and has not been reaped.
    pub fn dies(&self) {
        if self.fault() == Some(SILENT) {
            let stderr = self.stderr.lock().take();
            let how = describe_end(end_of(self.lifeline.keeper), stderr.as_ref());
            let subject = match self.was_killed.load(Ordering::Relaxed) {
                true => format!("{NAME}, which did not say that it was there ({how})"),
                false => format!("{NAME}, which ended while it started ({how})"),
            };
            let _ = self.end.set(subject);
        }
        self.gone.store(true, Ordering::Relaxed);
    }

    /// Whether it has died.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// Whether the calling thread may look into it as it always could: a thread that has confined itself
    /// by Landlock may not look into what is outside, and nothing else tells.
    pub fn is_visible(&self) -> bool {
        let (mut head, mut length) = (std::ptr::null_mut::<libc::c_void>(), 0usize);
        let pid = self.lifeline.keeper;
        // SAFETY: fills both. It asks for the least that needs the right to look.
        let result = unsafe {
            libc::syscall(libc::SYS_get_robust_list, pid, &raw mut head, &raw mut length)
        };
        if result == 0 {
            self.was_visible.store(true, Ordering::Relaxed);
        }
        let denied = result != 0 && is_refused(&io::Error::last_os_error());
        !(denied && self.was_visible.load(Ordering::Relaxed))
    }

    /// Whether it could be told later that the host is no longer who it is now. If not, it is for one
    /// command.
    pub fn can_detect_changes(&self) -> bool {
        let is_visible = self.is_visible() && self.was_visible.load(Ordering::Relaxed);
        let hides_landlock =
            self.identity.can_confine_itself && !is_visible && identity::has_landlock();
        !hides_landlock && !self.identity.hides_something()
    }

    /// It runs what was asked of it until now, and no more: the host is somebody else.
    pub fn resign(&self) {
        self.resigned.store(true, Ordering::SeqCst);
        if self.turns.load(Ordering::SeqCst) == 0 {
            self.retire();
        }
    }

    /// A command could not be prepared for it. What has kept the host from that may keep it from serving
    /// the sandbox that is just being made, which would then go on without.
    pub fn launch_failed(&self, error: &LaunchError) {
        let is_short = matches!(error.errno, libc::EMFILE | libc::ENFILE | libc::ENOMEM);
        if is_short && self.sandbox.as_ref().is_some_and(Sandbox::may_be_unserved) {
            self.resign();
        }
    }

    /// Whether it runs no more than what it was asked.
    pub fn has_resigned(&self) -> bool {
        self.resigned.load(Ordering::SeqCst)
    }

    /// It hangs, and takes no request: it ends now, and what it has not taken may be sent to another.
    pub fn kill(&self) {
        if !self.is_gone() {
            self.was_killed.store(true, Ordering::Relaxed);
            self.lifeline.kill();
        }
    }

    /// No more commands at all: it ends with those that it runs.
    pub fn retire(&self) {
        self.cradles.close();
        let _ = self.lifeline.call(Call::Retire, &[]);
    }
}

/// What keeps one from being of use that has not yet said that it is there.
const SILENT: i32 = libc::ESRCH;

/// Starts one for a host of this identity, which is the calling thread's. `sandbox`: that it is to make.
fn start(
    program: Option<&Path>,
    watch: &Watch,
    identity: Identity,
    sandbox: Option<Sandbox>,
) -> Result<Keeper, LaunchError> {
    let program = program.ok_or_else(|| no_keeper(Errno::NOENT.into()))?;
    let (socket, theirs) = pair().map_err(no_keeper)?;
    let mut stack = Stack::new().map_err(no_keeper)?;
    let order = sandbox.as_ref().map(|of| memory_file(c"forkline-sandbox", &of.plan));
    let order = order.transpose().map_err(|error| {
        LaunchError::new(
            Step::Keeper,
            &error,
            "forkline-keeper: its order in memory (memfd_create)",
        )
    })?;
    // Where there are none, what it says is lost.
    let stderr = StartupStderr::new().ok();
    let pid = launch_keeper(
        program,
        if order.is_some() { role::SANDBOX } else { role::KEEP },
        // It must not pin a file system, unless there is no other way.
        if identity.has_birthplace() { None } else { Some(Place::Path(c"/")) },
        [theirs.as_fd(), null().map_err(no_keeper)?.as_fd()],
        stderr.as_ref().map(StartupStderr::descriptor),
        order.as_ref().map(AsFd::as_fd),
        &mut stack,
    )?;

    Ok(Keeper {
        id: watch.new_id(),
        identity,
        lifeline: Lifeline { socket, keeper: pid },
        cradles: Cradles::new(watch.clone()),
        sandbox,
        fault: AtomicI32::new(SILENT),
        refused: OnceLock::new(),
        stderr: Mutex::new(stderr),
        end: OnceLock::new(),
        was_killed: AtomicBool::new(false),
        gone: AtomicBool::new(false),
        was_visible: AtomicBool::new(false),
        turns: AtomicUsize::new(0),
        tenants: AtomicUsize::new(0),
        resigned: AtomicBool::new(false),
    })
}
