//! The keeper, the process that runs a host's commands: how it is started and found.

pub mod attributes;
pub mod cradles;
pub mod former;
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

/// A running keeper.
pub struct Keeper {
    /// Unique in this host.
    pub id: u64,
    /// The identity of the host when it started the keeper.
    pub identity: Identity,
    /// The socket to the keeper.
    pub lifeline: Lifeline,
    /// The idle cradles.
    pub cradles: Cradles,
    /// The sandbox that it sets up and runs in.
    pub sandbox: Option<Sandbox>,
    /// The errno for which it is not usable yet; 0 once it has greeted.
    fault: AtomicI32,
    /// The reason, told by the keeper, why it is not usable.
    refused: OnceLock<LaunchError>,
    /// The standard error, until it has greeted.
    stderr: Mutex<Option<StartupStderr>>,
    /// A description of its end, if it ended before it greeted.
    end: OnceLock<String>,
    /// Whether this host has killed it because it hung.
    was_killed: AtomicBool,
    gone: AtomicBool,
    /// Whether the host has once been allowed to inspect it.
    was_visible: AtomicBool,
    /// The number of commands that are still to be taken or reported.
    turns: AtomicUsize,
    /// The number of commands of which a process may run.
    tenants: AtomicUsize,
    /// Whether it takes no more commands.
    resigned: AtomicBool,
}

/// A command's claim on a keeper. A keeper takes requests as long as there is one of these.
pub struct Turn(Arc<Keeper>);

impl Turn {
    /// Makes a claim for one more command.
    pub fn of(keeper: Arc<Keeper>) -> Turn {
        keeper.turns.fetch_add(1, Ordering::SeqCst);
        Turn(keeper)
    }

    /// Returns the keeper.
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
    /// Takes a cradle for the next command. None: the keeper is gone, or has been replaced.
    pub fn cradle(&self) -> io::Result<Option<Cradle>> {
        self.cradles.take(&self.lifeline)
    }

    /// Takes a cradle in which nothing has run yet. None: as above.
    pub fn new_cradle(&self) -> io::Result<Option<Cradle>> {
        self.cradles.take_new(&self.lifeline)
    }

    /// Makes cradles for the next commands.
    pub fn prepare(&self) {
        if !self.has_resigned() {
            self.cradles.fill(&self.lifeline);
        }
    }

    /// Notes that the keeper has greeted, with the protocol version that it speaks.
    pub fn greeted(&self, version: u32) {
        let fault = if version == VERSION { 0 } else { libc::EPROTO };
        self.fault.store(fault, Ordering::Relaxed);
        *self.stderr.lock() = None;
    }

    /// Returns the errno for which the keeper is not usable: it has not greeted, or speaks another version.
    pub fn fault(&self) -> Option<i32> {
        Some(self.fault.load(Ordering::Relaxed)).filter(|errno| *errno != 0)
    }

    /// Notes the reason, told by the keeper, why it is not usable: the errno, and the action that failed.
    pub fn set_refused(&self, errno: i32, what: String) {
        match &self.sandbox {
            Some(sandbox) => sandbox.set_refused(errno, what),
            None => {
                let subject = format!("forkline-keeper: {what}");
                let _ =
                    self.refused.set(LaunchError { step: Step::Keeper, errno, subject, why: None });
            }
        }
    }

    /// Returns the error of a command that the keeper can't run. None: it can.
    pub fn refusal(&self) -> Option<LaunchError> {
        let fault = self.fault()?;
        let refused = self.sandbox.as_ref().and_then(Sandbox::refusal);
        let refused = refused.or_else(|| self.refused.get().cloned());
        Some(refused.unwrap_or_else(|| match self.end.get() {
            Some(subject) => {
                let late = self.was_killed.load(Ordering::Relaxed);
                let errno = if late { libc::ETIMEDOUT } else { libc::ECONNABORTED };
                LaunchError { step: Step::Keeper, errno, subject: subject.clone(), why: None }
            }
            None => no_keeper(io::Error::from_raw_os_error(fault)),
        }))
    }

    /// Notes that the keeper has died. Called before it is reaped.
    pub fn set_dead(&self) {
        if self.fault() == Some(SILENT) {
            let stderr = self.stderr.lock().take();
            let how = describe_end(end_of(self.lifeline.keeper), stderr.as_ref());
            let subject = match self.was_killed.load(Ordering::Relaxed) {
                true => format!("{NAME}, which did not report its start ({how})"),
                false => format!("{NAME}, which ended while it started ({how})"),
            };
            let _ = self.end.set(subject);
        }
        self.gone.store(true, Ordering::Relaxed);
    }

    /// Returns whether the keeper has died.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// Returns whether the calling thread may still inspect the keeper. A thread that has restricted itself
    /// with Landlock may not inspect processes outside of its domain; the kernel has no other sign of that.
    pub fn is_visible(&self) -> bool {
        let (mut head, mut length) = (std::ptr::null_mut::<libc::c_void>(), 0usize);
        let pid = self.lifeline.keeper;
        // SAFETY: fills both. This is the cheapest call that needs the right to inspect a process.
        let result = unsafe {
            libc::syscall(libc::SYS_get_robust_list, pid, &raw mut head, &raw mut length)
        };
        if result == 0 {
            self.was_visible.store(true, Ordering::Relaxed);
        }
        let denied = result != 0 && is_refused(&io::Error::last_os_error());
        !(denied && self.was_visible.load(Ordering::Relaxed))
    }

    /// Returns whether a later change of the host's identity can be detected. If not, the keeper is used for
    /// one command only.
    pub fn can_detect_changes(&self) -> bool {
        let is_visible = self.is_visible() && self.was_visible.load(Ordering::Relaxed);
        let hides_landlock =
            self.identity.can_confine_itself && !is_visible && identity::has_landlock();
        !hides_landlock && !self.identity.hides_something()
    }

    /// Takes no more commands: the host's identity has changed. Commands requested before still run.
    pub fn resign(&self) {
        self.resigned.store(true, Ordering::SeqCst);
        if self.turns.load(Ordering::SeqCst) == 0 {
            self.retire();
        }
    }

    /// Notes that a command could not be prepared. The same shortage may keep the host from serving the proxy
    /// of a sandbox that is just being made, which would then stay without.
    pub fn launch_failed(&self, error: &LaunchError) {
        let is_short = matches!(error.errno, libc::EMFILE | libc::ENFILE | libc::ENOMEM);
        if is_short && self.sandbox.as_ref().is_some_and(Sandbox::may_be_unserved) {
            self.resign();
        }
    }

    /// Returns whether the keeper takes no more commands.
    pub fn has_resigned(&self) -> bool {
        self.resigned.load(Ordering::SeqCst)
    }

    /// Kills a keeper that hangs. Requests that it has not taken may be sent to another one.
    pub fn kill(&self) {
        if !self.is_gone() {
            self.was_killed.store(true, Ordering::Relaxed);
            self.lifeline.kill();
        }
    }

    /// Tells the keeper to end with the commands that it runs.
    pub fn retire(&self) {
        self.cradles.close();
        let _ = self.lifeline.call(Call::Retire, &[]);
    }
}

/// The fault of a keeper that has not greeted yet.
const SILENT: i32 = libc::ESRCH;

/// Starts a keeper for a host of this identity, which is the calling thread's. `sandbox`: the sandbox that
/// the keeper sets up.
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
    // Without memory files, its standard error is lost.
    let stderr = StartupStderr::new().ok();
    let pid = launch_keeper(
        program,
        if order.is_some() { role::SANDBOX } else { role::KEEP },
        // The keeper must not pin a file system by its directory, unless its commands have to start there.
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
