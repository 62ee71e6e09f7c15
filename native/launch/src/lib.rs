//! The safe interface to the C++ code between clone and exec.

mod attributes;
mod ffi;
mod stack;
mod step;

use std::ffi::{CStr, CString, c_char, c_int};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::null;

pub use attributes::{Attributes, Limit, Signals, bounding_set, limits, processors};
pub use stack::Stack;
pub use step::Step;

/// A program that a launch tries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The program's path, which is not searched for. Empty: the file that becomes descriptor 2.
    pub path: CString,
    /// The arguments, beginning with the program's name.
    pub argv: Vec<CString>,
}

/// A working directory.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// The directory at this path.
    Path(&'a CStr),
    /// This open directory.
    Open(BorrowedFd<'a>),
}

/// A launch, with all that the kernel takes.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The programs, tried in order: the next one only when this one does not exist.
    pub images: &'a [Image],
    /// The environment: entries each ended by NUL.
    pub environment: &'a [u8],
    /// The working directory. None: the caller's.
    pub directory: Option<Place<'a>>,
    /// The descriptors that become 0, 1 and 2.
    pub stdio: [BorrowedFd<'a>; 3],
    /// The descriptor that becomes 3.
    pub script: Option<BorrowedFd<'a>>,
    /// `cgroup.procs` of the control groups that the program enters.
    pub groups: [Option<BorrowedFd<'a>>; 2],
    /// The signal sent to the program when the calling thread ends.
    pub parent_death: Option<c_int>,
    /// Whether descriptor 0 is a terminal that becomes the controlling one.
    pub terminal: bool,
    /// Whether program and caller share their working directory: when one changes it, the other follows.
    pub share_directory: bool,
    /// The attributes in which the program differs from its caller.
    pub attributes: Option<&'a Attributes>,
    /// The `/proc` of another PID namespace, in which the program's process id is looked up.
    pub outer_proc: Option<BorrowedFd<'a>>,
    /// The signals whose disposition in the calling process may not be the default.
    pub reset: Signals,
}

impl<'a> Launch<'a> {
    /// Returns a launch with these descriptors 0, 1 and 2, an empty environment, the caller's directory,
    /// and all signals reset.
    pub fn plain(images: &'a [Image], stdio: [BorrowedFd<'a>; 3]) -> Self {
        Launch {
            images,
            environment: &[],
            directory: None,
            stdio,
            script: None,
            groups: [None, None],
            parent_death: None,
            terminal: false,
            share_directory: false,
            attributes: None,
            outer_proc: None,
            reset: Signals::ALL,
        }
    }
}

/// A failed step of a launch.
#[derive(Debug)]
pub struct Failure {
    /// The step.
    pub step: Step,
    /// The system's error.
    pub error: io::Error,
}

/// Starts a program. Blocks this thread, and no other, until the exec. Returns the process id, which is
/// also the id of its process group and session.
pub fn launch(request: &Launch, stack: &mut Stack) -> Result<i32, Failure> {
    launch_and_tell(request, stack).map(|launched| launched.pid)
}

/// A program that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launched {
    /// The process id.
    pub pid: i32,
    /// The process id in [`Launch::outer_proc`].
    pub outer_pid: i32,
    /// The errno of setting the session's nice value; 0: it was set, or was not to be.
    pub share: i32,
    /// The errno of setting `oom_score_adj`; 0: it was set, or was not to be.
    pub oom_score: i32,
}

/// Starts a program as [`launch`] does. Returns more about it than the process id.
pub fn launch_and_tell(request: &Launch, stack: &mut Stack) -> Result<Launched, Failure> {
    let ffi::RawLaunched { pid, outer_pid, share, oom_score, .. } = start(request, stack)?;
    Ok(Launched { pid, outer_pid: if outer_pid > 0 { outer_pid } else { pid }, share, oom_score })
}

