//! Makes a node anew that is gone, whole before it gets a name.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{FileType, Mode, OFlags, mkdirat, mknodat, openat, symlinkat};
use rustix::io::Errno;

use crate::node::{NodeId, NodeKind, look};
use crate::open::open_node;
use crate::reader::compare::open_kept;
use crate::record::LogRecord;
use crate::revert::acting::Acting;
use crate::revert::attributes;

impl Acting<'_> {
    /// Makes a node in the directory for such things, of the file system where it is to be. Returns its path.
    pub fn remake(&mut self, id: NodeId, for_directory: BorrowedFd) -> Result<Vec<u8>, Errno> {
        let device = look(for_directory)?.id.device;
        let (staging, name, path) = self.stage(device)?;
        let node = self.past.nodes.get(&id).ok_or(Errno::NODATA)?;
        let record = &node.record;
        let mode = Mode::from_raw_mode(0o700);
        match record.status.kind() {
            NodeKind::Directory => mkdirat(&staging, &name, mode)?,
            NodeKind::Link => symlinkat(record.target.as_slice(), &staging, &name)?,
            NodeKind::Other => {
                let kind = FileType::from_raw_mode(record.status.mode);
                mknodat(&staging, &name, kind, mode, record.status.special)?;
            }
            NodeKind::File => {
                let kept = open_kept(self.journals, node.content.as_ref().ok_or(Errno::NODATA)?)?;
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                let file = openat(&staging, &name, flags, Mode::from_raw_mode(0o600))?;
                kept.write_to(&File::from(file))?;
            }
        }
        let made = open_node(staging.as_fd(), &name)?;
        // A directory gets its own mode last: things are put into it.
        if record.status.kind() != NodeKind::Directory {
            attributes::restore(made.as_fd(), record)?;
        }
        let new = look(made.as_fd())?.id;
        self.marks.add(&LogRecord::NodeBegun(id))?;
        self.marks.add(&LogRecord::Remade { old: id, new })?;
        self.past.remade.insert(new, id);
        Ok(path)
    }
}
