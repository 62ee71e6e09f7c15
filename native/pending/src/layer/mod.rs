//! What the kernel writes into an upper layer, mounted with `userxattr`.

pub(crate) mod content;
pub(crate) mod listing;
pub(crate) mod readable;
pub(crate) mod walk;

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use crate::layer::readable::attribute_in_layer;
use crate::node::{open_as_it_is, type_of};

const OPAQUE: &str = "user.overlay.opaque";
const WHITEOUT: &str = "user.overlay.whiteout";
const ORIGIN: &str = "user.overlay.origin";

/// Before the handle of an origin: version, magic, length, flags, type and the file system's id.
const ORIGIN_HEAD: usize = 21;

/// Whether an entry of an upper layer says that there is nothing: a device 0:0, or an empty file that says so.
pub(crate) fn is_whiteout(layer: BorrowedFd, name: &OsStr, stat: &Stat) -> Result<bool, Errno> {
    match type_of(stat) {
        FileType::CharacterDevice => Ok(stat.st_rdev == 0),
        FileType::RegularFile if stat.st_size == 0 => {
            let file = open_as_it_is(layer, name)?;
            Ok(attribute_in_layer(file.as_fd(), WHITEOUT)?.is_some())
        }
        _ => Ok(false),
    }
}

/// Whether nothing of the lower directory is seen through this one.
pub(crate) fn is_opaque(directory: BorrowedFd) -> Result<bool, Errno> {
    Ok(attribute_in_layer(directory, OPAQUE)?.is_some_and(|value| value == b"y"))
}

/// Returns the handle of the lower file from which this one was copied up; empty: the file system has none. `None`: it
/// was made.
pub(crate) fn origin_of(
    layer: BorrowedFd,
    name: &OsStr,
    stat: &Stat,
) -> Result<Option<Vec<u8>>, Errno> {
    if !matches!(type_of(stat), FileType::RegularFile | FileType::Directory) {
        return Ok(None);
    }
    let file = open_as_it_is(layer, name)?;
    let value = attribute_in_layer(file.as_fd(), ORIGIN)?;
    Ok(value.map(|value| value.get(ORIGIN_HEAD..).unwrap_or_default().to_vec()))
}

/// The bytes of a handle, at most.
const MOST_HANDLE: usize = 128;

/// A `struct file_handle` with room.
#[repr(C)]
struct HandleRoom {
    bytes: u32,
    kind: i32,
    handle: [u8; MOST_HANDLE],
}

/// Returns the handle of what has this name, as an origin has it; empty: the file system has none.
pub(crate) fn handle_of(directory: BorrowedFd, name: &OsStr) -> Vec<u8> {
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    let Ok(name) = std::ffi::CString::new(name.as_bytes()) else { return Vec::new() };
    let mut room = HandleRoom { bytes: MOST_HANDLE as u32, kind: 0, handle: [0; MOST_HANDLE] };
    let mut mount = 0_i32;
    // SAFETY: the name ends with NUL, and `room` is laid out as the kernel's structure, with as many bytes behind it
    // as it says; the kernel keeps none of the pointers.
    let failed = unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            directory.as_raw_fd(),
            name.as_ptr(),
            &raw mut room,
            &raw mut mount,
            0,
        )
    };
    let length = if failed == 0 { room.bytes as usize } else { 0 };
    room.handle.get(..length).map(<[u8]>::to_vec).unwrap_or_default()
}
