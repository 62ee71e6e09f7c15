//! The identity of this host to the kernel. A keeper and its descendants keep the identity that the host had
//! when it started the keeper; a host whose identity has changed gets another keeper.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr::null_mut;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, open, statx};
use rustix::io::Errno;

use crate::keeper::thread::{self, Means, Shown};

/// The directory in which a command starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartsIn {
    /// The directory that the host is in.
    HostDirectory,
    /// A directory that the request names.
    NamedDirectory,
}

/// All that a command inherits from a thread and that is not sent with the request.
#[derive(Debug, Clone)]
pub struct Identity {
    rights: Rights,
    manners: Manners,
    /// The current directory, if the host may not search it: then only descendants of the host that started
    /// there can be in it.
    birthplace: Option<(u32, u32, u64, u64)>,
    /// Whether the thread can restrict itself with Landlock, which can't be read back.
    pub can_confine_itself: bool,
}

/// Rights, root, namespaces and the like.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rights {
    users: [u32; 3],
    groups: [u32; 3],
    supplementary: Vec<u32>,
    capabilities: [u32; 6],
    /// The secure bits, no_new_privs, seccomp's mode, and memory-deny-write-execute.
    switches: [i32; 4],
    /// The root directory: device, inode, mount.
    root: Option<(u32, u32, u64, u64)>,
    /// The serial number of its session's keyring.
    keyring: i64,
    shown: Shown,
    /// The number of the thread, if it is confined in a way that can't be compared.
    confined: Option<u64>,
}

/// Attributes that grant no rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Manners {
    /// The execution domain and memory layout flags.
    personality: i32,
    /// Class and level of its I/O priority.
    disk: i64,
    /// The scheduling policy, flags and real-time priority.
    scheduling: [u64; 3],
}

impl Identity {
    /// Reads the identity of the calling thread: a dozen cheap calls.
    ///
    /// `starts_in`: where its command is to start.
    pub fn now(starts_in: StartsIn) -> Identity {
        let (mut users, mut groups) = ([0; 3], [0; 3]);
        // SAFETY: each fills three numbers.
        unsafe {
            let [real, effective, saved] = &mut users;
            libc::getresuid(real, effective, saved);
            let [real, effective, saved] = &mut groups;
            libc::getresgid(real, effective, saved);
        }
        let (capabilities, switches) = (capabilities(), switches());
        let means = means(&capabilities, &switches);
        let rights = Rights {
            users,
            groups,
            supplementary: supplementary_groups(),
            capabilities,
            switches,
            root: place(c"/", AtFlags::empty()),
            keyring: keyring(),
            shown: thread::shown(means),
            confined: thread::confined(),
        };
        Identity {
            rights,
            manners: manners(),
            birthplace: if starts_in == StartsIn::HostDirectory { birthplace() } else { None },
            can_confine_itself: means.can_confine_itself(),
        }
    }
}

impl Identity {
    /// Returns whether a keeper with this identity can run a command for a host that is `asked` now. False if
    /// state that may have changed can't be read.
    pub fn serves(&self, asked: &Identity) -> bool {
        let is_there = asked.birthplace.is_none() || asked.birthplace == self.birthplace;
        let is_same = self.rights == asked.rights && self.manners == asked.manners;
        is_same && is_there && !asked.hides_something()
    }

    /// Returns whether both have the same rights.
    pub fn has_rights_of(&self, other: &Identity) -> bool {
        self.rights == other.rights && self.birthplace == other.birthplace
    }

    /// Returns whether state that may have changed, or may yet change, can't be read.
    pub fn hides_something(&self) -> bool {
        self.rights.shown.hides_something
    }

    /// Marks the identity, that of the calling thread, as confined in a way that can't be compared.
    pub fn confined(self) -> Identity {
        Identity { rights: Rights { confined: thread::confine(), ..self.rights }, ..self }
    }

    /// Returns whether commands that start in the host's directory can only run as descendants that started
    /// there.
    pub fn has_birthplace(&self) -> bool {
        self.birthplace.is_some()
    }

    /// Returns where commands of this identity start.
    pub fn starts_in(&self) -> StartsIn {
        if self.has_birthplace() { StartsIn::HostDirectory } else { StartsIn::NamedDirectory }
    }
}

