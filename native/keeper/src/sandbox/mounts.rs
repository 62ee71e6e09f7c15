//! Mounts, by the calls that take trees as descriptors: a tree that is covered can still be put
//! elsewhere.

use std::ffi::{CStr, CString, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::ptr::null;

use crate::sandbox::place;

const OPEN_TREE_CLONE: libc::c_int = 1;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_int = 4;
const MOVE_MOUNT_T_EMPTY_PATH: libc::c_int = 0x40;
/// What is mounted below, too.
const COPIED: libc::c_int = OPEN_TREE_CLONE | libc::AT_RECURSIVE;
const MOUNT_ATTR_RDONLY: u64 = 1;
const MOUNT_ATTR_NODEV: u64 = 4;

#[repr(C)]
#[derive(Default)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// A copy of what is mounted at a path and below, which is nowhere yet.
pub struct Tree {
    descriptor: OwnedFd,
    pub is_directory: bool,
}

impl Tree {
    pub fn copy(path: &Path) -> io::Result<Tree> {
        Tree::open(libc::AT_FDCWD, &text(path)?, COPIED, path.is_dir())
    }

    /// The same of what is open.
    pub fn copy_of(file: &OwnedFd) -> io::Result<Tree> {
        let kind = place::status(file)?.st_mode & libc::S_IFMT;
        let flags = COPIED | libc::AT_EMPTY_PATH;
        Tree::open(file.as_raw_fd(), c"", flags, kind == libc::S_IFDIR)
    }

    /// The mount at a path itself, and those below. It is moved when it is attached.
    pub fn at(path: &Path) -> io::Result<Tree> {
        Tree::open(libc::AT_FDCWD, &text(path)?, 0, path.is_dir())
    }

    fn open(at: i32, name: &CStr, flags: libc::c_int, is_directory: bool) -> io::Result<Tree> {
        let flags = flags | libc::O_CLOEXEC;
        // SAFETY: a path that ends with NUL, and numbers.
        let tree = unsafe { libc::syscall(libc::SYS_open_tree, at, name.as_ptr(), flags) };
        if tree < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened, and nobody else's.
        let descriptor = unsafe { OwnedFd::from_raw_fd(tree as i32) };
        Ok(Tree { descriptor, is_directory })
    }

    /// Where it can be reached while it is nowhere.
    pub fn into_descriptor(self) -> OwnedFd {
        self.descriptor
    }

    /// Nothing in it is a device.
    pub fn without_devices(self) -> io::Result<Tree> {
        let attributes = Attributes { set: MOUNT_ATTR_NODEV, ..Attributes::default() };
        set_attributes(self.descriptor.as_raw_fd(), c"", libc::AT_EMPTY_PATH, &attributes)?;
        Ok(self)
    }

    /// Nothing in it is written to.
    pub fn read_only(self) -> io::Result<Tree> {
        let attributes = Attributes { set: MOUNT_ATTR_RDONLY, ..Attributes::default() };
        let flags = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
        set_attributes(self.descriptor.as_raw_fd(), c"", flags, &attributes)?;
        Ok(self)
    }

    /// Mounts it there.
    pub fn attach(self, path: &Path) -> io::Result<()> {
        self.attach_at(libc::AT_FDCWD, &text(path)?, 0)
    }

    /// Mounts it over what is open.
    pub fn attach_over(self, file: &OwnedFd) -> io::Result<()> {
        self.attach_at(file.as_raw_fd(), c"", MOVE_MOUNT_T_EMPTY_PATH)
    }

    fn attach_at(self, at: i32, name: &CStr, flags: libc::c_int) -> io::Result<()> {
        let tree = self.descriptor.as_raw_fd();
        let (none, name) = (c"".as_ptr(), name.as_ptr());
        let flags = flags | MOVE_MOUNT_F_EMPTY_PATH;
        // SAFETY: paths that end with NUL, and numbers.
        let result = unsafe { libc::syscall(libc::SYS_move_mount, tree, none, at, name, flags) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// Nothing is written below this path any more, as far as there are mounts now.
pub fn make_read_only(path: &Path) -> io::Result<()> {
    let attributes = Attributes { set: MOUNT_ATTR_RDONLY, ..Attributes::default() };
    set_attributes(libc::AT_FDCWD, &text(path)?, libc::AT_RECURSIVE, &attributes)
}

/// The same for the mount at this path alone.
pub fn make_read_only_alone(path: &Path) -> io::Result<()> {
    let attributes = Attributes { set: MOUNT_ATTR_RDONLY, ..Attributes::default() };
    set_attributes(libc::AT_FDCWD, &text(path)?, 0, &attributes)
}

/// The mount at this path, and it alone, can be written to again.
pub fn make_writable(path: &Path) -> io::Result<()> {
    let attributes = Attributes { clear: MOUNT_ATTR_RDONLY, ..Attributes::default() };
    set_attributes(libc::AT_FDCWD, &text(path)?, 0, &attributes)
}

/// Puts a copy in its place, which is made where that is in one of our own file systems.
pub fn put(tree: Tree, path: &Path, is_writable: bool) -> io::Result<()> {
    if !path.exists() {
        make_place(path, tree.is_directory)?;
    }
    tree.attach(path)?;
    if is_writable { Ok(()) } else { make_read_only(path) }
}

/// Makes what something can be mounted on.
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

/// What is mounted from now on is seen here alone, and what is mounted outside is not.
pub fn part_from_outside() -> io::Result<()> {
    mount(None, Path::new("/"), None, libc::MS_REC | libc::MS_PRIVATE, c"")
}

/// Mounts a file system of this kind.
pub fn mount_new(kind: &CStr, path: &Path, flags: u64, options: &CStr) -> io::Result<()> {
    mount(Some(kind), path, Some(kind), flags | libc::MS_NOSUID, options)
}

/// What is mounted there is nowhere any more, but where copies of it are.
pub fn unmount(path: &Path) -> io::Result<()> {
    let name = text(path)?;
    // SAFETY: a path that ends with NUL.
    done(unsafe { libc::umount2(name.as_ptr(), libc::MNT_DETACH) })
}

/// Mounts what is at a path, and below, at another one too.
pub fn bind(source: &Path, path: &Path) -> io::Result<()> {
    mount(Some(&text(source)?), path, None, libc::MS_BIND | libc::MS_REC, c"")
}

/// Makes an entry that says, in a layer of an overlay, that there is no such file in those below.
pub fn make_whiteout(path: &Path) -> io::Result<()> {
    let name = text(path)?;
    // SAFETY: a path that ends with NUL, and numbers. Anybody may make this device.
    done(unsafe { libc::mknod(name.as_ptr(), libc::S_IFCHR, 0) })
}

/// Where every file system that is mounted here can be found.
pub fn all() -> Vec<PathBuf> {
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    let places = table.split(|byte| *byte == b'\n');
    places.filter_map(|line| line.split(|byte| *byte == b' ').nth(4)).map(unescaped).collect()
}

/// The flag of a mount from which nothing is run, if it is one.
pub fn execution(path: &Path) -> io::Result<u64> {
    let name = text(path)?;
    // SAFETY: valid as zeros; fills the structure.
    unsafe {
        let mut status: libc::statvfs = std::mem::zeroed();
        done(libc::statvfs(name.as_ptr(), &mut status))?;
        Ok(status.f_flag & libc::MS_NOEXEC)
    }
}

/// The mode of a directory that gives all the rights that this user has in another.
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

/// A path of the kernel's tables, in which blanks and their like are octal numbers.
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

fn done(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn mount(
    source: Option<&CStr>,
    path: &Path,
    kind: Option<&CStr>,
    flags: u64,
    options: &CStr,
) -> io::Result<()> {
    let pointer = |name: Option<&CStr>| name.map_or(null(), CStr::as_ptr);
    let name = text(path)?;
    // SAFETY: names that end with NUL, or none.
    let result = unsafe {
        libc::mount(pointer(source), name.as_ptr(), pointer(kind), flags, options.as_ptr().cast())
    };
    done(result)
}

fn set_attributes(
    directory: libc::c_int,
    path: &CStr,
    flags: libc::c_int,
    attributes: &Attributes,
) -> io::Result<()> {
    let size = size_of::<Attributes>();
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
