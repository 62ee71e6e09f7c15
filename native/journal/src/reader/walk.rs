//! What is below a directory that a command made.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::node::{Moment, NodeId, NodeKind, NodeStatus, look_for};
use crate::reader::past::Past;
use crate::reader::paths::join;
use crate::reader::reach::{BeforeOpening, DirectoryReach, open_path};

/// What a walk has seen.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// What is no directory, and no node from before.
    pub files: u64,
    /// The bytes of files.
    pub bytes: u64,
    /// What was changed last, and when.
    pub latest: Option<(Moment, Vec<u8>)>,
    /// The nodes from before that are there.
    pub found: Vec<(NodeStatus, Vec<u8>)>,
}

/// How a walk is done.
pub(crate) struct TreeWalk<'a, 'b> {
    pub past: &'a Past,
    /// The nodes from before.
    pub wanted: &'a HashSet<NodeId>,
    /// How many entries may still be looked at.
    pub left: usize,
    /// Lets it into directories that their owner may not enter.
    pub opening: Option<(&'a mut DirectoryReach, BeforeOpening<'b>)>,
}

impl TreeWalk<'_, '_> {
    /// Walks through all that is below a path; into no directory from before, which is looked at by itself.
    pub fn below(&mut self, path: &[u8], top: &NodeStatus) -> Walked {
        let mut seen = Walked::default();
        self.note_latest(&mut seen, top, path);
        let mut waiting = vec![path.to_vec()];
        while let Some(path) = waiting.pop() {
            let Ok(entries) = self.open(&path).and_then(Dir::new) else { continue };
            for entry in entries {
                let Ok(entry) = entry else { break };
                if self.left == 0 {
                    return seen;
                }
                self.left -= 1;
                self.take(entry.file_name(), &path, &mut seen, &mut waiting);
            }
        }
        seen
    }

    fn take(&mut self, name: &CStr, above: &[u8], seen: &mut Walked, waiting: &mut Vec<Vec<u8>>) {
        let path = join(above, name.to_bytes());
        if is_dots(name) {
            return;
        }
        let Ok(Some(status)) = open_path(above).and_then(|above| look_for(above.as_fd(), name))
        else {
            return;
        };
        let status = self.past.as_known(status);
        if self.wanted.contains(&status.id) {
            seen.found.push((status, path));
            return;
        }
        self.note_latest(seen, &status, &path);
        match status.kind() {
            NodeKind::Directory => waiting.push(path),
            kind => {
                seen.files += 1;
                seen.bytes += if kind == NodeKind::File { status.size } else { 0 };
            }
        }
    }

    fn note_latest(&self, seen: &mut Walked, status: &NodeStatus, path: &[u8]) {
        let is_later = seen.latest.as_ref().is_none_or(|(latest, _)| *latest < status.changed);
        if is_later && !self.past.disturbed.contains(&status.id) {
            seen.latest = Some((status.changed, path.to_vec()));
        }
    }

    fn open(&mut self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if let Some((reach, before)) = &mut self.opening {
            let file = reach.open(path, *before)?;
            reach.make_writable(file.as_fd(), path, *before)?;
        }
        openat(CWD, path, flags, Mode::empty())
    }
}

/// Returns whether a name is that of a directory itself, or of the one above.
pub(crate) fn is_dots(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

/// Returns the names in a directory.
pub(crate) fn names_in(path: &[u8]) -> Result<Vec<CString>, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut names = Vec::new();
    for entry in Dir::new(openat(CWD, path, flags, Mode::empty())?)? {
        let entry = entry?;
        if !is_dots(entry.file_name()) {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}
