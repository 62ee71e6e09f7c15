//! The safe face of the C++ between clone and exec.

mod step;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::{null, null_mut};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

pub use step::Step;

/// A program to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Where it is; not searched for. Empty: it is the file that becomes descriptor 2.
    pub path: CString,
    /// Its arguments, its name first.
    pub argv: Vec<CString>,
}

/// Where a launch is to take place.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// At this path.
    Path(&'a CStr),
    /// In this open directory.
    Open(BorrowedFd<'a>),
}

/// One launch, resolved to what the kernel takes.
#[derive(Debug)]
pub struct Request<'a> {
    /// Tried in order; the next one only when this one does not exist.
    pub images: &'a [Image],
    /// Entries each ended by NUL.
    pub environment: &'a [u8],
    /// None: the caller's.
    pub directory: Option<Place<'a>>,
    /// To become 0, 1 and 2.
    pub stdio: [BorrowedFd<'a>; 3],
    /// To become 3.
    pub script: Option<BorrowedFd<'a>>,
    /// Sent to the program when the calling thread ends.
    pub parent_death: Option<c_int>,
    /// Whether descriptor 0 is a terminal, to become the controlling one.
    pub terminal: bool,
    /// Whether the program and its caller are in one directory: each goes where the other does.
    pub share_directory: bool,
    /// What it has that is not its caller's.
    pub attributes: Option<&'a Attributes>,
}

/// What a program is given in place of its caller's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Limits of its resources.
    pub limits: Vec<Limit>,
    /// Permissions that new files do not get.
    pub mask: Option<u32>,
    /// Its nice value.
    pub nice: Option<i32>,
    /// The processors it may run on, as a mask; empty: the caller's.
    pub affinity: Vec<u8>,
    /// The capabilities that a program can give it at most, by number, as bits. Those of its caller that
    /// are not among them are taken from it, and it does not run if they can't be.
    pub bounding: Option<u64>,
}

/// A limit, as setrlimit(2) takes it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Of which resource.
    pub resource: c_int,
    /// In force.
    pub soft: u64,
    /// What it may be raised to.
    pub hard: u64,
}

/// A step that failed.
#[derive(Debug)]
pub struct Failure {
    /// Which.
    pub step: Step,
    /// Why.
    pub error: io::Error,
}

/// `launch.h`, field by field.
mod ffi {
    use super::{Limit, c_char, c_int, c_void};

    #[repr(C)]
    pub struct Image {
        pub path: *const c_char,
        pub argv: *const *const c_char,
    }

    #[repr(C)]
    pub struct Attributes {
        pub limits: *const Limit,
        pub limit_count: usize,
        pub mask: c_int,
        pub has_nice: c_int,
        pub nice: c_int,
        pub affinity: *const c_void,
        pub affinity_size: usize,
        pub has_bounding: c_int,
        pub bounding: u64,
    }

    #[repr(C)]
    pub struct Request {
        pub images: *const Image,
        pub image_count: usize,
        pub envp: *const *const c_char,
        pub directory: *const c_char,
        pub directory_fd: c_int,
        pub stdio: [c_int; 3],
        pub script: c_int,
        pub parent_death: c_int,
        pub terminal: c_int,
        pub share_directory: c_int,
        pub watch: c_int,
        pub attributes: *const Attributes,
        pub stack: *mut c_void,
        pub stack_size: usize,
    }

    #[repr(C)]
    pub struct Launched {
        pub pid: i32,
        pub pidfd: c_int,
        pub step: c_int,
        pub error: c_int,
    }

    unsafe extern "C" {
        pub fn forkline_launch(request: *const Request, launched: *mut Launched) -> c_int;
    }
}

/// The memory a child stands on between clone and exec; one for each launching thread.
#[derive(Debug)]
pub struct Stack {
    base: *mut c_void,
}

// SAFETY: it owns its mapping, which belongs to no thread in particular.
unsafe impl Send for Stack {}

const PAGE: usize = 4096;
const STACK_SIZE: usize = 64 * 1024;