fn start(request: &Launch, stack: &mut Stack) -> Result<ffi::RawLaunched, Failure> {
    let argvs: Vec<Vec<*const c_char>> = request.images.iter().map(argv_pointers).collect();
    let images: Vec<ffi::RawImage> = request.images.iter().zip(&argvs).map(raw_image).collect();
    let envp = entry_pointers(request.environment);
    let (directory, directory_fd) = match request.directory {
        Some(Place::Path(path)) => (path.as_ptr(), -1),
        Some(Place::Open(descriptor)) => (null(), descriptor.as_raw_fd()),
        None => (null(), -1),
    };
    let attributes = request.attributes.map(raw_attributes);
    let raw = ffi::RawRequest {
        images: images.as_ptr(),
        image_count: images.len(),
        envp: envp.as_ptr(),
        directory,
        directory_fd,
        stdio: request.stdio.map(|descriptor| descriptor.as_raw_fd()),
        script: request.script.map_or(-1, |descriptor| descriptor.as_raw_fd()),
        groups: request.groups.map(|group| group.map_or(-1, |group| group.as_raw_fd())),
        parent_death: request.parent_death.unwrap_or(0),
        terminal: request.terminal.into(),
        share_directory: request.share_directory.into(),
        want_pidfd: 0,
        outer_proc: request.outer_proc.map_or(-1, |proc| proc.as_raw_fd()),
        reset: request.reset.bits(),
        attributes: attributes.as_ref().map_or(null(), |attributes| &raw const *attributes),
        stack: stack.lowest(),
        stack_size: Stack::SIZE,
    };
    let mut launched = ffi::RawLaunched { pid: -1, pidfd: -1, ..Default::default() };
    // SAFETY: every pointer is to a NUL- or NULL-terminated array that outlives the call, which returns
    // only when the child has left this memory; `&mut stack` makes the stack ours alone.
    let failed = unsafe { ffi::forkline_launch(&raw, &mut launched) } != 0;
    if failed {
        let error = io::Error::from_raw_os_error(launched.error);
        return Err(Failure { step: Step::of_launch(launched.step), error });
    }
    Ok(launched)
}

fn raw_image((image, argv): (&Image, &Vec<*const c_char>)) -> ffi::RawImage {
    let path = if image.path.is_empty() { null() } else { image.path.as_ptr() };
    ffi::RawImage { path, argv: argv.as_ptr() }
}

/// Converts attributes; the result points into `attributes`.
fn raw_attributes(attributes: &Attributes) -> ffi::RawAttributes {
    let affinity = &attributes.affinity;
    ffi::RawAttributes {
        limits: attributes.limits.as_ptr(),
        limit_count: attributes.limits.len(),
        mask: attributes.mask.map_or(-1, |mask| mask as c_int),
        has_nice: attributes.nice.is_some().into(),
        nice: attributes.nice.unwrap_or(0),
        has_session_nice: attributes.session_nice.is_some().into(),
        session_nice: attributes.session_nice.unwrap_or(0),
        affinity: if affinity.is_empty() { null() } else { affinity.as_ptr().cast() },
        affinity_size: affinity.len(),
        has_oom_score: attributes.oom_score.is_some().into(),
        oom_score: attributes.oom_score.unwrap_or(0),
        has_bounding: attributes.bounding.is_some().into(),
        bounding: attributes.bounding.unwrap_or(0),
    }
}

fn argv_pointers(image: &Image) -> Vec<*const c_char> {
    image.argv.iter().map(|argument| argument.as_ptr()).chain([null()]).collect()
}

/// Returns a pointer to each entry, which ends with NUL, and then NULL.
fn entry_pointers(entries: &[u8]) -> Vec<*const c_char> {
    let mut start = 0;
    let found = memchr::memchr_iter(0, entries).filter_map(|end| {
        let entry = entries.get(start..end).filter(|entry| !entry.is_empty());
        start = end + 1;
        entry.map(|entry| entry.as_ptr().cast())
    });
    found.chain([null()]).collect()
}
