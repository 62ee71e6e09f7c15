//! The places where settings are made ready before they get their names. There a mount covers a new file
//! or directory, and follows it when it is renamed, so that a setting can never be reached uncovered.
//!
//! Such a place is seen through the same mount as the names, and out of the reach of commands: git's
//! directory below its cover, or a directory that has been moved there before any command runs.

mod name;
mod place_of_mount;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, StatVfsMountFlags, fstatvfs, unlinkat};

use crate::sandbox::place::{self, mount_of};
use crate::sandbox::plan::Repository;
use name::ChangedName;
use place_of_mount::MakingPlace;

/// The places of all settings.
pub struct MakingPlaces {
    all: Vec<MakingPlace>,
}

impl MakingPlaces {
    /// Finds or makes the places, before any command runs. The calling process is in the sandbox's mount
    /// namespace. Returns the settings that have one.
    ///
    /// `beneath`: git's directories, as they are seen without their covers.
    pub fn of(
        repositories: &[Repository],
        beneath: &[(PathBuf, OwnedFd)],
    ) -> (MakingPlaces, Vec<PathBuf>) {
        let mut places = MakingPlaces { all: Vec::new() };
        let mut placed = Vec::new();
        for repository in repositories {
            for setting in &repository.settings {
                if places.add(&repository.git, setting, beneath).is_ok() {
                    placed.push(setting.clone());
                }
            }
        }
        (places, placed)
    }

    fn add(
        &mut self,
        git: &Path,
        setting: &Path,
        beneath: &[(PathBuf, OwnedFd)],
    ) -> io::Result<()> {
        let mut above = setting.ancestors().skip(1);
        let found = above.find_map(|path| Some((path, place::open(path).ok()?)));
        let (path, directory) = found.ok_or(io::ErrorKind::NotFound)?;
        let mount = mount_of(&directory)?;
        if self.all.iter().all(|place| !place.has(mount, path)) {
            let beneath = beneath.iter().find(|(path, _)| path == git).map(|(_, seen)| seen);
            self.all.push(MakingPlace::of(git, (path, &directory), mount, beneath)?);
        }
        Ok(())
    }

    /// Finds a name. The calling process is in the sandbox's mount namespace.
    pub fn find<'a>(&'a self, path: &'a Path) -> io::Result<ChangedName<'a>> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let seen = place::open(above)?;
        let of = |path: &Path, directory: &OwnedFd| {
            let mount = mount_of(directory).ok()?;
            self.all.iter().find(|place| place.has(mount, path))
        };
        let direct = of(above, &seen);
        let is_covered = direct.is_none();
        let mut higher = above.ancestors().skip(1);
        let place = direct.or_else(|| higher.find_map(|path| of(path, &place::open(path).ok()?)));
        let place = place.ok_or(io::Error::from_raw_os_error(libc::EROFS))?;
        if is_covered && !is_read_only(&seen)? {
            return Err(io::Error::from_raw_os_error(libc::EROFS));
        }
        let directory = place.within(above)?;
        if place::identity(&directory)? != place::identity(&seen)? {
            return Err(io::Error::from_raw_os_error(libc::ESTALE));
        }
        Ok(ChangedName { place, directory, name, is_covered })
    }

    /// Removes the directories that were made for it.
    pub fn remove(&self) {
        for (directory, name) in self.all.iter().filter_map(|place| place.own.as_ref()) {
            let _ = unlinkat(directory, &**name, AtFlags::REMOVEDIR);
        }
    }

    /// Returns the descriptors that must stay open.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.all.iter().flat_map(|place| {
            let own = place.own.iter().map(|(directory, _)| directory.as_fd());
            [place.tree.as_fd(), place.place.as_fd(), place.seen.as_fd()].into_iter().chain(own)
        })
    }
}

fn is_read_only(file: &OwnedFd) -> io::Result<bool> {
    let flags = fstatvfs(file)?.f_flag;
    Ok(flags.contains(StatVfsMountFlags::RDONLY))
}
