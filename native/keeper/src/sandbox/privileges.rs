//! The privileges of processes in the sandbox: none for an ordinary user; for root only those that affect
//! its files and processes.

use std::io;
use std::sync::OnceLock;

use forkline_launch::bounding_set;
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, geteuid, set_dumpable_behavior};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
    set_no_new_privs,
};

/// The capabilities that root's programs keep: for owners and modes of files, processes, users, and low
/// ports.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// The capabilities for copying other processes' descriptors, and for finding the file that a socket is
/// bound to.
const WARDEN: CapabilitySet = CapabilitySet::SYS_PTRACE.union(CapabilitySet::NET_ADMIN);

/// The capabilities for mounting, over other users' files too, and for changing to another mount namespace.
const MOUNTING: CapabilitySet = CapabilitySet::SYS_ADMIN
    .union(CapabilitySet::SYS_CHROOT)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::DAC_OVERRIDE);

/// The capabilities of a process beside the sandbox, and those of them that processes inside have too.
static BESIDE: OnceLock<(CapabilitySet, CapabilitySet)> = OnceLock::new();

/// Drops all other capabilities of this process and all that it starts. `before`: the bounding set
/// outside.
pub fn drop_to_kept(before: u64) -> io::Result<()> {
    let kept = kept_of(before);
    let is_root = is_root();
    let all = (0..64).map(|number| CapabilitySet::from_bits_retain(1 << number));
    let others = all.filter(|capability| !kept.contains(*capability));
    for capability in others.filter(|one| capability_is_in_bounding_set(*one) == Ok(true)) {
        match remove_capability_from_bounding_set(capability) {
            // Outside of a user namespace an ordinary user has no capability to drop, and gains none by
            // executing a program.
            Err(Errno::PERM) if !is_root => break,
            result => result?,
        }
    }
    let kept = if is_root { kept_of(bounding_set()) & kept } else { CapabilitySet::empty() };
    set(kept, kept)?;
    Ok(set_no_new_privs(true)?)
}

/// Drops all capabilities but those that the warden needs. `before`: the bounding set outside.
pub fn drop_to_warden(before: u64) -> io::Result<()> {
    let inside = if is_root() { kept_of(before) } else { CapabilitySet::empty() };
    BESIDE.get_or_init(|| (inside | WARDEN, inside));
    raise()
}

/// Drops all capabilities but those for mounting.
pub fn keep_mounting() -> io::Result<()> {
    set(MOUNTING, MOUNTING)
}

/// Keeps all capabilities of this process when it executes a program as an ordinary user.
pub fn keep_over_exec() -> io::Result<()> {
    let CapabilitySets { effective, permitted, .. } = capabilities(None)?;
    set_capabilities(None, CapabilitySets { effective, permitted, inheritable: permitted })?;
    for capability in permitted.iter() {
        configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Gives up all capabilities of this process, for a program that it becomes: root's programs get none
/// either.
pub fn give_up_all() -> io::Result<()> {
    set_no_new_privs(true)?;
    drop_all()
}

/// Drops all capabilities of the calling thread, and of those that it starts.
pub fn drop_all() -> io::Result<()> {
    set(CapabilitySet::empty(), CapabilitySet::empty())
}

/// Limits the calling thread to the capabilities that this user has in the sandbox.
pub fn lower(user: u32) -> io::Result<()> {
    let (all, inside) = beside();
    set(all, if user == 0 { inside } else { CapabilitySet::empty() })
}

/// Restores the calling thread's capabilities.
pub fn raise() -> io::Result<()> {
    let (all, _) = beside();
    set(all, all)
}

fn beside() -> (CapabilitySet, CapabilitySet) {
    BESIDE.get().copied().unwrap_or((CapabilitySet::empty(), CapabilitySet::empty()))
}

pub fn is_root() -> bool {
    geteuid().is_root()
}

/// Forbids processes in the sandbox to inspect this process and its forks.
pub fn close_to_others() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Leaves the host's session keyring.
pub fn leave_keyring() {
    const JOIN_SESSION: libc::c_int = 1;
    let unnamed = std::ptr::null::<libc::c_char>();
    // SAFETY: joins a new keyring without a name. An error is ignored: a kernel without keyrings has none
    // to leave.
    unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION, unnamed) };
}

fn kept_of(before: u64) -> CapabilitySet {
    KEPT & CapabilitySet::from_bits_retain(before)
}

/// Sets the permitted and effective capabilities; programs inherit none.
fn set(permitted: CapabilitySet, effective: CapabilitySet) -> io::Result<()> {
    let inheritable = CapabilitySet::empty();
    Ok(set_capabilities(None, CapabilitySets { effective, permitted, inheritable })?)
}
