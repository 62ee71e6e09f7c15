//! Puts back owner, extended attributes, mode and times of a node that may be open with `O_PATH`.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, CWD, Gid, Timespec, Timestamps, Uid, XattrFlags, chownat, removexattr, setxattr,
    utimensat,
};
use rustix::io::Errno;

use crate::node::{Moment, NodeKind, look};
use crate::reader::compare::all_attributes;
use crate::reader::reach::change_mode;
use crate::record::NodeRecord;
use crate::revert::placing::by_descriptor;

/// Makes a node as it was, but for its content. What is as it was already is not touched.
pub(crate) fn restore(file: BorrowedFd, record: &NodeRecord) -> Result<(), Errno> {
    let (before, now) = (&record.status, look(file)?);
    if (before.uid, before.gid) != (now.uid, now.gid) {
        let (uid, gid) = (Uid::from_raw(before.uid), Gid::from_raw(before.gid));
        chownat(file, c"", Some(uid), Some(gid), AtFlags::EMPTY_PATH)?;
    }
    if before.kind() != NodeKind::Link {
        restore_extended(file, record, now.permissions())?;
        if look(file)?.mode != before.mode {
            change_mode(file, before.permissions())?;
        }
    }
    if before.kind() != NodeKind::Directory && look(file)?.modified != before.modified {
        let time = timespec(before.modified);
        let times = Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT },
            last_modification: time,
        };
        utimensat(CWD, by_descriptor(file), &times, AtFlags::empty())?;
    }
    Ok(())
}

fn restore_extended(file: BorrowedFd, record: &NodeRecord, mode: u32) -> Result<(), Errno> {
    let owned: OwnedFd = file.try_clone_to_owned().map_err(|_| Errno::MFILE)?;
    // Attributes of users can be seen only by those who may read the file, and changed by those who may write to it.
    let (now, mode) = match all_attributes(&owned) {
        Err(Errno::ACCESS) => {
            change_mode(owned.as_fd(), mode | 0o600)?;
            (all_attributes(&owned)?, mode | 0o600)
        }
        now => (now?, mode),
    };
    if now == record.attributes {
        return Ok(());
    }
    if mode & 0o200 == 0 && !rustix::process::geteuid().is_root() {
        change_mode(owned.as_fd(), mode | 0o200)?;
    }
    let path = by_descriptor(file);
    let text = |name: &[u8]| CString::new(name).map_err(|_| Errno::INVAL);
    for (name, value) in record.attributes.iter().filter(|pair| !now.contains(pair)) {
        setxattr(&path, text(name)?, value, XattrFlags::empty())?;
    }
    let had = |name: &[u8]| record.attributes.iter().any(|(other, _)| other == name);
    for (name, _) in now.iter().filter(|(name, _)| !had(name)) {
        removexattr(&path, text(name)?)?;
    }
    Ok(())
}

fn timespec(moment: Moment) -> Timespec {
    Timespec { tv_sec: moment.seconds, tv_nsec: moment.nanoseconds.into() }
}
