//! The safe wrapper over `native/launch`.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::{null, null_mut};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

use crate::errors::Step;
use crate::holder::Holder;

/// A program to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Where it is; not searched for.
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
    /// None: the host's.
    pub directory: Option<Place<'a>>,
    /// To become 0, 1 and 2.
    pub stdio: [BorrowedFd<'a>; 3],
    /// To become 3.
    pub script: Option<BorrowedFd<'a>>,
    /// Reserved descriptors, and what they hold between launches.
    pub slots: Option<&'a Slots>,
    /// Sent to the command when the launching thread ends.
    pub parent_death: Option<c_int>,
    /// Keeps its working directory beyond its end.
    pub holder: Option<&'a Holder>,
    /// Whether descriptor 0 is a terminal, to become the controlling one.
    pub terminal: bool,
}

/// A process that has been exec'ed.
#[derive(Debug)]
pub struct Launched {
    /// Its id, and that of its group and session.
    pub pid: i32,
    /// Readable once it has ended.
    pub pidfd: OwnedFd,
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
pub mod ffi {
    #![allow(missing_docs, reason = "the header has them")]
    use super::{c_char, c_int, c_void};

    #[repr(C)]
    pub struct Image {
        pub path: *const c_char,
        pub argv: *const *const c_char,
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
        pub slots: *const c_int,
        pub filler: c_int,
        pub stack: *mut c_void,
        pub stack_size: usize,
        pub holder: *mut Holder,
    }

    #[repr(C)]
    #[derive(Debug)]
    pub struct Holder {
        pub thread: c_int,
        pub state: c_int,
        pub stack: *mut c_void,
        pub stack_size: usize,
    }

    #[repr(C)]
    pub struct Launched {
        pub pid: i32,
        pub pidfd: c_int,
        pub step: c_int,
        pub error: c_int,
        pub image: usize,
    }

    unsafe extern "C" {
        pub fn forkline_launch(request: *const Request, launched: *mut Launched) -> c_int;
        pub fn forkline_release(holder: *mut Holder);
        pub fn forkline_launch_supported() -> c_int;
    }
}

/// Whether this kernel can launch at all; the error says what it lacks.
pub fn supported() -> io::Result<()> {
    // SAFETY: takes nothing, and closes what it opens.
    match unsafe { ffi::forkline_launch_supported() } {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
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

const SLOTS: usize = 4;

/// Descriptors reserved while the host has few, so that they are low: see `launch.h`.
#[derive(Debug)]
pub struct Slots {
    filler: OwnedFd,
    numbers: [c_int; SLOTS],
    _reserved: [OwnedFd; SLOTS],
}

impl Slots {
    /// Reserves them, filled with copies of `filler`.
    pub fn reserve(filler: &OwnedFd) -> io::Result<Self> {
        let copy = || filler.try_clone();
        let reserved = [copy()?, copy()?, copy()?, copy()?];
        let numbers =
            std::array::from_fn(|index| reserved.get(index).map_or(-1, AsRawFd::as_raw_fd));
        Ok(Slots { filler: copy()?, numbers, _reserved: reserved })
    }
}

/// Starts a program; blocks this thread, and no other, until its exec.
pub fn launch(request: &Request, stack: &mut Stack) -> Result<Launched, Failure> {
    let argvs: Vec<Vec<*const c_char>> = request.images.iter().map(argv_pointers).collect();
    let images: Vec<ffi::Image> = request
        .images
        .iter()
        .zip(&argvs)
        .map(|(image, argv)| ffi::Image { path: image.path.as_ptr(), argv: argv.as_ptr() })
        .collect();
    let envp = entry_pointers(request.environment);
    let (directory, directory_fd) = match request.directory {
        Some(Place::Path(path)) => (path.as_ptr(), -1),
        Some(Place::Open(descriptor)) => (null(), descriptor.as_raw_fd()),
        None => (null(), -1),
    };
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
        slots: request.slots.map_or(null(), |slots| slots.numbers.as_ptr()),
        filler: request.slots.map_or(-1, |slots| slots.filler.as_raw_fd()),
        stack: stack.base.wrapping_byte_add(PAGE),
        stack_size: STACK_SIZE,
        holder: request.holder.map_or(null_mut(), Holder::as_raw),
    };
    let mut launched = ffi::Launched { pid: -1, pidfd: -1, step: 0, error: 0, image: 0 };
    // SAFETY: every pointer is to a NUL- or NULL-terminated array that outlives the call, which
    // returns only when the child has left this memory; `&mut stack` makes its stack ours alone.
    let failed = unsafe { ffi::forkline_launch(&raw, &mut launched) } != 0;
    if failed {
        let error = io::Error::from_raw_os_error(launched.error);
        return Err(Failure { step: step(launched.step), error });
    }
    // SAFETY: a descriptor just made for us, which nobody else knows.
    let pidfd = unsafe { OwnedFd::from_raw_fd(launched.pidfd) };
    Ok(Launched { pid: launched.pid, pidfd })
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

fn step(number: c_int) -> Step {
    match number {
        1 => Step::Clone,
        2 => Step::Session,
        3 => Step::ParentDeath,
        4 => Step::Directory,
        5 => Step::Stdio,
        6 => Step::Close,
        7 => Step::Terminal,
        _ => Step::Exec,
    }
}
