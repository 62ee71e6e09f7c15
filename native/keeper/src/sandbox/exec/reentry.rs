//! The process inside becomes the keeper's program once more.
//!
//! A process's memory belongs to the user namespace in which its program was executed, and who has the right to inspect
//! processes has it there only. The warden's right is that of the sandbox's namespace, and it has to read and hold
//! what cradles launch, whose memory is the keeper's: so the keeper is executed again, in that namespace.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use forkline_protocol::{VERSION, role};

use crate::cradle::roster;
use crate::sandbox::layers::Layers;
use crate::sandbox::namespaces::Inside;
use crate::sandbox::plan::Plan;
use crate::sandbox::privileges;
use crate::{outside, signals};

/// What a process needs to go on as another image of the same program.
pub struct Carried {
    pub order: File,
    pub lifeline: OwnedFd,
    pub host: Option<OwnedFd>,
    pub roster: OwnedFd,
    pub rights: u64,
    pub layers: Option<Layers>,
    pub inside: Inside,
}

/// What it reads there.
pub struct Resumed {
    pub plan: Plan,
    pub carried: Carried,
}

/// Executes the program again. Returns the error.
pub fn enter(carried: Carried) -> io::Error {
    match execute(&carried) {
        Ok(()) => io::ErrorKind::Other.into(),
        Err(error) => error,
    }
}

fn execute(carried: &Carried) -> io::Result<()> {
    let Carried { order, host, roster, rights, layers, inside, .. } = carried;
    (&*order).rewind()?;
    let proc = outside::proc().ok_or(io::ErrorKind::NotFound)?;
    let mut kept =
        vec![order.as_raw_fd(), roster.as_raw_fd(), inside.descriptor(), proc.as_raw_fd()];
    let mut words: Vec<String> = kept.iter().map(ToString::to_string).collect();
    words.push(host.as_ref().map_or(-1, AsRawFd::as_raw_fd).to_string());
    words.push(rights.to_string());
    kept.extend(host.as_ref().map(AsRawFd::as_raw_fd));
    if let Some(layers) = layers {
        let (text, descriptors) = layers.carried();
        words.push(text);
        kept.extend(descriptors);
    }
    for descriptor in kept {
        // SAFETY: takes numbers only.
        if unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    privileges::keep_over_exec()?;
    let arguments = ["forkline-keeper", role::INSIDE, &VERSION.to_string(), &words.join(" ")];
    let arguments = arguments.map(|argument| CString::new(argument).unwrap_or_default());
    let [name, role, version, state] = &arguments;
    let argv = [name.as_ptr(), role.as_ptr(), version.as_ptr(), state.as_ptr(), std::ptr::null()];
    let environment = [std::ptr::null()];
    // SAFETY: texts that end with NUL, in arrays that end with a null pointer.
    unsafe { libc::execve(c"/proc/self/exe".as_ptr(), argv.as_ptr(), environment.as_ptr()) };
    Err(io::Error::last_os_error())
}

/// Called in the new image. None: the words are not those of [`enter`].
pub fn resume(words: &str) -> Option<Resumed> {
    signals::prepare();
    let mut words = words.splitn(7, ' ');
    // SAFETY: the numbers are those of descriptors that were kept open for this, and nothing else here uses them.
    let taken = |word: &str| unsafe {
        let number: i32 = word.parse().ok().filter(|number| *number > 2)?;
        libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC);
        Some(OwnedFd::from_raw_fd(number))
    };
    let order = File::from(taken(words.next()?)?);
    let roster = taken(words.next()?)?;
    let inside = Inside::resumed(taken(words.next()?)?);
    outside::take_proc(taken(words.next()?)?);
    let host = taken(words.next()?);
    let rights = words.next()?.parse().ok()?;
    roster::map(&roster).ok()?;
    let plan = Plan::read(&order)?;
    let layers = words.next().and_then(|text| Layers::resumed(&plan, text));
    // SAFETY: the engine puts it there, and nothing else here uses it.
    let lifeline = unsafe { OwnedFd::from_raw_fd(0) };
    Some(Resumed {
        plan,
        carried: Carried { order, lifeline, host, roster, rights, layers, inside },
    })
}