fn supplementary_groups() -> Vec<u32> {
    let mut groups = vec![0; 64];
    // SAFETY: fills at most as many numbers as it is told there is room for.
    let mut count = unsafe { libc::getgroups(groups.len() as i32, groups.as_mut_ptr()) };
    if count < 0 {
        // SAFETY: the first call only counts; the second is like the one above.
        unsafe {
            let wanted = libc::getgroups(0, null_mut());
            groups = vec![0; usize::try_from(wanted).unwrap_or(0)];
            count = libc::getgroups(wanted.max(0), groups.as_mut_ptr());
        }
    }
    groups.truncate(usize::try_from(count).unwrap_or(0));
    groups
}

/// Returns effective, permitted and inheritable capabilities, each in two halves.
fn capabilities() -> [u32; 6] {
    const VERSION_3: u32 = 0x2008_0522;
    let mut header = [VERSION_3, 0];
    let mut sets = [0; 6];
    // SAFETY: the call's third version takes a header of two numbers and fills six.
    unsafe { libc::syscall(libc::SYS_capget, header.as_mut_ptr(), sets.as_mut_ptr()) };
    sets
}

/// Returns further flags that a thread can set and that its children inherit.
fn switches() -> [i32; 4] {
    let asked = [
        libc::PR_GET_SECUREBITS,
        libc::PR_GET_NO_NEW_PRIVS,
        libc::PR_GET_SECCOMP,
        libc::PR_GET_MDWE,
    ];
    // SAFETY: takes numbers only.
    asked.map(|option| unsafe { libc::prctl(option, 0, 0, 0, 0) })
}

fn means(capabilities: &[u32; 6], switches: &[i32; 4]) -> Means {
    let [_, permitted, inheritable, _, permitted_above, inheritable_above] = *capabilities;
    let [_, no_new_privileges, seccomp, _] = *switches;
    Means {
        permitted: u64::from(permitted) | u64::from(permitted_above) << 32,
        inheritable: u64::from(inheritable) | u64::from(inheritable_above) << 32,
        no_new_privileges: no_new_privileges == 1,
        is_filtered: seccomp == libc::SECCOMP_MODE_FILTER as i32,
    }
}

/// Returns the session keyring; for a thread without one of its own, that of its user.
fn keyring() -> i64 {
    const GET_ID: libc::c_int = 0;
    const SESSION: libc::c_int = -3;
    // SAFETY: takes numbers only.
    unsafe { libc::syscall(libc::SYS_keyctl, GET_ID, SESSION, 0) }
}

/// Returns attributes that grant no rights, without the niceness, which is sent.
fn manners() -> Manners {
    const ASK: libc::c_ulong = 0xffff_ffff;
    const PROCESS: libc::c_int = 1;
    let mut scheduling = MaybeUninit::<libc::sched_attr>::zeroed();
    let size = size_of::<libc::sched_attr>();
    // SAFETY: take numbers, and a structure of this size to fill, which is valid as zeros too.
    let (personality, disk, scheduling) = unsafe {
        libc::syscall(libc::SYS_sched_getattr, 0, scheduling.as_mut_ptr(), size, 0);
        let disk = libc::syscall(libc::SYS_ioprio_get, PROCESS, 0);
        (libc::personality(ASK), disk, scheduling.assume_init())
    };
    let libc::sched_attr { sched_policy, sched_flags, sched_priority, .. } = scheduling;
    let scheduling = [sched_policy.into(), sched_flags, sched_priority.into()];
    Manners { personality, disk, scheduling }
}

/// Returns device, inode and mount of a path; a mount namespace has mounts of its own.
fn place(path: &CStr, flags: AtFlags) -> Option<(u32, u32, u64, u64)> {
    let mask = StatxFlags::INO | StatxFlags::MNT_ID;
    let root = statx(CWD, path, flags | AtFlags::STATX_DONT_SYNC, mask).ok()?;
    Some((root.stx_dev_major, root.stx_dev_minor, root.stx_ino, root.stx_mnt_id))
}

fn birthplace() -> Option<(u32, u32, u64, u64)> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match open(c".", flags, Mode::empty()) {
        Err(Errno::ACCESS) => place(c"", AtFlags::EMPTY_PATH),
        _ => None,
    }
}

/// Returns whether this kernel supports Landlock.
pub fn has_landlock() -> bool {
    const VERSION: libc::c_int = 1;
    let none = std::ptr::null::<libc::c_void>();
    // SAFETY: asks for the version, and creates nothing.
    unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0, VERSION) > 0 }
}
