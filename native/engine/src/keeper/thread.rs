//! State of the calling thread that its children inherit and that only `/proc` shows. Reading `/proc` costs
//! more than a system call, so state that the thread can no longer change is read once. (The permitted
//! capabilities of a thread only ever shrink: a user namespace, which would add some, can be created only by
//! processes with one thread.)

use std::cell::RefCell;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use forkline_launch::bounding_set;
use rustix::fs::{Mode, OFlags, open, readlinkat_raw};

use crate::keeper::status::{EXPECTED_LINES, EXPECTED_STATUS, number_in, read};

/// The rights that a thread needs to change this state.
#[derive(Debug, Clone, Copy)]
pub struct Means {
    /// The permitted capabilities, effective or not.
    pub permitted: u64,
    /// The inheritable capabilities.
    pub inheritable: u64,
    /// Whether no_new_privs is set, which lets it install seccomp filters.
    pub no_new_privileges: bool,
    /// Whether it has seccomp filters.
    pub is_filtered: bool,
}

/// The state that `/proc` shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// Inodes of its namespaces; 0: not shown.
    namespaces: [u64; NAMESPACES.len()],
    rights: StatusRights,
    /// The cgroups.
    cgroups: Vec<u8>,
    /// The label from a security module.
    label: Vec<u8>,
    /// Whether state that may have changed can't be read.
    pub hides_something: bool,
}

/// The part of the state from its status file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct StatusRights {
    /// The bounding set, if the status file is not shown; otherwise it is sent with the request.
    bounding: Option<u64>,
    /// The ambient capabilities.
    ambient: u64,
    /// The number of its seccomp filters; None: not shown.
    filters: Option<u64>,
    /// The number of the thread, if it may have installed filters itself: those of another thread may differ.
    filtered_by: Option<u64>,
}

/// The namespaces that a thread of many can change for itself or its children. (Its mount namespace shows in
/// its root.)
const NAMESPACES: [&str; 6] =
    ["cgroup", "ipc", "net", "pid_for_children", "time_for_children", "uts"];

const SETPCAP: u64 = 1 << 8;
const SYS_ADMIN: u64 = 1 << 21;

impl Means {
    fn can(&self, capability: u64) -> bool {
        self.permitted & capability != 0
    }

    /// Returns whether it can install seccomp filters or restrict itself with Landlock.
    pub fn can_confine_itself(&self) -> bool {
        self.no_new_privileges || self.can(SYS_ADMIN)
    }
}

thread_local! {
    static THIS: RefCell<Thread> = RefCell::new(Thread::new());
}

struct Thread {
    /// The thread id.
    id: i32,
    /// A number that is unique in this process; thread ids are reused.
    number: u64,
    is_confined: bool,
    /// The files are kept open, since looking up a path costs more than reading.
    namespaces: Option<OwnedFd>,
    status: Option<File>,
    cgroups: Option<File>,
    label: Option<File>,
    last: Option<(Means, Shown)>,
}

/// Reads the state of the calling thread.
pub fn shown(means: Means) -> Shown {
    THIS.with_borrow_mut(|thread| thread.look(means))
}

/// Closes the files of the calling thread, which will seldom ask again.
pub fn close() {
    THIS.with_borrow_mut(|thread| {
        let Thread { namespaces, status, cgroups, label, last, .. } = thread;
        (*namespaces, *status, *cgroups, *label, *last) = (None, None, None, None, None);
    });
}

/// Returns the id of the calling thread.
pub fn id() -> i32 {
    THIS.with_borrow(|thread| thread.id)
}

/// Returns the number of the calling thread, if it was found to be confined in a way that can't be compared.
pub fn confined() -> Option<u64> {
    THIS.with_borrow(|thread| thread.is_confined.then_some(thread.number))
}

/// Marks the calling thread as confined, for ever. Returns its number.
pub fn confine() -> Option<u64> {
    THIS.with_borrow_mut(|thread| thread.is_confined = true);
    confined()
}

