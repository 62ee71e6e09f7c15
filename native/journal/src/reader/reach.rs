//! Opens directories by their paths, those too that their owner may not enter.

use std::collections::HashMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::node::{NodeId, NodeStatus, look};
use crate::reader::past::Past;
use crate::reader::paths::split;

/// What stops `open` from going on for ever: no path has more parts.
const DEEPEST: usize = 2048;

/// What `O_PATH` opens, a link itself.
const LOOKED_AT: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Is told of a directory before its mode is changed.
pub(crate) type BeforeOpening<'a> = &'a mut dyn FnMut(&NodeStatus, &[u8]);

/// Opens directories; the last one stays open, since names come by directory.
#[derive(Debug, Default)]
pub(crate) struct DirectoryReach {
    last: Option<(NodeId, OwnedFd)>,
    /// Where a revert has put directories.
    pub placed: HashMap<NodeId, Vec<u8>>,
    /// Directories whose mode was changed so that they can be entered, with their status before and their path.
    pub opened: HashMap<NodeId, (NodeStatus, Vec<u8>)>,
}

impl DirectoryReach {
    /// Opens a directory that a journal speaks of: where it is now, or where it was. None if it is not there.
    pub fn directory(
        &mut self,
        past: &Past,
        id: NodeId,
        before: Option<BeforeOpening>,
    ) -> Result<Option<BorrowedFd<'_>>, Errno> {
        if self.last.as_ref().is_none_or(|(last, _)| *last != id) {
            self.last = self.open_directory(past, id, before)?.map(|file| (id, file));
        }
        Ok(self.last.as_ref().map(|(_, file)| file.as_fd()))
    }

    /// Forgets what is open, since things are moved.
    pub fn forget(&mut self) {
        self.last = None;
    }

    fn open_directory(
        &mut self,
        past: &Past,
        id: NodeId,
        mut before: Option<BeforeOpening>,
    ) -> Result<Option<OwnedFd>, Errno> {
        let known = past.directories.get(&id).map(|paths| [&paths.now, &paths.before]);
        let placed = self.placed.get(&id).cloned();
        let mut failure = None;
        for path in placed.iter().chain(known.into_iter().flatten()) {
            let opened = match &mut before {
                Some(before) => self.open(path, *before),
                None => open_path(path),
            };
            match opened {
                Ok(file) if past.known(look(file.as_fd())?.id) == id => return Ok(Some(file)),
                Ok(_) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                Err(errno) => failure = Some(errno),
            }
        }
        failure.map_or(Ok(None), Err)
    }

    /// Opens a path to look at; directories above that can't be entered are made such that they can.
    pub fn open(&mut self, path: &[u8], before: BeforeOpening) -> Result<OwnedFd, Errno> {
        self.open_deep(path, before, DEEPEST)
    }

    fn open_deep(
        &mut self,
        path: &[u8],
        before: BeforeOpening,
        left: usize,
    ) -> Result<OwnedFd, Errno> {
        let opened = open_path(path);
        let (Err(Errno::ACCESS), Some((above, name)), 1..) = (&opened, split(path), left) else {
            return opened;
        };
        let above_file = self.open_deep(above, before, left - 1)?;
        self.make_writable(above_file.as_fd(), above, before)?;
        openat(above_file, name, LOOKED_AT, Mode::empty())
    }

    /// Lets the owner of a directory enter and change it.
    pub fn make_writable(
        &mut self,
        directory: BorrowedFd,
        path: &[u8],
        before: BeforeOpening,
    ) -> Result<(), Errno> {
        let status = look(directory)?;
        let is_open = status.mode & 0o700 == 0o700;
        if is_open || rustix::process::geteuid().is_root() {
            return Ok(());
        }
        before(&status, path);
        self.opened.entry(status.id).or_insert_with(|| (status, path.to_vec()));
        change_mode(directory, status.permissions() | 0o700)
    }
}

/// Opens a path to look at.
pub(crate) fn open_path(path: &[u8]) -> Result<OwnedFd, Errno> {
    openat(CWD, path, LOOKED_AT, Mode::empty())
}

/// Returns how the node is that has a path; none also if that can't be told.
pub(crate) fn look_by_path(path: &[u8]) -> Option<NodeStatus> {
    look(open_path(path).ok()?.as_fd()).ok()
}

/// Changes the mode of what may be open with `O_PATH`.
pub(crate) fn change_mode(file: BorrowedFd, mode: u32) -> Result<(), Errno> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::chmod(path, Mode::from_raw_mode(mode))
}
