//! Mounts, by the system calls that take trees as descriptors: a tree can be mounted elsewhere even if it
//! is covered.

use std::ffi::{CStr, CString, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, StatVfsMountFlags, mknodat, statvfs};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags,
    mount_bind_recursive, mount_change, move_mount, open_tree,
};

use crate::sandbox::place;

/// With the mounts below.
const COPIED: OpenTreeFlags = OpenTreeFlags::OPEN_TREE_CLONE.union(OpenTreeFlags::AT_RECURSIVE);

/// A copy of the mounts at a path and below, not mounted yet.
pub struct Tree {
    descriptor: OwnedFd,
    pub is_directory: bool,
}

impl Tree {
    pub fn copy(path: &Path) -> io::Result<Tree> {
        Tree::open(CWD, path, COPIED, path.is_dir())
    }

    /// Copies the mount at a path without those below.
    pub fn copy_alone(path: &Path) -> io::Result<Tree> {
        Tree::open(CWD, path, OpenTreeFlags::OPEN_TREE_CLONE, path.is_dir())
    }

    /// Copies the mounts at an open file.
    pub fn copy_of(file: &OwnedFd) -> io::Result<Tree> {
        let kind = place::status(file)?.st_mode & libc::S_IFMT;
        let flags = COPIED | OpenTreeFlags::AT_EMPTY_PATH;
        Tree::open(file.as_fd(), Path::new(""), flags, kind == libc::S_IFDIR)
    }

    /// Takes a mount that is mounted nowhere yet, of a directory.
    pub fn new(descriptor: OwnedFd) -> Tree {
        Tree { descriptor, is_directory: true }
    }

    /// Opens the mount at a path itself, with those below; attaching it moves it.
    pub fn at(path: &Path) -> io::Result<Tree> {
        Tree::open(CWD, path, OpenTreeFlags::empty(), path.is_dir())
    }

    fn open(
        at: BorrowedFd,
        name: &Path,
        flags: OpenTreeFlags,
        is_directory: bool,
    ) -> io::Result<Tree> {
        let descriptor = open_tree(at, name, flags | OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
        Ok(Tree { descriptor, is_directory })
    }

    /// Returns the descriptor, through which the tree is reached while it is not mounted.
    pub fn into_descriptor(self) -> OwnedFd {
        self.descriptor
    }

    /// Forbids the use of devices in the tree.
    pub fn without_devices(self) -> io::Result<Tree> {
        let attributes = setting(libc::MOUNT_ATTR_NODEV);
        set_attributes(self.descriptor.as_raw_fd(), c"", libc::AT_EMPTY_PATH, &attributes)?;
        Ok(self)
    }

    /// Makes the tree read-only.
    pub fn read_only(self) -> io::Result<Tree> {
        let attributes = setting(libc::MOUNT_ATTR_RDONLY);
        let flags = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
        set_attributes(self.descriptor.as_raw_fd(), c"", flags, &attributes)?;
        Ok(self)
    }

    /// Makes the topmost mount of the tree writable, where the outside can write to it.
    pub fn writable(self) -> io::Result<Tree> {
        let attributes = libc::mount_attr { attr_clr: libc::MOUNT_ATTR_RDONLY, ..setting(0) };
        set_attributes(self.descriptor.as_raw_fd(), c"", libc::AT_EMPTY_PATH, &attributes)?;
        Ok(self)
    }

    /// Mounts the tree at a path.
    pub fn attach(self, path: &Path) -> io::Result<()> {
        self.attach_at(CWD, path, MoveMountFlags::empty())
    }

    /// Mounts the tree over an open file.
    pub fn attach_over(self, file: &OwnedFd) -> io::Result<()> {
        self.attach_at(file.as_fd(), Path::new(""), MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH)
    }

    fn attach_at(self, at: BorrowedFd, name: &Path, flags: MoveMountFlags) -> io::Result<()> {
        let flags = flags | MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        Ok(move_mount(&self.descriptor, c"", at, name, flags)?)
    }
}

/// Makes the present mounts at and below a path read-only.
pub fn make_read_only(path: &Path) -> io::Result<()> {
    let attributes = setting(libc::MOUNT_ATTR_RDONLY);
    set_attributes(libc::AT_FDCWD, &text(path)?, libc::AT_RECURSIVE, &attributes)
}

/// Makes the mount at a path read-only, and not those below.
pub fn make_read_only_alone(path: &Path) -> io::Result<()> {
    let attributes = setting(libc::MOUNT_ATTR_RDONLY);
    set_attributes(libc::AT_FDCWD, &text(path)?, 0, &attributes)
}

/// Makes the mount at a path writable again, and not those below.
pub fn make_writable(path: &Path) -> io::Result<()> {
    let attributes = libc::mount_attr { attr_clr: libc::MOUNT_ATTR_RDONLY, ..setting(0) };
    set_attributes(libc::AT_FDCWD, &text(path)?, 0, &attributes)
}

/// Mounts a copy at a path. The mount point is made if the path is in one of the sandbox's own file
/// systems.
pub fn put(tree: Tree, path: &Path, is_writable: bool) -> io::Result<()> {
    if !path.exists() {
        make_place(path, tree.is_directory)?;
    }
    tree.attach(path)?;
    if is_writable { Ok(()) } else { make_read_only(path) }
}

/// Makes a mount point.
pub fn make_place(path: &Path, is_directory: bool) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o755);
    if is_directory {
        return builder.create(path);
    }
    if let Some(parent) = path.parent() {
        builder.create(parent)?;
    }
    fs::File::create(path).map(drop)
}

