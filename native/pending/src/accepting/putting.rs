//! Puts one thing of a layer outside.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, Uid,
    XattrFlags, chmod, chownat, linkat, mkdirat, mknodat, openat, readlinkat, removexattr,
    renameat_with, setxattr, symlinkat, unlinkat, utimensat,
};
use rustix::io::Errno;

use crate::accepting::not_accepted::{NotAccepted, changed};
use crate::layer::content::copy;
use crate::layer::readable::{attributes_in_layer, open_in_layer};
use crate::node::{
    by_descriptor, enter_beneath, given_mode, look, open_as_it_is, parted, taken_attributes,
    type_of,
};

/// Where something comes from, and goes to.
pub(crate) struct Placing<'a> {
    pub from: BorrowedFd<'a>,
    pub to: BorrowedFd<'a>,
    pub name: &'a OsStr,
    /// What is there outside.
    pub replaced: Option<Stat>,
    /// The name of what is not whole yet.
    pub unfinished: &'a OsStr,
}

/// Makes a directory, into which only its owner is let until all is in it.
pub(crate) fn put_directory(places: &Placing) -> Result<(), NotAccepted> {
    match mkdirat(places.to, places.name, Mode::from_raw_mode(0o700)) {
        // One that was killed may have made it.
        Err(Errno::EXIST) => Ok(()),
        made => Ok(made?),
    }
}

/// Puts something that is no directory outside, in place of what is there. `known`: where another name of the same
/// file was put, by the root. `begin` is told of the file before it gets its name.
pub(crate) fn put(
    places: &Placing,
    from: &Stat,
    known: Option<(BorrowedFd, &Path)>,
    begin: impl FnOnce(&Stat) -> Result<(), NotAccepted>,
) -> Result<(), NotAccepted> {
    let (to, unfinished) = (places.to, places.unfinished);
    let made = make(places, from, known).and_then(|()| {
        if known.is_none() {
            still(places, from)?;
        }
        begin(&look(to, unfinished)?.ok_or(Errno::NOENT)?)?;
        match &places.replaced {
            None => Ok(renameat_with(to, unfinished, to, places.name, RenameFlags::NOREPLACE)?),
            Some(replaced) => exchange(places, replaced),
        }
    });
    if made.is_err() {
        let _ = unlinkat(to, unfinished, AtFlags::empty());
    }
    made
}

/// Puts a finished file in place of another one, which is looked at once it can't be reached by its name any more: the
/// copy may have taken long.
fn exchange(places: &Placing, replaced: &Stat) -> Result<(), NotAccepted> {
    let (to, name, unfinished) = (places.to, places.name, places.unfinished);
    match renameat_with(to, unfinished, to, name, RenameFlags::EXCHANGE) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Err(changed()),
        // The file system can't.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            return match look(to, name)? {
                Some(now) if is_as_it_was(&now, replaced) => {
                    Ok(renameat_with(to, unfinished, to, name, RenameFlags::empty())?)
                }
                _ => Err(changed()),
            };
        }
        Err(errno) => return Err(errno.into()),
    }
    if look(to, unfinished)?.is_some_and(|was| is_as_it_was(&was, replaced)) {
        return Ok(unlinkat(to, unfinished, AtFlags::empty())?);
    }
    match renameat_with(to, unfinished, to, name, RenameFlags::EXCHANGE) {
        Ok(()) => Err(changed()),
        // Its new name is gone already.
        Err(_) => {
            renameat_with(to, unfinished, to, name, RenameFlags::NOREPLACE)?;
            Err(changed())
        }
    }
}

/// Whether a file is still what it was, but for its time of change, which a rename sets, too.
pub(crate) fn is_as_it_was(now: &Stat, before: &Stat) -> bool {
    let of = |stat: &Stat| {
        let modified = (stat.st_mtime, stat.st_mtime_nsec);
        (stat.st_dev, stat.st_ino, stat.st_mode, stat.st_size, modified)
    };
    of(now) == of(before)
}

