//! A setting that is changed, by its name.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{
    AtFlags, Dir, FileType, Gid, Mode, OFlags, RenameFlags, fchmod, fchown, fstat, mkdirat, openat,
    renameat, renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::getegid;

use super::place_of_mount::MakingPlace;
use crate::sandbox::warden::made_by_gate;
use crate::sandbox::watchers::change::{Change, LONGEST};

/// A name to be changed.
pub struct ChangedName<'a> {
    pub place: &'a MakingPlace,
    /// Its directory in the tree of the place.
    pub directory: OwnedFd,
    pub name: &'a OsStr,
    /// Whether it is below a mount that can't be written to.
    pub is_covered: bool,
}

impl ChangedName<'_> {
    /// Makes what is to get the name, and covers it. Returns its name in the place; None: nothing comes. The
    /// calling process is in the sandbox's mount namespace.
    pub fn make_ready(
        &self,
        change: &Change,
        content: Option<OwnedFd>,
    ) -> io::Result<Option<String>> {
        let (name, place) = (made_by_gate()?, &self.place.place);
        let made = match change {
            Change::Put { mode, .. } => self.write(&name, content, *mode),
            Change::Link { target } => {
                return Ok(
                    symlinkat(OsStr::from_bytes(target), place, &*name).map(|()| Some(name))?
                );
            }
            Change::Directory { mode } => self.make_directory(&name, *mode),
            Change::Remove | Change::RemoveDirectory => return Ok(None),
        };
        let covered =
            made.and_then(|()| if self.is_covered { Ok(()) } else { self.place.cover(&name) });
        match covered {
            Ok(()) => Ok(Some(name)),
            Err(error) => {
                self.drop_ready(&name);
                Err(error)
            }
        }
    }

    fn write(&self, name: &str, content: Option<OwnedFd>, mode: u32) -> io::Result<()> {
        let content = File::from(content.ok_or(io::ErrorKind::InvalidInput)?);
        let mut bytes = Vec::new();
        content.take(LONGEST as u64).read_to_end(&mut bytes)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.place.place, name, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(&bytes)?;
        self.inherit(&file)?;
        Ok(fchmod(&file, Mode::from_raw_mode(mode))?)
    }

    fn make_directory(&self, name: &str, mode: u32) -> io::Result<()> {
        mkdirat(&self.place.place, name, Mode::RWXU)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = openat(&self.place.place, name, flags, Mode::empty())?;
        let inherited = self.inherit(&made)?;
        Ok(fchmod(&made, Mode::from_raw_mode(mode | inherited))?)
    }

    /// Gives a file the group that it would have if it had been made in its directory. Returns the bit that a
    /// directory inherits as well.
    fn inherit(&self, made: &impl AsFd) -> io::Result<u32> {
        let above = fstat(&self.directory)?;
        let bit = above.st_mode & libc::S_ISGID;
        let group = if bit == 0 { getegid() } else { Gid::from_raw(above.st_gid) };
        if fstat(made)?.st_gid != group.as_raw() {
            fchown(made, None, Some(group))?;
        }
        Ok(bit)
    }

    /// Makes the change. The calling process is in a mount namespace in which no setting is mounted.
    pub fn change(&self, change: &Change, ready: Option<&str>) -> io::Result<()> {
        let changed = match (change, ready) {
            (Change::Put { is_new: false, .. }, Some(ready)) => self.replace(ready),
            (Change::Remove, _) => self.remove(AtFlags::empty()),
            (Change::RemoveDirectory, _) => self.remove(AtFlags::REMOVEDIR),
            (_, Some(ready)) => self.come(ready),
            (_, None) => Err(io::ErrorKind::InvalidInput.into()),
        };
        if let (Err(_), Some(ready)) = (&changed, ready) {
            self.drop_ready(ready);
        }
        changed
    }

    /// Gives it the name, if nothing has that.
    fn come(&self, ready: &str) -> io::Result<()> {
        let (place, directory) = (&self.place.place, &self.directory);
        match renameat_with(place, ready, directory, self.name, RenameFlags::NOREPLACE) {
            // The file system knows no such flag. Commands make no such name meanwhile.
            Err(Errno::INVAL) => match self.kind() {
                Ok(_) => Err(Errno::EXIST.into()),
                Err(_) => Ok(renameat(place, ready, directory, self.name)?),
            },
            renamed => Ok(renamed?),
        }
    }

    /// Gives it the name of what is there. That keeps its cover until it is gone.
    fn replace(&self, ready: &str) -> io::Result<()> {
        let (place, directory) = (&self.place.place, &self.directory);
        match self.kind() {
            Ok(FileType::Directory) => return Err(Errno::ISDIR.into()),
            Ok(_) => {}
            Err(_) => return self.come(ready),
        }
        match renameat_with(place, ready, directory, self.name, RenameFlags::EXCHANGE) {
            Err(Errno::INVAL) => return Ok(renameat(place, ready, directory, self.name)?),
            renamed => renamed?,
        }
        Ok(unlinkat(place, ready, AtFlags::empty())?)
    }

    /// Moves what is there away with its cover, and removes it.
    fn remove(&self, flags: AtFlags) -> io::Result<()> {
        let (place, directory) = (&self.place.place, &self.directory);
        let kind = self.kind()?;
        match (kind == FileType::Directory, flags.contains(AtFlags::REMOVEDIR)) {
            (true, false) => return Err(Errno::ISDIR.into()),
            (false, true) => return Err(Errno::NOTDIR.into()),
            (true, true) => self.refuse_entries()?,
            (false, false) => {}
        }
        let away = made_by_gate()?;
        match renameat(directory, self.name, place, &*away) {
            Ok(()) => {}
            // Overlays can't move directories of the layers below.
            Err(Errno::XDEV) => return Ok(unlinkat(directory, self.name, flags)?),
            moved => moved?,
        }
        let removed = unlinkat(place, &*away, flags);
        if removed.is_err() {
            renameat(place, &*away, directory, self.name)?;
        }
        Ok(removed?)
    }

    fn refuse_entries(&self) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let there = openat(&self.directory, self.name, flags, Mode::empty())?;
        let mut entries = Dir::new(there)?;
        let is_entry = |name: &[u8]| !matches!(name, b"." | b"..");
        match entries.any(|entry| entry.is_ok_and(|it| is_entry(it.file_name().to_bytes()))) {
            true => Err(Errno::NOTEMPTY.into()),
            false => Ok(()),
        }
    }

    fn kind(&self) -> io::Result<FileType> {
        let status = statat(&self.directory, self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(status.st_mode))
    }

    fn drop_ready(&self, name: &str) {
        let place = &self.place.place;
        if unlinkat(place, name, AtFlags::empty()).is_err() {
            let _ = unlinkat(place, name, AtFlags::REMOVEDIR);
        }
    }
}
