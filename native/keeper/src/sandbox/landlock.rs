//! Landlock: a second wall round what can be written to, and what it alone can do: nobody looks into,
//! or signals, who is outside, and nothing is mounted any more.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A ruleset that is being made.
pub struct Ruleset {
    descriptor: OwnedFd,
    version: i32,
    handled: u64,
}

#[repr(C)]
struct RulesetAttributes {
    files: u64,
    network: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: i32,
}

const WRITE_FILE: u64 = 1 << 1;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEVICE: u64 = 1 << 15;
/// Removing, making of every kind, linking elsewhere: all that changes directories.
const CHANGE: u64 = 0b11_1111_1111 << 4;
/// Making devices.
const MAKE_DEVICE: u64 = 1 << 6 | 1 << 11;
const ABSTRACT_SOCKETS: u64 = 1;
const SIGNALS: u64 = 1 << 1;
const PATH_BENEATH: i32 = 1;

impl Ruleset {
    /// Of all that this kernel knows of writing. `keeps_signals`: nobody outside is signalled.
    pub fn new() -> io::Result<Ruleset> {
        let version = version()?;
        let mut handled = WRITE_FILE | CHANGE;
        if version < 2 {
            handled &= !(1 << 13);
        }
        if version >= 3 {
            handled |= TRUNCATE;
        }
        if version >= 5 {
            handled |= IOCTL_DEVICE;
        }
        let scoped = if version >= 6 { ABSTRACT_SOCKETS | SIGNALS } else { 0 };
        let attributes = RulesetAttributes { files: handled, network: 0, scoped };
        // An older kernel takes as much of it as it knows.
        let size = if version >= 6 { 24 } else { 8 };
        // SAFETY: reads so many bytes of the structure.
        let descriptor = unsafe {
            libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attributes, size, 0)
        };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just made, and nobody else's.
        let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor as i32) };
        Ok(Ruleset { descriptor, version, handled })
    }

    /// Whether signals and abstract sockets are kept in.
    pub fn has_scopes(&self) -> bool {
        self.version >= 6
    }

    /// Whether what is opened can be emptied only where it can be written to, and moved from one
    /// directory to another.
    pub fn is_complete(&self) -> bool {
        self.version >= 3
    }

    /// Everything below this path can be changed, but no device can be made.
    pub fn allow(&self, path: &Path) -> io::Result<()> {
        let files = WRITE_FILE | TRUNCATE | IOCTL_DEVICE;
        let allowed = if path.is_dir() { files | CHANGE & !MAKE_DEVICE } else { files };
        self.add(path, allowed)
    }

    /// The files below this path can be written to, and none can be made or removed.
    pub fn allow_files(&self, path: &Path) -> io::Result<()> {
        self.add(path, WRITE_FILE | TRUNCATE | IOCTL_DEVICE)
    }

    fn add(&self, path: &Path, allowed: u64) -> io::Result<()> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: a path that ends with NUL.
        let parent = unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
        if parent < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened, and nobody else's.
        let parent = unsafe { OwnedFd::from_raw_fd(parent) };
        let rule = PathBeneath { allowed: allowed & self.handled, parent: parent.as_raw_fd() };
        let ruleset = self.descriptor.as_raw_fd();
        // SAFETY: reads the structure.
        let result = unsafe {
            libc::syscall(libc::SYS_landlock_add_rule, ruleset, PATH_BENEATH, &raw const rule, 0)
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// The calling thread, and whatever it starts, is bound by it. There is no way back.
    pub fn enter(self) -> io::Result<()> {
        let ruleset = self.descriptor.as_raw_fd();
        // SAFETY: takes numbers only.
        let result = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// The version that this kernel speaks.
fn version() -> io::Result<i32> {
    const VERSION: libc::c_int = 1;
    let none = std::ptr::null::<libc::c_void>();
    // SAFETY: asks for a number, and makes nothing.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0, VERSION) };
    if version > 0 { Ok(version as i32) } else { Err(io::Error::last_os_error()) }
}