impl Thread {
    fn new() -> Thread {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Thread {
            // SAFETY: takes nothing.
            id: unsafe { libc::gettid() },
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
            // Reading fails where no security module sets labels.
            self.label =
                open_own("attr/current").filter(|label| !read(label, EXPECTED_LINES).is_empty());
        }
        let mut shown = last.map(|(_, shown)| shown).unwrap_or_default();
        if before.is_none_or(|before| before.can(SYS_ADMIN)) {
            shown.namespaces = self.namespaces();
        }
        if before.is_none_or(|before| shown.rights.may_have_changed(before, means)) {
            shown.rights = self.rights(means);
        }
        let read = |file: &Option<File>| {
            file.as_ref().map_or(Vec::new(), |file| read(file, EXPECTED_LINES))
        };
        shown.cgroups = read(&self.cgroups);
        shown.label = read(&self.label);
        shown.hides_something = means.can(SYS_ADMIN) && shown.namespaces.contains(&0)
            || means.can_confine_itself() && means.is_filtered && shown.rights.filters.is_none();
        self.last = Some((means, shown.clone()));
        shown
    }

    /// Reads the inodes of the namespaces from the text of the links, which is cheaper than stat.
    fn namespaces(&mut self) -> [u64; NAMESPACES.len()] {
        if self.namespaces.is_none() {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            self.namespaces = open(c"/proc/thread-self/ns", flags, Mode::empty()).ok();
        }
        let Some(directory) = &self.namespaces else { return Default::default() };
        NAMESPACES.map(|name| {
            let mut link = [0; 64];
            let length = readlinkat_raw(directory, name, &mut link).unwrap_or(0);
            inode_in(link.get(..length).unwrap_or_default())
        })
    }

    fn rights(&mut self, means: Means) -> StatusRights {
        if self.status.is_none() {
            self.status = open_own("status");
        }
        let status =
            self.status.as_ref().map_or(Vec::new(), |status| read(status, EXPECTED_STATUS));
        let filters = number_in(&status, "Seccomp_filters:", 10);
        let may_be_own = match filters {
            Some(count) => means.is_filtered && count > filters_of_all_threads(),
            None => means.is_filtered && means.can_confine_itself(),
        };
        StatusRights {
            bounding: status.is_empty().then(bounding_set),
            ambient: number_in(&status, "CapAmb:", 16).unwrap_or_else(|| ambient(means)),
            filters,
            filtered_by: may_be_own.then_some(self.number),
        }
    }
}

impl StatusRights {
    /// Returns whether the state may differ from the last one: the bounding set changes only with
    /// CAP_SETPCAP, ambient capabilities are a subset of the inheritable ones, and filters need the right to
    /// install them.
    fn may_have_changed(&self, before: Means, now: Means) -> bool {
        let filters = now.is_filtered
            && (!before.is_filtered || before.can_confine_itself() || now.can_confine_itself());
        let bounding = self.bounding.is_some() && before.can(SETPCAP);
        bounding || before.inheritable | now.inheritable != 0 || filters
    }
}

/// Returns the number in the text of a link, such as `net:[4026531833]`; 0: there is none.
fn inode_in(link: &[u8]) -> u64 {
    let digits = link.iter().filter(|byte| byte.is_ascii_digit());
    digits.fold(0, |inode, digit| inode * 10 + u64::from(digit - b'0'))
}

fn open_own(name: &str) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = open(format!("/proc/thread-self/{name}"), flags, Mode::empty()).ok()?;
    Some(file.into())
}

/// Returns the number of filters that all threads of this process have, from before its exec or by a call
/// that sets them for all: the fewest that any thread has. Two threads with that number have the same ones.
fn filters_of_all_threads() -> u64 {
    static FEWEST: OnceLock<u64> = OnceLock::new();
    *FEWEST.get_or_init(|| {
        let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let statuses =
            threads.filter_map(|thread| std::fs::read(thread.path().join("status")).ok());
        let counts = statuses.filter_map(|status| number_in(&status, "Seccomp_filters:", 10));
        counts.min().unwrap_or(0)
    })
}

fn ambient(means: Means) -> u64 {
    if means.inheritable == 0 {
        return 0;
    }
    // SAFETY: takes numbers only.
    let is_in = |number: u64| unsafe {
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_IS_SET, number, 0, 0) == 1
    };
    (0..64).filter(|number| is_in(*number)).fold(0, |set, number| set | 1 << number)
}
