//! A place where the settings in one mount are made ready.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, unlinkat};

use crate::sandbox::mounts::Tree;
use crate::sandbox::place::{self, mount_of};
use crate::sandbox::warden::made_by_gate;

/// A place for the settings that are in one mount.
pub struct MakingPlace {
    mount: u64,
    /// The directory above all that is touched, in a tree that is mounted nowhere and can be written to.
    top: PathBuf,
    pub tree: OwnedFd,
    /// The place in that tree.
    pub place: OwnedFd,
    /// The place as it is seen through the mount.
    pub seen: OwnedFd,
    /// The name of the directory that was made for it, and what it is in.
    pub own: Option<(OwnedFd, String)>,
}

impl MakingPlace {
    /// Finds or makes a place, before any command runs. The calling process is in the sandbox's mount namespace.
    ///
    /// `path`, `directory`: a directory that settings are in, and `mount` the one through which it is seen.
    /// `beneath`: git's directory without its cover.
    pub fn of(
        git: &Path,
        (path, directory): (&Path, &OwnedFd),
        mount: u64,
        beneath: Option<&OwnedFd>,
    ) -> io::Result<MakingPlace> {
        let top = path.ancestors().find(|above| git.starts_with(above));
        let top = top.ok_or(io::ErrorKind::NotFound)?.to_owned();
        // Without the mounts below: neither covers nor other file systems.
        let tree = Tree::copy_alone(&top)?.writable()?.into_descriptor();
        let within = |path: &Path| within(&tree, &top, path);
        let (own, gits) = (within(path)?, within(git)?);
        let is_same = |a: &OwnedFd, b: &OwnedFd| {
            Ok::<_, io::Error>(place::identity(a)? == place::identity(b)?)
        };
        if !is_same(&own, directory)? || !is_same(&gits, &place::open(git)?)? {
            return Err(io::ErrorKind::NotFound.into());
        }
        if let Some(seen) = beneath.filter(|seen| mount_of(seen).is_ok_and(|it| it == mount)) {
            let seen = seen.try_clone()?;
            return Ok(MakingPlace { mount, top, tree, place: gits, seen, own: None });
        }
        let name = made_by_gate()?;
        mkdirat(&own, &*name, Mode::RWXU)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let moved = || {
            let seen = openat(directory, &*name, flags, Mode::empty())?;
            if mount_of(&seen)? != mount {
                return Err(io::Error::from(io::ErrorKind::NotFound));
            }
            renameat(&own, &*name, &gits, &*name)?;
            let place = openat(&gits, &*name, flags, Mode::empty())?;
            Ok((seen, place))
        };
        let moved = moved();
        if moved.is_err() {
            for directory in [&own, &gits] {
                let _ = unlinkat(directory, &*name, AtFlags::REMOVEDIR);
            }
        }
        let (seen, place) = moved?;
        Ok(MakingPlace { mount, top, tree, place, seen, own: Some((gits, name)) })
    }

    /// Returns whether it is the place for a directory that is seen through this mount.
    pub fn has(&self, mount: u64, directory: &Path) -> bool {
        self.mount == mount && directory.starts_with(&self.top)
    }

    pub fn within(&self, path: &Path) -> io::Result<OwnedFd> {
        within(&self.tree, &self.top, path)
    }

    /// Mounts over what has been made ready.
    pub fn cover(&self, name: &str) -> io::Result<()> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let there = openat(&self.seen, name, flags, Mode::empty())?;
        Tree::copy_of(&there)?.read_only()?.attach_over(&there)
    }
}

fn within(tree: &OwnedFd, top: &Path, path: &Path) -> io::Result<OwnedFd> {
    let below = path.strip_prefix(top).map_err(|_| io::ErrorKind::InvalidInput)?;
    place::beneath(tree.as_fd(), below)
}
