//! How a node from before differs from what it is now.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::extents::extents;
use crate::node::{NodeKind, NodeStatus, look};
use crate::open::{Pairs, attributes_of, target_of};
use crate::reader::journals::OpenJournal;
use crate::reader::past::{KeptContent, PastNode};
use crate::reader::reach::open_path;
use crate::record::KeptPlace;
use crate::store::{PACK, own_name};

/// The bytes that are compared or written at once.
const PIECE: usize = 1 << 16;

/// The bytes on the disk that a file may take for itself.
const SLACK: u64 = 1 << 16;

/// What differs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    pub content: bool,
    /// Mode or owner.
    pub mode: bool,
    /// Extended attributes.
    pub attributes: bool,
    /// When the content was changed; not of directories.
    pub times: bool,
}

impl Differences {
    /// Returns whether anything does.
    pub fn any(self) -> bool {
        self != Differences::default()
    }
}

/// A content that was kept, open.
#[derive(Debug)]
pub(crate) struct KeptFile {
    file: File,
    pub size: u64,
    /// As (offset in the file, offset here, length).
    parts: Vec<(u64, u64, u64)>,
}

/// Opens a content.
pub(crate) fn open_kept(journals: &[OpenJournal], kept: &KeptContent) -> Result<KeptFile, Errno> {
    let journal = journals.get(kept.journal).ok_or(Errno::NOENT)?;
    let open = |name: &str| {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&journal.directory, name, flags, Mode::empty()).map(File::from)
    };
    let (file, parts) = match &kept.place {
        KeptPlace::Pack { start, extents } => {
            let mut at = *start;
            let parts = extents.iter().map(|(offset, length)| {
                let part = (*offset, at, *length);
                at = at.saturating_add(*length);
                part
            });
            (open(PACK)?, parts.collect())
        }
        KeptPlace::Own { number } => {
            let file = open(&own_name(*number))?;
            let stored = look(file.as_fd())?.stored;
            let parts = extents(&file, kept.size, stored)?;
            (file, parts.into_iter().map(|(offset, length)| (offset, offset, length)).collect())
        }
    };
    Ok(KeptFile { file, size: kept.size, parts })
}

impl KeptFile {
    /// Returns whether a file has this content, holes at the same places.
    pub fn is_in(&self, file: &File, status: &NodeStatus) -> Result<bool, Errno> {
        if status.size != self.size {
            return Ok(false);
        }
        let now = extents(file, status.size, status.stored)?;
        let kept = self.parts.iter().map(|(offset, _, length)| (*offset, *length));
        if !now.into_iter().eq(kept) {
            return Ok(false);
        }
        let (mut ours, mut theirs) = (vec![0; PIECE], vec![0; PIECE]);
        for (offset, here, length) in &self.parts {
            for (from, length) in pieces(*length) {
                let (Some(ours), Some(theirs)) = (ours.get_mut(..length), theirs.get_mut(..length))
                else {
                    return Ok(false);
                };
                read(&self.file, ours, here + from)?;
                read(file, theirs, offset + from)?;
                if ours != theirs {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Makes this the content of a file, which is open for writing.
    pub fn write_to(&self, file: &File) -> Result<(), Errno> {
        let failed = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
        file.set_len(0).map_err(failed)?;
        let mut bytes = vec![0; PIECE];
        for (offset, here, length) in &self.parts {
            for (from, length) in pieces(*length) {
                let Some(bytes) = bytes.get_mut(..length) else { break };
                read(&self.file, bytes, here.saturating_add(from))?;
                file.write_all_at(bytes, offset.saturating_add(from)).map_err(failed)?;
            }
        }
        file.set_len(self.size).map_err(failed)
    }
}

/// Divides a length into pieces, as (offset, length).
fn pieces(length: u64) -> impl Iterator<Item = (u64, usize)> {
    (0..length)
        .step_by(PIECE)
        .map(move |from| (from, usize::try_from(length - from).unwrap_or(PIECE).min(PIECE)))
}

fn read(file: &File, into: &mut [u8], at: u64) -> Result<(), Errno> {
    file.read_exact_at(into, at)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::NODATA))
}

/// Returns whether a file takes more of the disk than it did: there may be blocks behind its end.
pub(crate) fn takes_more(node: &PastNode, now: &NodeStatus) -> bool {
    now.stored > node.record.status.stored.saturating_add(SLACK)
}

/// Compares a node with how it was. `path`: where it is.
pub(crate) fn differences(
    journals: &[OpenJournal],
    node: &PastNode,
    path: &[u8],
    now: &NodeStatus,
) -> Result<Differences, Errno> {
    let before = &node.record.status;
    if now.changed == before.changed && now.id == before.id {
        return Ok(Differences::default());
    }
    let mode = (before.mode, before.uid, before.gid) != (now.mode, now.uid, now.gid);
    let is_directory = before.kind() == NodeKind::Directory;
    let times = !is_directory && before.modified != now.modified;
    let content = match &node.content {
        _ if before.mode & libc::S_IFMT != now.mode & libc::S_IFMT => true,
        _ if before.kind() == NodeKind::Link => {
            target_of(open_path(path)?.as_fd())? != node.record.target
        }
        _ if before.kind() == NodeKind::Other => before.special != now.special,
        Some(kept) => {
            let kept = open_kept(journals, kept)?;
            match open_to_read(path) {
                // What can't be read is judged by its length and times.
                Err(Errno::ACCESS) => now.size != kept.size || times,
                _ if now.size != kept.size || takes_more(node, now) => true,
                file => !kept.is_in(&file?, now)?,
            }
        }
        None => {
            before.kind() == NodeKind::File
                && (before.size != now.size || node.lost.is_some() && times)
        }
    };
    let attributes = match open_path(path).and_then(|file| all_attributes(&file)) {
        Ok(attributes) => attributes != node.record.attributes,
        Err(_) => false,
    };
    Ok(Differences { content, mode, attributes, times })
}

/// Opens a file to read, not what a link leads to.
pub(crate) fn open_to_read(path: &[u8]) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    openat(CWD, path, flags, Mode::empty()).map(File::from)
}

/// Returns the extended attributes of what is open to look at.
pub(crate) fn all_attributes(file: &OwnedFd) -> Result<Pairs, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let proc = openat(CWD, c"/proc", flags, Mode::empty())?;
    attributes_of(proc.as_fd(), file.as_fd())
}
