//! The one engine of this process, and what ends with it.

use std::ffi::{CStr, OsStr};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use forkline_engine::{Engine, StartError};
use parking_lot::Mutex;

/// The engine, started when first asked for; every JavaScript environment shares it.
pub fn engine() -> Result<&'static Engine, StartError> {
    static ENGINE: Mutex<Option<&'static Engine>> = Mutex::new(None);
    let mut engine = ENGINE.lock();
    if let Some(engine) = *engine {
        return Ok(engine);
    }
    // It lives as long as the process, as its threads do.
    let started: &'static Engine = Box::leak(Box::new(Engine::start(keeper_program())?));
    *engine = Some(started);
    Ok(started)
}

/// Whether the calling thread is the process's main one: the end of its environment is the end
/// of the process.
pub fn is_main_thread() -> bool {
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
