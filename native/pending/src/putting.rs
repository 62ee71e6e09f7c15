//! Puts one thing of a layer outside.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, Uid,
    XattrFlags, chmod, chownat, linkat, mkdirat, mknodat, openat, readlinkat, removexattr,
    renameat_with, setxattr, symlinkat, unlinkat, utimensat,
};
use rustix::io::Errno;

use crate::content::copy;
use crate::node::{
    StampedNode, by_descriptor, enter_beneath, look, open_as_it_is, open_file, parted, stamp,
    taken_attributes, type_of,
};
use crate::not_accepted::{NotAccepted, changed};

/// What a name begins with that stands for another one for a moment.
const UNFINISHED: &str = ".forkline-accept-";
/// Nobody outside gets the rights of another user by what a command has made.
const NOT_TAKEN: u32 = 0o6000;

/// Where something comes from, and goes to.
pub(crate) struct Placing<'a> {
    pub from: BorrowedFd<'a>,
    pub to: BorrowedFd<'a>,
    pub name: &'a OsStr,
    /// What is there outside.
    pub replaced: Option<StampedNode>,
}

/// Puts something outside, in place of what is there unless that is a directory. `known`: where another name of the
/// same file was put, by the root.
pub(crate) fn put(
    places: &Placing,
    from: &Stat,
    known: Option<(BorrowedFd, &Path)>,
) -> Result<(), NotAccepted> {
    if type_of(from) == FileType::Directory {
        // One that was killed may have made it.
        match mkdirat(places.to, places.name, Mode::from_raw_mode(0o700)) {
            Err(Errno::EXIST) => {}
            made => made?,
        }
        return restore_rights(places, from);
    }
    let unfinished = unfinished();
    let made = make(places, from, &unfinished, known).and_then(|()| {
        if known.is_none() {
            still(places, from)?;
        }
        // The copy may have taken long.
        if look(places.to, places.name)?.as_ref().map(stamp) != places.replaced {
            return Err(changed());
        }
        let is_there = places.replaced.is_some();
        let flags = if is_there { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
        Ok(renameat_with(places.to, &*unfinished, places.to, places.name, flags)?)
    });
    if made.is_err() {
        let _ = unlinkat(places.to, &*unfinished, AtFlags::empty());
    }
    made
}

fn unfinished() -> CString {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    CString::new(format!("{UNFINISHED}{}-{number}", std::process::id())).unwrap_or_default()
}

fn make(
    places: &Placing,
    from: &Stat,
    name: &CString,
    known: Option<(BorrowedFd, &Path)>,
) -> Result<(), NotAccepted> {
    if let Some((root, path)) = known {
        let (above, other) = parted(path);
        let above = enter_beneath(root, above)?;
        return Ok(linkat(&above, other, places.to, &**name, AtFlags::empty())?);
    }
    match type_of(from) {
        FileType::Symlink => {
            let target = readlinkat(places.from, places.name, Vec::new())?;
            symlinkat(&*target, places.to, &**name)?;
        }
        FileType::Fifo => {
            let mode = Mode::from_raw_mode(from.st_mode & 0o777);
            mknodat(places.to, &**name, FileType::Fifo, mode, 0)?;
        }
        FileType::RegularFile => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let to = File::from(openat(places.to, &**name, flags, Mode::from_raw_mode(0o600))?);
            let file = File::from(open_file(places.from, places.name)?);
            copy(&file, &to, u64::try_from(from.st_size).unwrap_or(0))?;
        }
        _ => return Err(NotAccepted("sockets and devices are not taken".to_owned())),
    }
    let made = openat(
        places.to,
        &**name,
        OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    give_rights(&made, places, from)
}

/// Refuses a file that a command writes to meanwhile.
fn still(places: &Placing, from: &Stat) -> Result<(), NotAccepted> {
    match look(places.from, places.name)? {
        Some(now) if stamp(&now) == stamp(from) && now.st_size == from.st_size => Ok(()),
        _ => Err(NotAccepted("a command is still changing it".to_owned())),
    }
}

/// Gives what is there already mode, owner, attributes and times of what a layer has.
pub(crate) fn restore_rights(places: &Placing, from: &Stat) -> Result<(), NotAccepted> {
    let there = open_as_it_is(places.to, places.name)?;
    give_rights(&there, places, from)
}

fn give_rights(there: &OwnedFd, places: &Placing, from: &Stat) -> Result<(), NotAccepted> {
    // Of another user only those who may give it away.
    let (uid, gid) = (Uid::from_raw(from.st_uid), Gid::from_raw(from.st_gid));
    let _ = chownat(there, c"", Some(uid), Some(gid), AtFlags::EMPTY_PATH);
    if type_of(from) == FileType::Symlink {
        return Ok(());
    }
    let path = by_descriptor(there.as_fd());
    let is_directory = type_of(from) == FileType::Directory;
    let dropped = if is_directory { 0o4000 } else { NOT_TAKEN };
    let source = open_as_it_is(places.from, places.name)?;
    // By a mode that lets it, which is then the one that it has.
    chmod(&*path, Mode::from_raw_mode(from.st_mode & 0o7777 & !dropped | 0o600))?;
    let (now, wanted) = (taken_attributes(there.as_fd())?, taken_attributes(source.as_fd())?);
    for (name, value) in wanted.iter().filter(|pair| !now.contains(pair)) {
        setxattr(&*path, &**name, value, XattrFlags::empty())?;
    }
    for (name, _) in now.iter().filter(|(name, _)| !wanted.iter().any(|(other, _)| other == name)) {
        removexattr(&*path, &**name)?;
    }
    chmod(&*path, Mode::from_raw_mode(from.st_mode & 0o7777 & !dropped))?;
    let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec: i64::try_from(tv_nsec).unwrap_or(0) };
    let times = Timestamps {
        last_access: time(from.st_atime, from.st_atime_nsec),
        last_modification: time(from.st_mtime, from.st_mtime_nsec),
    };
    Ok(utimensat(CWD, &*path, &times, AtFlags::empty())?)
}
