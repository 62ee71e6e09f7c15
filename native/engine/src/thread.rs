//! What the calling thread has, and hands on to whatever it starts, that no call of its own tells:
//! `/proc` does. That costs more than a call, so what a thread has lost the right to change is read
//! once. (What a thread is permitted only ever shrinks: a user namespace, which would give it more,
//! is open to processes of one thread alone.)

use std::cell::RefCell;
use std::ffi::CString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{CWD, Mode, OFlags, open, openat, readlinkat};

/// What it needs to change any of this.
#[derive(Debug, Clone, Copy)]
pub struct Means {
    /// Its permitted capabilities, whether in force or not.
    pub permitted: u64,
    /// Its inheritable ones.
    pub inheritable: u64,
    /// Whether it has given up to gain privileges, which lets it filter its calls.
    pub no_new_privileges: bool,
    /// Whether its calls are filtered.
    pub is_filtered: bool,
}

/// What `/proc` shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Their names, which end in their inodes.
    namespaces: [Vec<u8>; NAMESPACES.len()],
    rights: Rights,
    /// The cgroups that it is in.
    cgroups: Vec<u8>,
    /// What a security module calls it.
    label: Vec<u8>,
    /// Whether something can't be seen that may have changed.
    pub hides_something: bool,
}

/// What is in its status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Rights {
    /// Capabilities that a program can give it at most.
    bounding: u64,
    /// Capabilities that each program has.
    ambient: u64,
    /// How many filters its calls pass; None: not shown.
    filters: Option<u64>,
    /// Which thread it is, if it may have put them there itself: another one's can be others.
    filtered_by: Option<u64>,
}

/// Those that a thread of many can change for itself or its children. (Its mounts show in its root.)
const NAMESPACES: [&str; 6] =
    ["cgroup", "ipc", "net", "pid_for_children", "time_for_children", "uts"];

const SETPCAP: u64 = 1 << 8;
const SYS_ADMIN: u64 = 1 << 21;

impl Means {
    fn can(&self, capability: u64) -> bool {
        self.permitted & capability != 0
    }

    /// Whether it can filter its calls, or confine itself by Landlock.
    pub fn can_confine_itself(&self) -> bool {
        self.no_new_privileges || self.can(SYS_ADMIN)
    }
}

thread_local! {
    static THIS: RefCell<Thread> = RefCell::new(Thread::new());
}

struct Thread {
    /// Unique in this process, other than a thread's id.
    number: u64,
    is_confined: bool,
    /// Kept open, since a path costs more than what is in it.
    namespaces: Option<OwnedFd>,
    status: Option<File>,
    cgroups: Option<File>,
    label: Option<File>,
    last: Option<(Means, Shown)>,
}

/// What the calling thread shows, now.
pub fn shown(means: Means) -> Shown {
    THIS.with_borrow_mut(|thread| thread.look(means))
}

/// Closes what has been kept open for the calling thread, which will not often ask again.
pub fn close() {
    THIS.with_borrow_mut(|thread| {
        let Thread { namespaces, status, cgroups, label, last, .. } = thread;
        (*namespaces, *status, *cgroups, *label, *last) = (None, None, None, None, None);
    });
}

/// The calling thread's number, if it was found to be confined in a way that can't be compared.
pub fn confined() -> Option<u64> {
    THIS.with_borrow(|thread| thread.is_confined.then_some(thread.number))
}

/// The calling thread is; there is no way back.
pub fn confine() -> Option<u64> {
    THIS.with_borrow_mut(|thread| thread.is_confined = true);
    confined()
}

impl Thread {
    fn new() -> Thread {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Thread {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            is_confined: false,
            namespaces: None,
            status: None,
            cgroups: None,
            label: None,
            last: None,
        }
    }

    fn look(&mut self, means: Means) -> Shown {
        let last = self.last.take();
        let before = last.as_ref().map(|(means, _)| *means);
        if last.is_none() {
            self.cgroups = open_own("cgroup");
            // An error without a module that names anybody.
            self.label = open_own("attr/current").filter(|label| !read(label, 256).is_empty());
        }
        let mut shown = last.map(|(_, shown)| shown).unwrap_or_default();
        if before.is_none_or(|before| before.can(SYS_ADMIN)) {
            shown.namespaces = self.namespaces();
        }
        if before.is_none_or(|before| may_have_changed(before, means)) {
            shown.rights = self.rights(means);
        }
        let read = |file: &Option<File>| file.as_ref().map_or(Vec::new(), |file| read(file, 4096));
        shown.cgroups = read(&self.cgroups);
        shown.label = read(&self.label);
        shown.hides_something = means.can(SYS_ADMIN) && shown.namespaces.iter().any(Vec::is_empty)
            || means.can_confine_itself() && means.is_filtered && shown.rights.filters.is_none();
        self.last = Some((means, shown.clone()));
        shown
    }

