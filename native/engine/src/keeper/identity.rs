//! Who this host is to the kernel. A keeper, and whatever it starts, is who the host was when it
//! started the keeper; a host that has become somebody else gets another one.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::ptr::null_mut;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, open, readlinkat, statx};
use rustix::io::Errno;

/// Rights, root and namespaces of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    users: [u32; 3],
    groups: [u32; 3],
    supplementary: Vec<u32>,
    capabilities: [u32; 6],
    /// The secure bits, no_new_privs, seccomp's mode.
    switches: [i32; 3],
    /// Where its root is: device, inode, mount.
    root: Option<(u32, u32, u64, u64)>,
    /// Where it is, when it may not look for anything there: then only its own children, and theirs,
    /// can be there too.
    birthplace: Option<(u32, u32, u64, u64)>,
    /// Their names, which end in their inodes.
    namespaces: [Vec<u8>; NAMESPACES.len()],
}

/// Those that a thread of many can change for itself or its children. (Its mounts show in its root.)
const NAMESPACES: [&str; 6] =
    ["cgroup", "ipc", "net", "pid_for_children", "time_for_children", "uts"];

impl Identity {
    /// Of the calling thread, now: a dozen cheap calls.
    ///
    /// `stays`: a command is to start in the host's own directory.
    pub fn now(stays: bool) -> Identity {
        let (mut users, mut groups) = ([0; 3], [0; 3]);
        // SAFETY: each fills three numbers.
        unsafe {
            let [real, effective, saved] = &mut users;
            libc::getresuid(real, effective, saved);
            let [real, effective, saved] = &mut groups;
            libc::getresgid(real, effective, saved);
        }
        Identity {
            users,
            groups,
            supplementary: supplementary_groups(),
            capabilities: capabilities(),
            switches: switches(),
            root: place(c"/", AtFlags::empty()),
            birthplace: if stays { birthplace() } else { None },
            namespaces: namespaces(),
        }
    }
}

impl Identity {
    /// Whether whoever was this may do what is asked for by one who is `asked` now.
    pub fn serves(&self, asked: &Identity) -> bool {
        let birthplace = asked.birthplace.or(self.birthplace);
        *self == Identity { birthplace, ..asked.clone() }
    }

    /// Whether commands that are to start in the host's directory have to be born there.
    pub fn has_birthplace(&self) -> bool {
        self.birthplace.is_some()
    }
}

fn supplementary_groups() -> Vec<u32> {
    let mut groups = vec![0; 64];
    // SAFETY: fills as many as it is told there is room for.
    let mut count = unsafe { libc::getgroups(groups.len() as i32, groups.as_mut_ptr()) };
    if count < 0 {
        // SAFETY: only counts; then as above.
        unsafe {
            let wanted = libc::getgroups(0, null_mut());
            groups = vec![0; usize::try_from(wanted).unwrap_or(0)];
            count = libc::getgroups(wanted.max(0), groups.as_mut_ptr());
        }
    }
    groups.truncate(usize::try_from(count).unwrap_or(0));
    groups
}

/// Effective, permitted, inheritable, in two halves.
fn capabilities() -> [u32; 6] {
    const VERSION_3: u32 = 0x2008_0522;
    let mut header = [VERSION_3, 0];
    let mut sets = [0; 6];
    // SAFETY: the call's third version takes a header of two numbers and fills six.
    unsafe { libc::syscall(libc::SYS_capget, header.as_mut_ptr(), sets.as_mut_ptr()) };
    sets
}

/// What else a thread can give up, and its children would still have.
fn switches() -> [i32; 3] {
    let asked = [libc::PR_GET_SECUREBITS, libc::PR_GET_NO_NEW_PRIVS, libc::PR_GET_SECCOMP];
    // SAFETY: takes numbers only.
    asked.map(|option| unsafe { libc::prctl(option, 0, 0, 0, 0) })
}

/// Another mount namespace has other mounts too.
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

thread_local! {
    /// Of this thread; looked up once, since a path costs more than what is in it.
    static NAMESPACES_OF_THREAD: RefCell<Option<OwnedFd>> = RefCell::new(open_namespaces());
}

fn open_namespaces() -> Option<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open(c"/proc/thread-self/ns", flags, Mode::empty()).ok()
}

/// Read as links, which is cheaper than to look at what they lead to; empty where they can't be seen.
fn namespaces() -> [Vec<u8>; NAMESPACES.len()] {
    NAMESPACES_OF_THREAD.with_borrow(|directory| {
        NAMESPACES.map(|name| {
            let link = directory.as_ref().map(|directory| readlinkat(directory, name, Vec::new()));
            link.and_then(Result::ok).map_or(Vec::new(), CString::into_bytes)
        })
    })
}
