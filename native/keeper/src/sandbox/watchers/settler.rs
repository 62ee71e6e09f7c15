//! Changes to settings that are kept by mounts. In the sandbox a name with a mount on it can't be removed
//! or replaced by anybody. This process has a second mount namespace, without those mounts: there it makes
//! the change, by which the kernel takes the mount away; then it mounts over the new file.
//!
//! In between, the file can be reached in the sandbox as any other. So a lease is taken on it before it gets
//! its name: if a process has opened it for writing by the end, the file is removed again.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use forkline_protocol::{pair, receive, send};
use rustix::fs::{AtFlags, Mode, OFlags, linkat, mkdirat, openat, renameat, symlinkat, unlinkat};
use rustix::mount::UnmountFlags;

use crate::sandbox::namespaces::WardenInput;
use crate::sandbox::place;
use crate::sandbox::plan::Plan;
use crate::sandbox::watchers::leased::LeasedFile;

/// The longest content of a setting.
pub const LONGEST: usize = 1024 * 1024;
/// The longest request: a path, a word and a target.
pub const LONGEST_REQUEST: usize = 3 * libc::PATH_MAX as usize;

/// A change to make, by the path of the setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Puts a file there; the content comes with the request. `is_new`: nothing may be there.
    Put {
        mode: u32,
        is_new: bool,
    },
    Link {
        target: Vec<u8>,
    },
    Directory {
        mode: u32,
    },
    Remove,
    RemoveDirectory,
}

/// The two mount namespaces.
pub struct Settler {
    sandbox: File,
    own: File,
}

impl Settler {
    /// Makes the second namespace. `kept`: the settings. The calling process has one thread, and is in the
    /// sandbox's mount namespace.
    pub fn new(kept: &[PathBuf]) -> io::Result<Settler> {
        let sandbox = namespace()?;
        // SAFETY: takes a number only.
        done(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
        let own = namespace()?;
        for path in kept {
            // An error: it is not a mount.
            let _ = rustix::mount::unmount(path, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
        }
        let settler = Settler { sandbox, own };
        settler.enter(&settler.sandbox)?;
        Ok(settler)
    }

    /// Returns the descriptors that must stay open.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let proc = crate::outside::proc().into_iter();
        [self.sandbox.as_fd(), self.own.as_fd()].into_iter().chain(proc)
    }

    /// Takes a request, and answers it. `cover` mounts over what has been put there. Returns false at the
    /// end of requests.
    pub fn serve(&self, requests: &OwnedFd, cover: &impl Fn()) -> bool {
        let mut text = vec![0; LONGEST_REQUEST];
        let Ok(received) = receive(requests.as_fd(), &mut text) else { return true };
        if received.length == 0 {
            return false;
        }
        let content = received.descriptors.into_iter().next();
        let result = match text.get(..received.length).and_then(decode) {
            Some((path, change)) => self.make(&path, &change, content, cover),
            None => Err(io::ErrorKind::InvalidInput.into()),
        };
        let errno = result.err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
        let _ = send(requests.as_fd(), [&errno.to_le_bytes(), b""], &[]);
        true
    }

    fn make(
        &self,
        path: &Path,
        change: &Change,
        content: Option<OwnedFd>,
        cover: &impl Fn(),
    ) -> io::Result<()> {
        let file = self.outside(|| {
            let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
                return Err(io::ErrorKind::InvalidInput.into());
            };
            let above = place::open(above)?;
            change_at(&above, name, change, content)
        })?;
        cover();
        match (file, change) {
            (Some(file), _) if !(file.is_untouched() && self.outside(|| file.is_at(path))?) => {
                self.outside(|| Ok(rustix::fs::unlink(path)?))?;
                Err(io::Error::from_raw_os_error(libc::ETXTBSY))
            }
            (_, Change::Directory { .. }) if self.outside(|| has_entries(path))? => {
                // What a process has put there before it was covered.
                self.outside(|| std::fs::remove_dir_all(path))?;
                Err(io::Error::from_raw_os_error(libc::ENOTEMPTY))
            }
            _ => Ok(()),
        }
    }

    /// Acts in the namespace without the mounts.
    fn outside<T>(&self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.enter(&self.own)?;
        let result = act();
        if self.enter(&self.sandbox).is_err() {
            // Nothing may be done in the wrong place.
            std::process::abort();
        }
        result
    }

    fn enter(&self, namespace: &File) -> io::Result<()> {
        // SAFETY: takes numbers only.
        done(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNS) }).map(drop)
    }
}

/// Makes the socket on which the warden asks for changes: its end, and the settler's. None: no setting is
/// judged.
pub fn sockets(plan: &Plan, given: &WardenInput) -> (Option<OwnedFd>, Option<OwnedFd>) {
    let is_judged = !plan.repositories.is_empty() && !given.git.is_empty();
    is_judged.then(pair).and_then(Result::ok).unzip()
}

