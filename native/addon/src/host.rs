//! The one engine of this process, and the JavaScript environments that use it.

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

/// Returns the engine, which all JavaScript environments share, and starts it on the first call.
pub fn engine() -> Result<&'static Engine, StartError> {
    static ENGINE: Mutex<Option<&'static Engine>> = Mutex::new(None);
    let mut engine = ENGINE.lock();
    if let Some(engine) = *engine {
        return Ok(engine);
    }
    // The engine lives as long as the process, as its threads do.
    let started =
        Engine::start(keeper_program(), Box::new(tell_of_keeper), Box::new(tell_of_socket))?;
    let started: &'static Engine = Box::leak(Box::new(started));
    *engine = Some(started);
    Ok(started)
}

/// A JavaScript environment, and its queue of events.
struct Environment {
    name: String,
    events: Weak<EventQueue>,
}

static ENVIRONMENTS: Mutex<Vec<Environment>> = Mutex::new(Vec::new());

/// Registers an environment by its name. Returns its queue.
pub fn register_environment(name: String, events: Arc<EventQueue>) -> Arc<EventQueue> {
    let mut environments = ENVIRONMENTS.lock();
    environments.retain(|environment| environment.events.strong_count() > 0);
    environments.push(Environment { name, events: Arc::downgrade(&events) });
    events
}

/// Tells one environment, whichever that is.
fn tell_of_keeper() {
    let events = ENVIRONMENTS.lock().iter().find_map(|environment| environment.events.upgrade());
    if let Some(events) = events {
        events.push(EngineEvent::KeeperDied);
    }
}

/// Tells the environment named in the plan, which has the sandbox's rules and secrets. If that environment
/// has ended, the descriptors are closed, which tells the sandbox that its proxy is not served.
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

/// Returns the name of the environment that serves the plan's proxy.
fn server_in(plan: &[u8]) -> Option<&[u8]> {
    let mut fields = plan.split(|byte| *byte == 0);
    while let (Some(word), Some(value)) = (fields.next(), fields.next()) {
        if word == b"server" {
            return Some(value);
        }
    }
    None
}

/// The time from SIGTERM to SIGKILL for commands of an environment that ends.
const LAST_GRACE: Duration = Duration::from_secs(1);

/// Ends all commands of an environment that ends.
pub fn end_owners(engine: &'static Engine, owners: &HashMap<u64, Arc<Owner>>) {
    if is_main_thread() {
        // The process is about to exit, and its cradles will notice.
        return;
    }
    for owner in owners.values() {
        engine.dispose(owner, LAST_GRACE, Box::new(|| {}));
    }
}

/// Returns whether the calling thread is the main one: the end of its environment is the end of the process.
fn is_main_thread() -> bool {
    // SAFETY: the calls take no arguments and can't fail.
    unsafe { libc::gettid() == libc::getpid() }
}

/// Returns the path of the keeper's program, which is beside this library, in a build and in a package alike.
fn keeper_program() -> Option<PathBuf> {
    let program = own_path()?.parent()?.join("forkline-keeper");
    program.is_file().then_some(program)
}

fn own_path() -> Option<PathBuf> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: fills the structure for the library that contains this very function.
    let found = unsafe { libc::dladdr(own_path as *const _, info.as_mut_ptr()) } != 0;
    // SAFETY: the structure was zeroed, and filled by dladdr if found.
    let name = unsafe { info.assume_init() }.dli_fname;
    if !found || name.is_null() {
        return None;
    }
    // SAFETY: a NUL-terminated path that lives as long as the library is loaded.
    let name = unsafe { CStr::from_ptr(name) };
    Some(Path::new(OsStr::from_bytes(name.to_bytes())).to_path_buf())
}
