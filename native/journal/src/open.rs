//! Opens nodes, and reads what `stat` does not tell.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;

/// Names with their values.
pub(crate) type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// Opens what has the name, to look at: not what a link leads to.
pub(crate) fn open_node(directory: BorrowedFd, name: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(directory, name, flags, Mode::empty())
}

/// Opens a node again by its descriptor, to read it.
pub(crate) fn open_again(
    proc: BorrowedFd,
    file: BorrowedFd,
    how: OFlags,
) -> Result<OwnedFd, Errno> {
    let flags = how | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    openat(proc, format!("self/fd/{}", file.as_raw_fd()), flags, Mode::empty())
}

/// Returns where a link leads.
pub(crate) fn target_of(link: BorrowedFd) -> Result<Vec<u8>, Errno> {
    Ok(readlinkat(link, c"", Vec::new())?.into_bytes())
}

/// Returns the extended attributes of a node that may be open with `O_PATH`: names and values, sorted. Those of
/// a file system that has none are none.
pub(crate) fn attributes_of(proc: BorrowedFd, file: BorrowedFd) -> Result<Pairs, Errno> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    let again;
    let way = match names_of(&AttributesBy::Path(&path)) {
        // There is no /proc where it is looked for.
        Err(Errno::NOENT) => match open_again(proc, file, OFlags::RDONLY) {
            Ok(file) => {
                again = file;
                AttributesBy::File(again.as_raw_fd())
            }
            // A link, which has none that could be read in this way.
            Err(Errno::LOOP) => return Ok(Vec::new()),
            Err(errno) => return Err(errno),
        },
        _ => AttributesBy::Path(&path),
    };
    let names = match names_of(&way) {
        Err(Errno::OPNOTSUPP) => return Ok(Vec::new()),
        names => names?,
    };
    let mut found = Vec::new();
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let wanted = CString::new(name).map_err(|_| Errno::INVAL)?;
        match value_of(&way, &wanted) {
            Ok(value) => found.push((name.to_vec(), value)),
            Err(Errno::NODATA | Errno::PERM | Errno::OPNOTSUPP) => {}
            Err(errno) => return Err(errno),
        }
    }
    found.sort();
    Ok(found)
}

enum AttributesBy<'a> {
    Path(&'a CStr),
    File(i32),
}

/// The most bytes that the kernel gives of names, and of one value.
const LONGEST: usize = 1 << 16;

fn names_of(way: &AttributesBy) -> Result<Vec<u8>, Errno> {
    read(|into, length| match way {
        // SAFETY: a path that ends with NUL, and memory of this length, or none to be told it.
        AttributesBy::Path(path) => unsafe { libc::listxattr(path.as_ptr(), into.cast(), length) },
        // SAFETY: the same, with a number.
        AttributesBy::File(file) => unsafe { libc::flistxattr(*file, into.cast(), length) },
    })
}

fn value_of(way: &AttributesBy, name: &CStr) -> Result<Vec<u8>, Errno> {
    read(|into, length| match way {
        // SAFETY: texts that end with NUL, and memory of this length, or none to be told it.
        AttributesBy::Path(path) => unsafe {
            libc::getxattr(path.as_ptr(), name.as_ptr(), into.cast(), length)
        },
        // SAFETY: the same, with a number.
        AttributesBy::File(file) => unsafe {
            libc::fgetxattr(*file, name.as_ptr(), into.cast(), length)
        },
    })
}

fn read(ask: impl Fn(*mut u8, usize) -> isize) -> Result<Vec<u8>, Errno> {
    let length = ask(std::ptr::null_mut(), 0);
    match usize::try_from(length) {
        Ok(0) => return Ok(Vec::new()),
        Ok(_) => {}
        Err(_) => return Err(last_errno()),
    }
    let mut bytes = vec![0; LONGEST];
    let length = usize::try_from(ask(bytes.as_mut_ptr(), bytes.len())).map_err(|_| last_errno())?;
    bytes.truncate(length);
    Ok(bytes)
}

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}
