//! An overlay over one or several directories, with a layer that is written to.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen,
};

use crate::sandbox::mounts::{self, Tree};
use crate::sandbox::place;

/// Mounts an overlay nowhere yet. `layer`: the directory with its `upper` and `work`; `path`: the lowest
/// layer; `is_anyones`: any user can tell from the upper layer what has changed.
pub fn overlay(
    lowers: &[&OwnedFd],
    layer: &Path,
    path: &Path,
    is_anyones: bool,
) -> io::Result<Tree> {
    let [upper, work] = ["upper", "work"].map(|part| place::open(&layer.join(part)));
    let (upper, work) = (upper?, work?);
    let of = |file: &OwnedFd| format!("/proc/self/fd/{}", file.as_raw_fd());
    let all = lowers.iter().map(|lower| of(lower)).collect::<Vec<_>>().join(":");
    let mut attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    if mounts::execution(path)? != 0 {
        attributes |= MountAttrFlags::MOUNT_ATTR_NOEXEC;
    }
    let make = |is_users: bool| -> io::Result<Tree> {
        let system = fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        if is_users {
            fsconfig_set_flag(&system, c"userxattr")?;
        }
        fsconfig_set_string(&system, c"lowerdir", &*all)?;
        fsconfig_set_string(&system, c"upperdir", &*of(&upper))?;
        fsconfig_set_string(&system, c"workdir", &*of(&work))?;
        // Otherwise a layer could not be seen below those of other sandboxes.
        fsconfig_set_string(&system, c"index", c"off")?;
        fsconfig_create(&system)?;
        // Its owner could not look into the directory that the kernel makes there, and so not remove it.
        let made = format!("{}/work", of(&work));
        let _ = fs::set_permissions(made, fs::Permissions::from_mode(0o700));
        let mounted = fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        Ok(Tree::new(mounted))
    };
    make(true).or_else(|error| if is_anyones { Err(error) } else { make(false) })
}
