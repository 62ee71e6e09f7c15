//! Changes to settings that are kept by mounts. In the sandbox a name with a mount on it can't be removed
//! or replaced by anybody. This process has a second mount namespace, without those mounts: there it renames
//! what has been made ready and covered elsewhere, and moves away what is to be removed. Mounts follow what
//! is renamed, so that nothing is ever seen in the sandbox without its mount.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use forkline_protocol::{pair, receive, send};
use rustix::fs::{Mode, OFlags, openat};
use rustix::mount::UnmountFlags;

use crate::sandbox::namespaces::WardenInput;
use crate::sandbox::plan::{Plan, Repository};
use crate::sandbox::watchers::change::{Change, LONGEST_REQUEST, decode};
use crate::sandbox::watchers::making::MakingPlaces;

/// The two mount namespaces, and where settings are made ready.
pub struct Settler {
    sandbox: File,
    own: File,
    places: MakingPlaces,
}

impl Settler {
    /// Makes the second namespace. The calling process has one thread, and is in the sandbox's mount
    /// namespace; no command runs yet. Returns the settings that can be changed as well.
    ///
    /// `beneath`: git's directories, as they are seen without their covers.
    pub fn new(
        repositories: &[Repository],
        beneath: &[(PathBuf, OwnedFd)],
    ) -> io::Result<(Settler, Vec<PathBuf>)> {
        let sandbox = namespace()?;
        let (places, placed) = MakingPlaces::of(repositories, beneath);
        // SAFETY: takes a number only.
        done(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
        let own = namespace()?;
        for path in repositories.iter().flat_map(|repository| &repository.settings) {
            // An error: it is not a mount.
            let _ = rustix::mount::unmount(path, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
        }
        let settler = Settler { sandbox, own, places };
        settler.enter(&settler.sandbox)?;
        Ok((settler, placed))
    }

    /// Returns the descriptors that must stay open.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let proc = crate::outside::proc().into_iter();
        let own = [self.sandbox.as_fd(), self.own.as_fd()].into_iter();
        own.chain(self.places.descriptors()).chain(proc)
    }

    /// Takes a request, and answers it. Returns false at the end of requests.
    pub fn serve(&self, requests: &OwnedFd) -> bool {
        let mut text = vec![0; LONGEST_REQUEST];
        let Ok(received) = receive(requests.as_fd(), &mut text) else { return true };
        if received.length == 0 {
            self.places.remove();
            return false;
        }
        let content = received.descriptors.into_iter().next();
        let result = match text.get(..received.length).and_then(decode) {
            Some((path, change)) => self.make(&path, &change, content),
            None => Err(io::ErrorKind::InvalidInput.into()),
        };
        let errno = result.err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
        let _ = send(requests.as_fd(), [&errno.to_le_bytes(), b""], &[]);
        true
    }

    fn make(&self, path: &Path, change: &Change, content: Option<OwnedFd>) -> io::Result<()> {
        let name = self.places.find(path)?;
        let ready = name.make_ready(change, content)?;
        self.outside(|| name.change(change, ready.as_deref()))
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

fn done(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
