//! Opening of files for writing at paths where a command in a sandbox may have put links or special files.
//!
//! Down to the first directory that commands in a sandbox can write to, a path is the user's own, links
//! included. From there on a command may have made every part of it, and may change it at any moment: no link
//! is followed there, and only a regular file is opened.

mod reach;
#[cfg(test)]
mod tests;
mod walk;

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, ftruncate, open, openat, openat2};
use rustix::io::Errno;

pub use reach::Reach;
use walk::{Found, find};

/// The reason why a file was not opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The errno.
    pub errno: i32,
    /// More than the errno tells, if known.
    pub why: Option<String>,
}

/// The treatment of a file that exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Empty it.
    Empty,
    /// Fail with EEXIST.
    Refuse,
}

/// Opens a file for writing. Creates it with mode 0600, or empties it.
///
/// Names of a device or of a descriptor of the host (`/dev/stderr`, `/proc/self/fd/3`) are opened as they
/// are.
pub fn open_for_writing(path: &Path, existing: Existing, reach: &Reach) -> Result<File, Refusal> {
    // Without NONBLOCK, opening a FIFO that has no reader would block for ever.
    let common = OFlags::WRONLY
        | OFlags::CREATE
        | OFlags::NONBLOCK
        | OFlags::NOCTTY
        | OFlags::CLOEXEC
        | if existing == Existing::Refuse { OFlags::EXCL } else { OFlags::empty() };
    let emptied = match existing {
        Existing::Refuse => common,
        Existing::Empty => common | OFlags::TRUNC,
    };
    if names_own_descriptor(path) {
        return Ok(open(path, emptied, MODE).map_err(plain)?.into());
    }
    match find(path, reach).map_err(plain)? {
        Found::Trusted(path) => {
            let opened = open(&path, emptied | OFlags::NOFOLLOW, MODE);
            Ok(opened.map_err(|errno| explain(errno, Path::new(""), &path))?.into())
        }
        Found::Reachable { base, rest } => {
            let opened = open_beneath(&base, &rest, common | OFlags::NOFOLLOW);
            let file = opened.map_err(|errno| explain(errno, &base, &rest))?;
            // The file is emptied only now, when it is known to be a regular file.
            if existing == Existing::Empty {
                ftruncate(&file, 0).map_err(plain)?;
            }
            Ok(file)
        }
    }
}

const MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Opens a regular file. Follows no link below `base`, which may be a link itself.
fn open_beneath(base: &Path, rest: &Path, flags: OFlags) -> Result<File, Errno> {
    let held = open(base, DIRECTORY, Mode::empty())?;
    let file = match open_at_once(held.as_fd(), rest, flags) {
        // Kernels before 5.6 do not have the call, and some containers' seccomp filters refuse it.
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => open_by_parts(held, rest, flags),
        opened => opened,
    }?;
    let is_file = FileType::from_raw_mode(fstat(&file)?.st_mode).is_file();
    if is_file { Ok(file.into()) } else { Err(Errno::NXIO) }
}

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

fn open_at_once(base: BorrowedFd, rest: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(base, rest, flags, MODE, resolve)
}

fn open_by_parts(base: OwnedFd, rest: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut held = base;
    let mut parts = rest.components().peekable();
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else { return Err(Errno::XDEV) };
        if parts.peek().is_none() {
            return openat(&held, name, flags, MODE);
        }
        held = openat(&held, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Err(Errno::ISDIR)
}

/// Returns whether a path is one of the kernel's names for something of the host. No command creates those.
pub fn names_own_descriptor(path: &Path) -> bool {
    let shared = Path::new("/dev/shm");
    (path.starts_with("/dev") && !path.starts_with(shared)) || path.starts_with("/proc")
}

fn plain(errno: Errno) -> Refusal {
    Refusal { errno: errno.raw_os_error(), why: None }
}

/// Explains the error by what is at the path now.
fn explain(errno: Errno, base: &Path, rest: &Path) -> Refusal {
    match errno {
        // For a link in place of a directory, the kernel returns either of the two.
        Errno::LOOP | Errno::NOTDIR => {
            link_on(base, rest).map_or(plain(errno), |(link, target)| {
                let why = format!("expected a file, got a link: '{link}' -> '{target}'");
                Refusal { errno: Errno::LOOP.raw_os_error(), why: Some(why) }
            })
        }
        Errno::NXIO => {
            let path = base.join(rest);
            let kind = path.symlink_metadata().map_or("no file", |found| kind_of(&found));
            let why = format!("expected a file, got {kind}: '{}'", path.display());
            Refusal { errno: errno.raw_os_error(), why: Some(why) }
        }
        _ => plain(errno),
    }
}

/// Returns the first link on the path, and its target.
fn link_on(base: &Path, rest: &Path) -> Option<(String, String)> {
    let show = |path: &Path| path.display().to_string();
    let mut path = PathBuf::from(base);
    rest.components().find_map(|part| {
        path.push(part);
        let target = path.read_link().ok()?;
        Some((show(&path), show(&target)))
    })
}

fn kind_of(found: &std::fs::Metadata) -> &'static str {
    let kind = found.file_type();
    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_block_device() || kind.is_char_device() {
        "a device"
    } else {
        "no file"
    }
}