impl Stack {
    /// Maps a stack with a guard page below it, so that an overflow faults instead of corrupting.
    pub fn new() -> io::Result<Self> {
        // SAFETY: a fresh anonymous mapping, overlapping nothing.
        let base = unsafe {
            mmap_anonymous(
                null_mut(),
                PAGE + STACK_SIZE,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }?;
        let stack = Stack { base };
        // SAFETY: the first page of the mapping just made, which nobody uses yet.
        unsafe { mprotect(base, PAGE, MprotectFlags::empty()) }?;
        Ok(stack)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`; launches borrow the stack, so none is under way.
        let _ = unsafe { munmap(self.base, PAGE + STACK_SIZE) };
    }
}

/// Starts a program; blocks this thread, and no other, until its exec. Returns its process id,
/// which is also that of its group and session.
pub fn launch(request: &Request, stack: &mut Stack) -> Result<i32, Failure> {
    start(request, stack, false).map(|launched| launched.pid)
}

/// The same with a descriptor that is readable once the program has ended.
pub fn launch_watched(request: &Request, stack: &mut Stack) -> Result<(i32, OwnedFd), Failure> {
    let launched = start(request, stack, true)?;
    // SAFETY: a descriptor just made for us, which nobody else knows.
    let pidfd = unsafe { OwnedFd::from_raw_fd(launched.pidfd) };
    Ok((launched.pid, pidfd))
}

fn start(request: &Request, stack: &mut Stack, watch: bool) -> Result<ffi::Launched, Failure> {
    let argvs: Vec<Vec<*const c_char>> = request.images.iter().map(argv_pointers).collect();
    let images: Vec<ffi::Image> = request.images.iter().zip(&argvs).map(raw_image).collect();
    let envp = entry_pointers(request.environment);
    let (directory, directory_fd) = match request.directory {
        Some(Place::Path(path)) => (path.as_ptr(), -1),
        Some(Place::Open(descriptor)) => (null(), descriptor.as_raw_fd()),
        None => (null(), -1),
    };
    let attributes = request.attributes.map(raw_attributes);
    let raw = ffi::Request {
        images: images.as_ptr(),
        image_count: images.len(),
        envp: envp.as_ptr(),
        directory,
        directory_fd,
        stdio: request.stdio.map(|descriptor| descriptor.as_raw_fd()),
        script: request.script.map_or(-1, |descriptor| descriptor.as_raw_fd()),
        parent_death: request.parent_death.unwrap_or(0),
        terminal: request.terminal.into(),
        share_directory: request.share_directory.into(),
        watch: watch.into(),
        attributes: attributes.as_ref().map_or(null(), |attributes| &raw const *attributes),
        stack: stack.base.wrapping_byte_add(PAGE),
        stack_size: STACK_SIZE,
    };
    let mut launched = ffi::Launched { pid: -1, pidfd: -1, step: 0, error: 0 };
    // SAFETY: every pointer is to a NUL- or NULL-terminated array that outlives the call, which
    // returns only when the child has left this memory; `&mut stack` makes its stack ours alone.
    let failed = unsafe { ffi::forkline_launch(&raw, &mut launched) } != 0;
    if failed {
        let error = io::Error::from_raw_os_error(launched.error);
        return Err(Failure { step: Step::of_launch(launched.step), error });
    }
    Ok(launched)
}

fn raw_image((image, argv): (&Image, &Vec<*const c_char>)) -> ffi::Image {
    let path = if image.path.is_empty() { null() } else { image.path.as_ptr() };
    ffi::Image { path, argv: argv.as_ptr() }
}

/// The result points into `attributes`.
fn raw_attributes(attributes: &Attributes) -> ffi::Attributes {
    let affinity = &attributes.affinity;
    ffi::Attributes {
        limits: attributes.limits.as_ptr(),
        limit_count: attributes.limits.len(),
        mask: attributes.mask.map_or(-1, |mask| mask as c_int),
        has_nice: attributes.nice.is_some().into(),
        nice: attributes.nice.unwrap_or(0),
        affinity: if affinity.is_empty() { null() } else { affinity.as_ptr().cast() },
        affinity_size: affinity.len(),
        has_bounding: attributes.bounding.is_some().into(),
        bounding: attributes.bounding.unwrap_or(0),
    }
}

/// The capabilities that a program can give the calling thread at most, asked for one by one: some
/// microseconds.
pub fn bounding_set() -> u64 {
    // SAFETY: takes numbers only.
    let is_in = |number: u64| unsafe { libc::prctl(libc::PR_CAPBSET_READ, number, 0, 0, 0) };
    let answers = (0..64).map(|number| (number, is_in(number)));
    let known = answers.take_while(|(_, answer)| *answer >= 0);
    known.filter(|(_, answer)| *answer == 1).fold(0, |set, (number, _)| set | 1 << number)
}

fn argv_pointers(image: &Image) -> Vec<*const c_char> {
    image.argv.iter().map(|argument| argument.as_ptr()).chain([null()]).collect()
}

/// A pointer to each NUL-ended entry, and NULL.
fn entry_pointers(entries: &[u8]) -> Vec<*const c_char> {
    entries
        .split_inclusive(|byte| *byte == 0)
        .filter(|entry| entry.len() > 1 && entry.ends_with(&[0]))
        .map(|entry| entry.as_ptr().cast())
        .chain([null()])
        .collect()
}