    /// Read as links, which is cheaper than to look at what they lead to; empty where they can't be
    /// seen.
    fn namespaces(&mut self) -> [Vec<u8>; NAMESPACES.len()] {
        if self.namespaces.is_none() {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            self.namespaces = open(c"/proc/thread-self/ns", flags, Mode::empty()).ok();
        }
        let directory = self.namespaces.as_ref();
        NAMESPACES.map(|name| {
            let link = directory.map(|directory| readlinkat(directory, name, Vec::new()));
            link.and_then(Result::ok).map_or(Vec::new(), CString::into_bytes)
        })
    }

    fn rights(&mut self, means: Means) -> Rights {
        if self.status.is_none() {
            self.status = open_own("status");
        }
        let status = self.status.as_ref().map_or(Vec::new(), |status| read(status, 4096));
        let set = |name| number_in(&status, name, 16);
        let filters = number_in(&status, "Seccomp_filters:", 10);
        let may_be_own = match filters {
            Some(count) => means.is_filtered && count > of_all_threads(),
            None => means.is_filtered && means.can_confine_itself(),
        };
        Rights {
            bounding: set("CapBnd:").unwrap_or_else(bounding),
            ambient: set("CapAmb:").unwrap_or_else(|| ambient(means)),
            filters,
            filtered_by: may_be_own.then_some(self.number),
        }
    }
}

impl Default for Shown {
    fn default() -> Self {
        Shown {
            namespaces: NAMESPACES.map(|_| Vec::new()),
            rights: Rights::default(),
            cgroups: Vec::new(),
            label: Vec::new(),
            hides_something: false,
        }
    }
}

/// Whether its rights may have: capabilities leave the bounding set with one of them alone, no
/// ambient one is there that is not inheritable, and filters are put by who may.
fn may_have_changed(before: Means, now: Means) -> bool {
    let filters = now.is_filtered
        && (!before.is_filtered || before.can_confine_itself() || now.can_confine_itself());
    before.can(SETPCAP) || before.inheritable | now.inheritable != 0 || filters
}

fn open_own(name: &str) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = openat(CWD, format!("/proc/thread-self/{name}"), flags, Mode::empty()).ok()?;
    Some(file.into())
}

/// All of it, at one go if it is no longer than expected.
fn read(file: &File, expected: usize) -> Vec<u8> {
    let mut bytes = vec![0; expected];
    let mut length = 0;
    while let Some(room) = bytes.get_mut(length..) {
        match file.read_at(room, length as u64) {
            Ok(read) if read == room.len() => {
                length += read;
                bytes.resize(length * 2, 0);
            }
            Ok(read) => {
                length += read;
                break;
            }
            Err(_) => break,
        }
    }
    bytes.truncate(length);
    bytes
}

fn number_in(status: &[u8], name: &str, radix: u32) -> Option<u64> {
    let mut lines = status.split(|byte| *byte == b'\n');
    let value = lines.find_map(|line| line.strip_prefix(name.as_bytes()))?;
    u64::from_str_radix(std::str::from_utf8(value).ok()?.trim(), radix).ok()
}

/// How many filters all threads of this process have passed since it was executed, or some call made
/// them: no more than the first ones have. Whoever has as many has the same.
fn of_all_threads() -> u64 {
    static FEWEST: OnceLock<u64> = OnceLock::new();
    *FEWEST.get_or_init(|| {
        let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let statuses =
            threads.filter_map(|thread| std::fs::read(thread.path().join("status")).ok());
        let counts = statuses.filter_map(|status| number_in(&status, "Seccomp_filters:", 10));
        counts.min().unwrap_or(0)
    })
}

/// As many capabilities as there may ever be.
const CAPABILITIES: u64 = 64;

/// Asked for one by one, where `/proc` shows nothing.
fn bounding() -> u64 {
    // SAFETY: takes numbers only.
    asked(|number| unsafe { libc::prctl(libc::PR_CAPBSET_READ, number, 0, 0, 0) })
}

fn ambient(means: Means) -> u64 {
    if means.inheritable == 0 {
        return 0;
    }
    // SAFETY: takes numbers only.
    asked(|number| unsafe {
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_IS_SET, number, 0, 0)
    })
}

fn asked(is_set: impl Fn(u64) -> i32) -> u64 {
    let answers = (0..CAPABILITIES).map(|number| (number, is_set(number)));
    let known = answers.take_while(|(_, answer)| *answer >= 0);
    known.filter(|(_, answer)| *answer == 1).fold(0, |set, (number, _)| set | 1 << number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_and_counts_are_read_from_a_status_with_either_base() {
        let status = b"Name:\tx\nCapBnd:\t000001ffffffffff\nSeccomp_filters:\t12\n";
        assert_eq!(number_in(status, "CapBnd:", 16), Some(0x1ff_ffff_ffff));
        assert_eq!(number_in(status, "Seccomp_filters:", 10), Some(12));
        assert_eq!(number_in(status, "CapAmb:", 16), None);
    }

    #[test]
    fn the_bounding_set_is_the_same_however_it_is_found() {
        let status = read(&open_own("status").unwrap(), 16);
        assert_eq!(number_in(&status, "CapBnd:", 16), Some(bounding()));
    }
}
