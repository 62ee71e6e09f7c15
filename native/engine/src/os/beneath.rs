//! Files that the host opens for writing at paths where a command in a sandbox may have put links, or
//! what is no file.
//!
//! Down to the first directory that commands in a sandbox can write to a path is the user's own, links
//! included. From there on a command may have made every part of it, and may change it at any moment:
//! no link is followed there, and only a regular file is opened.

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

/// Why a file was not opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The errno.
    pub errno: i32,
    /// What that does not tell.
    pub why: Option<String>,
}

/// What becomes of a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is emptied.
    Empty,
    /// Opening fails with EEXIST.
    Refuse,
}

/// Opens a file for writing; makes it, with mode 0600, or empties it.
///
/// What names a device or a descriptor of the host's (`/dev/stderr`,
/// `/proc/self/fd/3`) is opened as it is.
pub fn open_for_writing(path: &Path, existing: Existing, reach: &Reach) -> Result<File, Refusal> {
    // Without NONBLOCK, a FIFO that nobody reads would block us for ever.
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
            // Only now: what it is decides.
            if existing == Existing::Empty {
                ftruncate(&file, 0).map_err(plain)?;
            }
            Ok(file)
        }
    }
}

const MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// A regular file, without a link on the way from `base`, which may be one itself.
fn open_beneath(base: &Path, rest: &Path, flags: OFlags) -> Result<File, Errno> {
    let held = open(base, DIRECTORY, Mode::empty())?;
    let file = match open_at_once(held.as_fd(), rest, flags) {
        // A kernel before 5.6, or a container's filter that does not know the call.
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

/// Whether a path is a name of the kernel's for something that the host has: no command makes those.
pub fn names_own_descriptor(path: &Path) -> bool {
    let shared = Path::new("/dev/shm");
    (path.starts_with("/dev") && !path.starts_with(shared)) || path.starts_with("/proc")
}

fn plain(errno: Errno) -> Refusal {
    Refusal { errno: errno.raw_os_error(), why: None }
}

/// Says what stands in the way, by what is there now.
fn explain(errno: Errno, base: &Path, rest: &Path) -> Refusal {
    match errno {
        // Of a link where a directory is wanted, the kernel says either.
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

/// The first link, and where it leads.
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