/// Makes a file under its unfinished name; one that is there was left by an accept of the same changes that was killed.
fn make(
    places: &Placing,
    from: &Stat,
    known: Option<(BorrowedFd, &Path)>,
) -> Result<(), NotAccepted> {
    let left = match make_new(places, from, known) {
        Err(NotMade::Exists) => unlinkat(places.to, places.unfinished, AtFlags::empty()),
        Err(NotMade::Refused(why)) => return Err(why),
        Ok(()) => return Ok(()),
    };
    left?;
    make_new(places, from, known).map_err(|failed| match failed {
        NotMade::Exists => Errno::EXIST.into(),
        NotMade::Refused(why) => why,
    })
}

enum NotMade {
    Exists,
    Refused(NotAccepted),
}

impl From<Errno> for NotMade {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::EXIST => Self::Exists,
            errno => Self::Refused(errno.into()),
        }
    }
}

fn make_new(
    places: &Placing,
    from: &Stat,
    known: Option<(BorrowedFd, &Path)>,
) -> Result<(), NotMade> {
    let name = places.unfinished;
    if let Some((root, path)) = known {
        let (above, other) = parted(path);
        let above = enter_beneath(root, above)?;
        return Ok(linkat(&above, other, places.to, name, AtFlags::empty())?);
    }
    match type_of(from) {
        FileType::Symlink => {
            let target = readlinkat(places.from, places.name, Vec::new())?;
            symlinkat(&*target, places.to, name)?;
        }
        FileType::Fifo => {
            let mode = Mode::from_raw_mode(from.st_mode & 0o777);
            mknodat(places.to, name, FileType::Fifo, mode, 0)?;
        }
        FileType::RegularFile => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let to = File::from(openat(places.to, name, flags, Mode::from_raw_mode(0o600))?);
            let file = File::from(open_in_layer(places.from, places.name)?);
            copy(&file, &to, u64::try_from(from.st_size).unwrap_or(0))?;
        }
        _ => {
            let why = "sockets and devices are not taken".to_owned();
            return Err(NotMade::Refused(NotAccepted::because(why)));
        }
    }
    let made = open_as_it_is(places.to, name)?;
    give_rights(&made, places.from, places.name, from).map_err(NotMade::Refused)
}

/// Refuses a file that a command writes to meanwhile.
fn still(places: &Placing, from: &Stat) -> Result<(), NotAccepted> {
    match look(places.from, places.name)? {
        Some(now) if is_as_it_was(&now, from) => Ok(()),
        _ => Err(NotAccepted::because("a command is still changing it".to_owned())),
    }
}

/// Gives what is there mode, owner, attributes and times of what a layer has under a name.
pub(crate) fn give_rights(
    there: &OwnedFd,
    layer: BorrowedFd,
    name: &OsStr,
    from: &Stat,
) -> Result<(), NotAccepted> {
    // Of another user only those who may give it away.
    let (uid, gid) = (Uid::from_raw(from.st_uid), Gid::from_raw(from.st_gid));
    let _ = chownat(there, c"", Some(uid), Some(gid), AtFlags::EMPTY_PATH);
    if type_of(from) == FileType::Symlink {
        return Ok(());
    }
    let path = by_descriptor(there.as_fd());
    let source = open_as_it_is(layer, name)?;
    let mode = given_mode(from) & 0o7777;
    // By a mode that lets it, which is then the one that it has.
    chmod(&*path, Mode::from_raw_mode(mode | 0o600))?;
    let (now, wanted) = (taken_attributes(there.as_fd())?, attributes_in_layer(source.as_fd())?);
    for (name, value) in wanted.iter().filter(|pair| !now.contains(pair)) {
        setxattr(&*path, &**name, value, XattrFlags::empty())?;
    }
    for (name, _) in now.iter().filter(|(name, _)| !wanted.iter().any(|(other, _)| other == name)) {
        removexattr(&*path, &**name)?;
    }
    chmod(&*path, Mode::from_raw_mode(mode))?;
    let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec: i64::try_from(tv_nsec).unwrap_or(0) };
    let times = Timestamps {
        last_access: time(from.st_atime, from.st_atime_nsec),
        last_modification: time(from.st_mtime, from.st_mtime_nsec),
    };
    Ok(utimensat(CWD, &*path, &times, AtFlags::empty())?)
}
