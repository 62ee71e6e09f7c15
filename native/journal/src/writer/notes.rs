//! What is written down before a call, by what it is about to do.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::log::frame;
use crate::node::{NodeId, NodeKind, NodeStatus, look, look_for};
use crate::open::{attributes_of, open_again, open_node, target_of};
use crate::readable::reading;
use crate::reader::paths::split;
use crate::reader::reach::open_path;
use crate::record::{LogRecord, MoveRecord, NameRecord, NodeRecord};
use crate::writer::journal::{Announced, Journal};
use crate::writer::known::KeptNode;
use crate::writer::limits::{Fate, NameAt, NotKept, RefusedByJournal, WhenFull};

impl Journal {
    pub(super) fn note_name(&mut self, at: &NameAt, fate: Fate) -> Result<(), NotKept> {
        self.last = Announced::Other;
        let directory = look(at.directory)?.id;
        let is_known = self.known.has_name(directory, at.name.to_bytes());
        if is_known && fate == Fate::Made {
            self.expect(at, directory);
            return Ok(());
        }
        let found = look_for(at.directory, at.name)?;
        if !is_known {
            self.add_name(at, directory, found.as_ref().map(|found| found.id));
        }
        match (&found, fate) {
            (None, Fate::Made) => self.expect(at, directory),
            (Some(found), Fate::Gone | Fate::Moved) => {
                let is_gone = fate == Fate::Gone && found.kind() == NodeKind::File;
                if !self.has_enough(found, is_gone)? {
                    let file = open_node(at.directory, at.name)?;
                    self.keep(file.as_fd(), found, at.path(), is_gone)?;
                }
                if found.links > 1 && found.kind() != NodeKind::Directory {
                    self.known.loses_name(found.id);
                }
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn note_move(
        &mut self,
        from: &NameAt,
        to: &NameAt,
        is_exchange: bool,
    ) -> Result<(), NotKept> {
        self.note_name(from, Fate::Moved)?;
        self.note_name(to, if is_exchange { Fate::Moved } else { Fate::Gone })?;
        self.making.forget(look(to.directory)?.id, to.name);
        let Some(moved) = look_for(from.directory, from.name)? else { return Ok(()) };
        // Where files of its own are is of no interest: they are found by the names that they have got.
        if is_exchange || moved.kind() == NodeKind::Directory || !self.known.is_made(moved.id) {
            let (from, to) = (from.path(), to.path());
            let moved = MoveRecord { node: moved.id, from, to, is_exchange };
            self.note(&LogRecord::Moved(moved));
            self.last = Announced::Moving;
        }
        Ok(())
    }

    /// A node that is changed by its new name, which goes again, is found by the one that it had.
    pub(super) fn note_link(
        &mut self,
        file: BorrowedFd,
        path: &Path,
        to: &NameAt,
    ) -> Result<(), NotKept> {
        let found = look(file)?;
        if !self.known.is_made(found.id) {
            self.note_name_of(found.id, path.as_os_str().as_bytes());
        }
        self.note_name(to, Fate::Made)
    }

    /// Returns whether something is to be written down before the attributes of an open file change, or its content:
    /// otherwise its path need not be known.
    pub fn needs(&mut self, file: BorrowedFd, writes: bool) -> bool {
        self.settle();
        let has_enough = look(file).map(|found| {
            let writes = writes && found.kind() == NodeKind::File;
            self.has_enough(&found, writes).unwrap_or(false) && !self.known.has_lost_name(found.id)
        });
        !has_enough.unwrap_or(false)
    }

    pub(super) fn before_node(
        &mut self,
        file: BorrowedFd,
        path: &Path,
        writes: bool,
    ) -> Result<(), RefusedByJournal> {
        self.settle();
        self.last = Announced::Other;
        let bytes = || path.as_os_str().as_bytes().to_vec();
        let noted = self.note_node(file, bytes, writes).and_then(|()| self.write());
        self.judge(noted, bytes)
    }

    fn note_node(
        &mut self,
        file: BorrowedFd,
        path: impl Fn() -> Vec<u8>,
        writes: bool,
    ) -> Result<(), NotKept> {
        let found = look(file)?;
        let writes = writes && found.kind() == NodeKind::File;
        // What has no name any more can't be found by one.
        let is_nameless = found.links == 0 && found.kind() != NodeKind::Directory;
        if is_nameless {
            return Ok(());
        }
        if self.known.has_lost_name(found.id) {
            self.note_name_of(found.id, &path());
        }
        if self.has_enough(&found, writes)? {
            return Ok(());
        }
        self.keep(file, &found, path(), writes)
    }

    /// Writes down that a node has this name, by which it is found when it has lost the one by which it was seen.
    fn note_name_of(&mut self, node: NodeId, path: &[u8]) {
        let Some((above, name)) = split(path) else { return };
        let (Ok(directory), Ok(name)) = (open_path(above), CString::new(name)) else { return };
        let above = Path::new(OsStr::from_bytes(above));
        let at = NameAt { directory: directory.as_fd(), name: &name, above };
        let Ok(id) = look(at.directory).map(|found| found.id) else { return };
        let is_there =
            matches!(look_for(at.directory, at.name), Ok(Some(found)) if found.id == node);
        if is_there && !self.known.has_name(id, name.to_bytes()) {
            self.add_name(&at, id, Some(node));
            self.known.has_name_again(node);
        }
    }

    /// Returns whether nothing is to be written down of a node.
    fn has_enough(&self, found: &NodeStatus, with_content: bool) -> Result<bool, NotKept> {
        if self.known.is_made(found.id) {
            return Ok(true);
        }
        match self.known.kept(found.id) {
            None => Ok(false),
            Some(KeptNode::Content) => Ok(true),
            Some(KeptNode::Status) => Ok(!with_content),
            Some(KeptNode::Lost) if self.limits.when_full == WhenFull::Refuse && with_content => {
                Err(NotKept("it could not be kept before".to_owned()))
            }
            Some(KeptNode::Lost) => Ok(true),
        }
    }

    /// Writes down how a node is, and its content.
    fn keep(
        &mut self,
        file: BorrowedFd,
        status: &NodeStatus,
        path: Vec<u8>,
        with_content: bool,
    ) -> Result<(), NotKept> {
        let id = status.id;
        if self.known.kept(id).is_none() {
            let target = match status.kind() {
                NodeKind::Link => target_of(file)?,
                _ => Vec::new(),
            };
            let proc = self.proc.as_fd();
            let attributes = reading(proc, file, status, || attributes_of(proc, file))?;
            let node = NodeRecord { status: *status, path: path.clone(), target, attributes };
            self.note(&LogRecord::Node(node));
            self.known.keep(id, KeptNode::Status);
        }
        if !with_content {
            return Ok(());
        }
        match self.keep_content(file, status) {
            Ok(()) => self.known.keep(id, KeptNode::Content),
            Err(NotKept(reason)) => {
                self.known.keep(id, KeptNode::Lost);
                // What is refused does not change.
                if self.limits.when_full == WhenFull::Refuse {
                    return Err(NotKept(reason));
                }
                let reason = reason.into_bytes();
                self.note(&LogRecord::Lost { node: Some(id), path, reason });
            }
        }
        Ok(())
    }

    fn keep_content(&mut self, file: BorrowedFd, status: &NodeStatus) -> Result<(), NotKept> {
        let proc = self.proc.as_fd();
        let open = || open_again(proc, file, OFlags::RDONLY);
        let file = File::from(reading(proc, file, status, open)?);
        let room = self.limits.most_bytes.saturating_sub(self.kept + self.length);
        let place = self.pack.keep(&file, status.size, status.stored, room)?;
        self.kept += status.size.min(status.stored);
        let (node, size) = (status.id, status.size);
        self.note(&LogRecord::Content { node, size, place });
        Ok(())
    }

    fn add_name(&mut self, at: &NameAt, directory: NodeId, was: Option<NodeId>) {
        let (name, above) = (at.name.to_bytes(), at.above.as_os_str().as_bytes());
        self.known.add_name(directory, name);
        let record = NameRecord { directory, name: name.to_vec(), above: above.to_vec(), was };
        self.note(&LogRecord::Name(record));
    }

    fn expect(&mut self, at: &NameAt, directory: NodeId) {
        self.making.add(at, directory);
        self.last = Announced::Making;
    }

    pub(super) fn settle(&mut self) {
        for made in self.making.settle() {
            self.make(made);
        }
    }

    /// Notes that the command made a node. Only later commands' journals need to know it.
    pub(super) fn make(&mut self, node: NodeId) {
        if self.known.make(node) {
            frame(&LogRecord::Made(node), &mut self.late);
        }
    }
}
