//! Lets the owner of a file in a layer read it for a moment, whose mode forbids that: its content, and what overlays
//! have written about it. What is outside is never changed for that.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, Mode, chmod, fstat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::node::{
    NamedValue, attribute, by_descriptor, open_as_it_is, open_file, taken_attributes, type_of,
};

/// Opens a file in a layer to be read.
pub(crate) fn open_in_layer(layer: BorrowedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let there = open_as_it_is(layer, name)?;
    reading(there.as_fd(), || open_file(layer, name))
}

/// Returns the value of an extended attribute in a layer; `None`: there is none.
pub(crate) fn attribute_in_layer(file: BorrowedFd, name: &str) -> Result<Option<Vec<u8>>, Errno> {
    reading(file, || attribute(file, name))
}

/// Returns the extended attributes in a layer that are taken.
pub(crate) fn attributes_in_layer(file: BorrowedFd) -> Result<Vec<NamedValue>, Errno> {
    reading(file, || taken_attributes(file))
}

/// `read` is called again, with another mode, if that of the file does not allow it.
fn reading<T>(file: BorrowedFd, read: impl Fn() -> Result<T, Errno>) -> Result<T, Errno> {
    match read() {
        Err(Errno::ACCESS) => {}
        told => return told,
    }
    let stat = fstat(file)?;
    // The bit for the group could be lost to one that is not in it.
    let is_kept = stat.st_mode & 0o6400 == 0 && type_of(&stat) == FileType::RegularFile;
    if !is_kept || stat.st_uid != geteuid().as_raw() {
        return Err(Errno::ACCESS);
    }
    let path = by_descriptor(file);
    let mode = stat.st_mode & 0o7777;
    chmod(&*path, Mode::from_raw_mode(mode | 0o400))?;
    let told = read();
    chmod(&*path, Mode::from_raw_mode(mode))?;
    told
}
