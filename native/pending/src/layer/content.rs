//! Contents of files: compared, and copied.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;

use rustix::fs::{SeekFrom, ioctl_ficlone, seek};
use rustix::io::Errno;

use crate::layer::readable::open_in_layer;
use crate::node::open_file;

/// The bytes that are read at once.
const PIECE: usize = 1 << 16;

/// Whether two files of the same length have the same bytes.
pub(crate) fn is_same_content(
    upper: BorrowedFd,
    lower: BorrowedFd,
    name: &OsStr,
) -> Result<bool, Errno> {
    let one = File::from(open_in_layer(upper, name)?);
    let other = File::from(open_file(lower, name)?);
    let (mut ours, mut theirs) = (vec![0; PIECE], vec![0; PIECE]);
    let mut at = 0;
    loop {
        let length = read(&one, &mut ours, at)?;
        let same = read(&other, &mut theirs, at)?;
        if length != same || ours.get(..length) != theirs.get(..length) {
            return Ok(false);
        }
        if length == 0 {
            return Ok(true);
        }
        at += length as u64;
    }
}

/// Copies a content into an empty file: by sharing its blocks where that is possible, with its holes.
pub(crate) fn copy(from: &File, to: &File, size: u64) -> Result<(), Errno> {
    if ioctl_ficlone(to, from).is_ok() {
        return Ok(());
    }
    let mut at = 0;
    while at < size {
        let begin = match seek(from.as_fd(), SeekFrom::Data(at)) {
            Ok(begin) => begin,
            // There are only holes from here on.
            Err(Errno::NXIO) => break,
            Err(errno) => return Err(errno),
        };
        at = seek(from.as_fd(), SeekFrom::Hole(begin))?.min(size);
        copy_part(from, to, begin, at)?;
    }
    to.set_len(size).map_err(errno)
}

fn copy_part(from: &File, to: &File, mut at: u64, end: u64) -> Result<(), Errno> {
    let mut bytes = vec![0; PIECE];
    while at < end {
        let wanted = usize::try_from(end - at).unwrap_or(PIECE).min(PIECE);
        let Some(into) = bytes.get_mut(..wanted) else { break };
        let length = read(from, into, at)?;
        // It has become shorter: that is seen by its status afterwards.
        let Some(part) = bytes.get(..length).filter(|part| !part.is_empty()) else { break };
        to.write_all_at(part, at).map_err(errno)?;
        at += length as u64;
    }
    Ok(())
}

fn read(file: &File, into: &mut [u8], at: u64) -> Result<usize, Errno> {
    let mut length = 0;
    while let Some(rest) = into.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, at + length as u64) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(errno(error)),
        }
    }
    Ok(length)
}

fn errno(error: std::io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
