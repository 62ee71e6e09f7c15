//! What a process in the sandbox may at most: nothing by its user, and of what root may only what stays
//! within its files and processes.

use std::io;

use forkline_launch::bounding_set;

/// Those that root's programs go on to have: owners and modes of files, processes, users, low ports.
const KEPT: u64 = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 10;

/// Takes the others from this process, and what it may start. `before`: what it could be given at most
/// outside.
pub fn drop_to_kept(before: u64) -> io::Result<()> {
    let kept = KEPT & before;
    // SAFETY: takes nothing.
    let is_root = unsafe { libc::geteuid() } == 0;
    let others = (0..64).filter(|capability| kept >> capability & 1 == 0);
    for capability in others.filter(|capability| bounding_set_has(*capability)) {
        match prctl(libc::PR_CAPBSET_DROP, capability) {
            // Outside of a user namespace an ordinary user has none to give up, and gets none by a
            // program any more.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !is_root => break,
            result => result?,
        }
    }
    set(if is_root { kept & bounding_set() } else { 0 })?;
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1)
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

/// Effective and permitted; none is inheritable.
fn set(capabilities: u64) -> io::Result<()> {
    const VERSION_3: u32 = 0x2008_0522;
    let (low, high) = (capabilities as u32, (capabilities >> 32) as u32);
    let mut header = [VERSION_3, 0];
    let sets = [low, low, 0, high, high, 0];
    // SAFETY: the call's third version takes a header of two numbers and six more.
    let result = unsafe { libc::syscall(libc::SYS_capset, header.as_mut_ptr(), sets.as_ptr()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
