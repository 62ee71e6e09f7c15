//! The one engine of this process, and what ends with it.

use std::collections::HashMap;
use std::ffi::{CStr, OsStr};
use std::mem::MaybeUninit;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use forkline_engine::{Engine, Owner, StartError};
use parking_lot::Mutex;

use crate::channel::EventQueue;
use crate::event::EngineEvent;

/// The engine, started when first asked for; every JavaScript environment shares it.
pub fn engine() -> Result<&'static Engine, StartError> {
    static ENGINE: Mutex<Option<&'static Engine>> = Mutex::new(None);
    let mut engine = ENGINE.lock();
    if let Some(engine) = *engine {
        return Ok(engine);
    }
    // It lives as long as the process, as its threads do.
    let started =
        Engine::start(keeper_program(), Box::new(tell_of_keeper), Box::new(tell_of_socket))?;
    let started: &'static Engine = Box::leak(Box::new(started));
    *engine = Some(started);
    Ok(started)
}

/// The line to a JavaScript environment.
struct Environment {
    name: String,
    events: Weak<EventQueue>,
}

static ENVIRONMENTS: Mutex<Vec<Environment>> = Mutex::new(Vec::new());

/// The same events, as those of another environment.
pub fn register_environment(name: String, events: Arc<EventQueue>) -> Arc<EventQueue> {
    let mut environments = ENVIRONMENTS.lock();
    environments.retain(|environment| environment.events.strong_count() > 0);
    environments.push(Environment { name, events: Arc::downgrade(&events) });
    events
}

/// Any environment may tell that.
fn tell_of_keeper() {
    let events = ENVIRONMENTS.lock().iter().find_map(|environment| environment.events.upgrade());
    if let Some(events) = events {
        events.push(EngineEvent::KeeperDied);
    }
}

/// Tells the environment that the plan names, which has its rules and secrets. Where that has ended the
/// descriptors are closed, which refuses the sandbox.
fn tell_of_socket(sandbox: u64, plan: &[u8], descriptors: Option<[OwnedFd; 2]>) {
    let server = server_in(plan).unwrap_or_default();
    let environments = ENVIRONMENTS.lock();
    let environment = environments.iter().find(|environment| environment.name.as_bytes() == server);
    if let Some(events) = environment.and_then(|environment| environment.events.upgrade()) {
        let sandbox = sandbox as f64;
        events.push(match descriptors {
            None => EngineEvent::SandboxGone { sandbox },
            Some(descriptors) => {
                let plan = String::from_utf8_lossy(plan).into_owned();
                let [descriptor, answer] = descriptors.map(IntoRawFd::into_raw_fd);
                EngineEvent::Listens { sandbox, plan, descriptor, answer }
            }
        });
    }
}

/// The name of who serves it.
fn server_in(plan: &[u8]) -> Option<&[u8]> {
    let mut fields = plan.split(|byte| *byte == 0);
    while let (Some(word), Some(value)) = (fields.next(), fields.next()) {
        if word == b"server" {
            return Some(value);
        }
    }
    None
}

/// From SIGTERM to SIGKILL, for commands of an environment that ends.
const LAST_GRACE: Duration = Duration::from_secs(1);

/// The environment ends, and with it all it started.
pub fn end_owners(engine: &'static Engine, owners: &HashMap<u64, Arc<Owner>>) {
    if is_main_thread() {
        // The process is on its way out, and its cradles will notice.
        return;
    }
    for owner in owners.values() {
        engine.dispose(owner, LAST_GRACE, Box::new(|| {}));
    }
}

/// Whether the calling thread is the process's main one: the end of its environment is the end
/// of the process.
fn is_main_thread() -> bool {
    // SAFETY: neither call takes anything or can fail.
    unsafe { libc::gettid() == libc::getpid() }
}

/// The keeper lies beside this library, in a build and in a package alike.
fn keeper_program() -> Option<PathBuf> {
    let program = own_path()?.parent()?.join("forkline-keeper");
    program.is_file().then_some(program)
}

fn own_path() -> Option<PathBuf> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: fills the structure for the library that contains this very function.
    let found = unsafe { libc::dladdr(own_path as *const _, info.as_mut_ptr()) } != 0;
    // SAFETY: zeroed, and filled by dladdr when found.
    let name = unsafe { info.assume_init() }.dli_fname;
    if !found || name.is_null() {
        return None;
    }
    // SAFETY: a NUL-terminated path that lives as long as the library is loaded.
    let name = unsafe { CStr::from_ptr(name) };
    Some(Path::new(OsStr::from_bytes(name.to_bytes())).to_path_buf())
}