/// Makes mounts private: later mounts do not propagate to or from the outside.
pub fn part_from_outside() -> io::Result<()> {
    Ok(mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?)
}

/// Mounts a new file system of this type.
pub fn mount_new(kind: &CStr, path: &Path, flags: u64, options: &CStr) -> io::Result<()> {
    let flags = MountFlags::from_bits_retain(flags as u32) | MountFlags::NOSUID;
    Ok(rustix::mount::mount(kind, path, kind, flags, options)?)
}

/// Unmounts the file system at a path; copies of its mount stay.
pub fn unmount(path: &Path) -> io::Result<()> {
    Ok(rustix::mount::unmount(path, UnmountFlags::DETACH)?)
}

/// Mounts the tree at a path at another path too.
pub fn bind(source: &Path, path: &Path) -> io::Result<()> {
    Ok(mount_bind_recursive(source, path)?)
}

/// Makes a whiteout: an entry in a layer of an overlay that hides the file in the layers below.
pub fn make_whiteout(path: &Path) -> io::Result<()> {
    // Anybody may make this device.
    Ok(mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), 0)?)
}

/// Returns all mount points.
pub fn all() -> Vec<PathBuf> {
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    let places = table.split(|byte| *byte == b'\n');
    places.filter_map(|line| line.split(|byte| *byte == b' ').nth(4)).map(unescaped).collect()
}

/// Returns the flag that forbids execution, if the mount at this path has it.
pub fn execution(path: &Path) -> io::Result<u64> {
    let flags = statvfs(path)?.f_flag;
    Ok(if flags.contains(StatVfsMountFlags::NOEXEC) { libc::MS_NOEXEC } else { 0 })
}

/// Returns a mode that gives all users the rights that this user has to a directory.
pub fn rights(path: &Path) -> io::Result<u32> {
    let name = text(path)?;
    let may = |mode| {
        // SAFETY: a path that ends with NUL, and numbers.
        let result =
            unsafe { libc::faccessat(libc::AT_FDCWD, name.as_ptr(), mode, libc::AT_EACCESS) };
        result == 0
    };
    let right = |mode, bits| if may(mode) { bits } else { 0 };
    Ok(right(libc::R_OK, 0o444) | right(libc::X_OK, 0o111))
}

/// Decodes a path of the kernel's tables, in which blanks and similar characters are octal numbers.
fn unescaped(path: &[u8]) -> PathBuf {
    let mut bytes = Vec::new();
    let mut left = path;
    while let Some((first, rest)) = left.split_first() {
        let byte =
            rest.split_at_checked(3).filter(|_| *first == b'\\').and_then(|(digits, rest)| {
                let digits = std::str::from_utf8(digits).ok()?;
                Some((u8::from_str_radix(digits, 8).ok()?, rest))
            });
        let (byte, rest) = byte.unwrap_or((*first, rest));
        bytes.push(byte);
        left = rest;
    }
    PathBuf::from(OsString::from_vec(bytes))
}

fn setting(attributes: u64) -> libc::mount_attr {
    libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 }
}

fn set_attributes(
    directory: libc::c_int,
    path: &CStr,
    flags: libc::c_int,
    attributes: &libc::mount_attr,
) -> io::Result<()> {
    let size = size_of::<libc::mount_attr>();
    // SAFETY: a path that ends with NUL, and a structure of this size.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            directory,
            path.as_ptr(),
            flags,
            &raw const *attributes,
            size,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn text(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_kernels_tables_are_read() {
        assert_eq!(unescaped(br"/a\040b\134\011"), Path::new("/a b\\\t"));
        assert_eq!(unescaped(br"/a\04"), Path::new(r"/a\04"));
    }
}