fn namespace() -> io::Result<File> {
    // `/proc/self` is of the sandbox's processes, to which this one does not belong.
    let proc = crate::outside::proc().ok_or(io::ErrorKind::NotFound)?;
    let file = openat(proc, c"self/ns/mnt", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    Ok(file.into())
}

fn change_at(
    above: &OwnedFd,
    name: &OsStr,
    change: &Change,
    content: Option<OwnedFd>,
) -> io::Result<Option<LeasedFile>> {
    match change {
        Change::Put { mode, is_new } => {
            let mut bytes = Vec::new();
            let content = File::from(content.ok_or(io::ErrorKind::InvalidInput)?);
            content.take(LONGEST as u64).read_to_end(&mut bytes)?;
            return put(above, name, bytes, *mode, *is_new).map(Some);
        }
        Change::Link { target } => symlinkat(OsStr::from_bytes(target), above, name)?,
        Change::Directory { mode } => mkdirat(above, name, Mode::from_raw_mode(*mode))?,
        Change::Remove => unlinkat(above, name, AtFlags::empty())?,
        Change::RemoveDirectory => unlinkat(above, name, AtFlags::REMOVEDIR)?,
    }
    Ok(None)
}

/// Writes a file without a name, and gives it one.
fn put(
    above: &OwnedFd,
    name: &OsStr,
    content: Vec<u8>,
    mode: u32,
    is_new: bool,
) -> io::Result<LeasedFile> {
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    let mut writing = File::from(openat(above, c".", flags, Mode::from_raw_mode(0o600))?);
    writing.write_all(&content)?;
    rustix::fs::fchmod(&writing, Mode::from_raw_mode(mode))?;
    let proc = crate::outside::proc().ok_or(io::ErrorKind::NotFound)?;
    let opened = |file: &File| format!("self/fd/{}", file.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let reading = File::from(openat(proc, opened(&writing), flags, Mode::empty())?);
    drop(writing);
    let path = opened(&reading);
    let link = |name: &OsStr| linkat(proc, &*path, above, name, AtFlags::SYMLINK_FOLLOW);
    let leased = LeasedFile::new(reading, content)?;
    if is_new {
        link(name)?;
        return Ok(leased);
    }
    let temporary = format!(".forkline-{:016x}", random()?);
    link(OsStr::new(&temporary))?;
    let renamed = renameat(above, &*temporary, above, name);
    if renamed.is_err() {
        let _ = unlinkat(above, &*temporary, AtFlags::empty());
    }
    renamed?;
    Ok(leased)
}

fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    // SAFETY: fills the buffer of the given length.
    match unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) } {
        8 => Ok(u64::from_ne_bytes(bytes)),
        _ => Err(io::Error::last_os_error()),
    }
}

fn has_entries(path: &Path) -> io::Result<bool> {
    Ok(std::fs::read_dir(path)?.next().is_some())
}

/// Encodes a request.
pub fn encode(path: &Path, change: &Change) -> Vec<u8> {
    let (word, number, rest): (_, u32, &[u8]) = match change {
        Change::Put { mode, is_new: true } => (b'p', *mode, b""),
        Change::Put { mode, is_new: false } => (b'r', *mode, b""),
        Change::Link { target } => (b'l', 0, target),
        Change::Directory { mode } => (b'd', *mode, b""),
        Change::Remove => (b'u', 0, b""),
        Change::RemoveDirectory => (b'x', 0, b""),
    };
    [&[word][..], &number.to_le_bytes(), path.as_os_str().as_bytes(), b"\0", rest].concat()
}

fn decode(bytes: &[u8]) -> Option<(PathBuf, Change)> {
    let (head, rest) = bytes.split_at_checked(5)?;
    let (word, mode) = head.split_first()?;
    let mode = u32::from_le_bytes(mode.try_into().ok()?);
    let end = rest.iter().position(|byte| *byte == 0)?;
    let path = PathBuf::from(OsStr::from_bytes(rest.get(..end)?));
    let change = match word {
        b'p' => Change::Put { mode, is_new: true },
        b'r' => Change::Put { mode, is_new: false },
        b'l' => Change::Link { target: rest.get(end + 1..)?.to_vec() },
        b'd' => Change::Directory { mode },
        b'u' => Change::Remove,
        b'x' => Change::RemoveDirectory,
        _ => return None,
    };
    Some((path, change))
}

fn done(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let link = Change::Link { target: b"a b".to_vec() };
        let all = [
            Change::Put { mode: 0o644, is_new: true },
            Change::Put { mode: 0o755, is_new: false },
            link,
            Change::Directory { mode: 0o755 },
            Change::Remove,
            Change::RemoveDirectory,
        ];
        let path = PathBuf::from("/w/.vscode/a");
        for change in all {
            assert_eq!(decode(&encode(&path, &change)), Some((path.clone(), change)));
        }
        assert_eq!(decode(b""), None);
        assert_eq!(decode(b"p\0\0\0\0/w"), None);
    }
}
