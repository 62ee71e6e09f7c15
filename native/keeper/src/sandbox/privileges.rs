//! What a process in the sandbox may at most: nothing by its user, and of what root may only what stays
//! within its files and processes.

use std::io;
use std::sync::OnceLock;

use forkline_launch::bounding_set;

/// Those that root's programs go on to have: owners and modes of files, processes, users, low ports.
const KEPT: u64 = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 10;

/// To take copies of what others have open, and to ask what a socket has been bound to.
const WARDEN: u64 = 1 << 19 | 1 << 12;

/// To administrate file systems, also over files of others.
const MOUNTING: u64 = 1 << 21 | 1 << 2 | 1 << 1;

/// Of a process beside the sandbox: what its threads have, and of that what those inside have too.
static BESIDE: OnceLock<(u64, u64)> = OnceLock::new();

/// Takes the others from this process, and what it may start. `before`: what it could be given at most
/// outside.
pub fn drop_to_kept(before: u64) -> io::Result<()> {
    let kept = KEPT & before;
    let is_root = is_root();
    let others = (0..64).filter(|capability| kept >> capability & 1 == 0);
    for capability in others.filter(|capability| bounding_set_has(*capability)) {
        match prctl(libc::PR_CAPBSET_DROP, capability) {
            // Outside of a user namespace an ordinary user has none to give up, and gets none by a
            // program any more.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !is_root => break,
            result => result?,
        }
    }
    let kept = if is_root { kept & bounding_set() } else { 0 };
    set(kept, kept)?;
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1)
}

/// Takes all from this process but what is needed beside the sandbox. `before`: as above.
pub fn drop_to_warden(before: u64) -> io::Result<()> {
    let inside = if is_root() { KEPT & before } else { 0 };
    BESIDE.get_or_init(|| (inside | WARDEN, inside));
    raise()
}

/// Takes all from this process but the right to change mounts, where it is.
pub fn keep_mounting() -> io::Result<()> {
    set(MOUNTING, MOUNTING)
}

/// The calling thread has no more rights than those of this user in the sandbox.
pub fn lower(user: u32) -> io::Result<()> {
    let (all, inside) = BESIDE.get().copied().unwrap_or_default();
    set(all, if user == 0 { inside } else { 0 })
}

/// It has all again that it may have.
pub fn raise() -> io::Result<()> {
    let (all, _) = BESIDE.get().copied().unwrap_or_default();
    set(all, all)
}

pub fn is_root() -> bool {
    // SAFETY: takes nothing.
    unsafe { libc::geteuid() == 0 }
}

/// Nobody in the sandbox looks into this process, or its copies.
pub fn close_to_others() -> io::Result<()> {
    prctl(libc::PR_SET_DUMPABLE, 0)
}

/// What hangs on the host's session is not for the sandbox.
pub fn leave_keyring() {
    const JOIN_SESSION: libc::c_int = 1;
    let unnamed = std::ptr::null::<libc::c_char>();
    // SAFETY: a new one without a name. A kernel without keyrings has none to leave.
    unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION, unnamed) };
}

fn bounding_set_has(capability: u64) -> bool {
    // SAFETY: takes numbers only.
    unsafe { libc::prctl(libc::PR_CAPBSET_READ, capability, 0, 0, 0) == 1 }
}

fn prctl(option: libc::c_int, value: u64) -> io::Result<()> {
    // SAFETY: takes numbers only.
    let result = unsafe { libc::prctl(option, value, 0, 0, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// What may be done from here on, and what could be; none is inherited by programs.
fn set(permitted: u64, effective: u64) -> io::Result<()> {
    const VERSION_3: u32 = 0x2008_0522;
    let mut header = [VERSION_3, 0];
    let (permitted, effective) = (halves(permitted), halves(effective));
    let sets = [effective[0], permitted[0], 0, effective[1], permitted[1], 0];
    // SAFETY: the call's third version takes a header of two numbers and six more.
    let result = unsafe { libc::syscall(libc::SYS_capset, header.as_mut_ptr(), sets.as_ptr()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn halves(capabilities: u64) -> [u32; 2] {
    [capabilities as u32, (capabilities >> 32) as u32]
}
