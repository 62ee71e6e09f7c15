//! Gives names back what they had: the highest first, so that directories are there.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, CWD, RenameFlags, linkat, renameat_with};
use rustix::io::Errno;

use crate::node::{NodeId, NodeKind, NodeStatus};
use crate::open::open_node;
use crate::reader::paths::{depth, join};
use crate::reader::reach::look_by_path;
use crate::record::LogRecord;
use crate::revert::acting::Acting;
use crate::revert::plan::Item;

impl Acting<'_> {
    /// Fills all names that are free.
    pub fn place_all(&mut self, mut items: Vec<Item>) {
        // Files that get one more name, or are made anew, come last: all their other names are there then.
        items.sort_by_key(|item| (self.is_late(item), depth(&item.path_before)));
        for item in items {
            let placed = match item.was {
                Some(was) => self.place(&item, was),
                None => Ok(()),
            };
            match (placed, item.was) {
                (Ok(()), None) => self.reverted.push(item.path_now),
                (Ok(()), Some(_)) => self.reverted.push(item.path_before),
                (Err(errno), _) => self.failed(&item.path_before, errno),
            }
        }
        self.put_back_rest();
    }

    fn is_late(&self, item: &Item) -> bool {
        let Some(was) = item.was else { return true };
        let is_directory = self
            .past
            .nodes
            .get(&was)
            .is_some_and(|node| node.record.status.kind() == NodeKind::Directory);
        !is_directory && !self.aside.contains_key(&was)
    }

    fn place(&mut self, item: &Item, was: NodeId) -> Result<(), Errno> {
        let (directory, name) = (item.key.directory, item.key.name.clone());
        self.marks.add(&LogRecord::NameBegun { directory, name })?;
        let (directory, path) = self.directory(item.key.directory)?;
        let name = CString::new(item.key.name.clone()).map_err(|_| Errno::INVAL)?;
        let path = join(&path, &item.key.name);
        if let Some(from) = self.aside.get(&was).cloned().filter(|_| !self.placed.contains(&was)) {
            self.move_from(&from, directory.as_fd(), &name)?;
        } else if !self.link_to(was, directory.as_fd(), &name)? {
            let made = self.remake(was, directory.as_fd())?;
            self.move_from(&made, directory.as_fd(), &name)?;
        }
        let is_directory =
            |node: &crate::reader::past::PastNode| node.record.status.kind() == NodeKind::Directory;
        if self.past.nodes.get(&was).is_none_or(is_directory) {
            self.reach.placed.insert(was, path);
        }
        self.placed.insert(was);
        self.reach.forget();
        Ok(())
    }

    fn move_from(&mut self, from: &[u8], to: BorrowedFd, name: &CStr) -> Result<(), Errno> {
        let (above, own) = self.above(from)?;
        renameat_with(&above, &own, to, name, RenameFlags::NOREPLACE)
    }

    /// Gives a file that is there one more name. Returns whether it is there.
    fn link_to(&mut self, id: NodeId, to: BorrowedFd, name: &CStr) -> Result<bool, Errno> {
        let Some((file, status)) = self.find(id) else { return Ok(false) };
        if status.kind() == NodeKind::Directory {
            // It is at another place, which could not be left.
            return Err(Errno::EXIST);
        }
        linkat(CWD, by_descriptor(file.as_fd()), to, name, AtFlags::SYMLINK_FOLLOW)?;
        Ok(true)
    }

    /// What was put aside and has no name again goes back to where it was.
    fn put_back_rest(&mut self) {
        let wanted = self.past.nodes_before();
        let rest =
            self.aside.iter().filter(|(id, _)| wanted.contains(id) && !self.placed.contains(id));
        for (id, from) in rest.map(|(id, from)| (*id, from.clone())).collect::<Vec<_>>() {
            if self.names_of.contains_key(&id) {
                // One that has more names is still there without this one.
                let has_more =
                    |found: &NodeStatus| found.kind() != NodeKind::Directory && found.links > 1;
                if look_by_path(&from).as_ref().is_some_and(has_more) {
                    continue;
                }
                let spot = self.present.spots.get(&id).and_then(|spots| spots.first());
                let Some(path) = spot.map(|spot| spot.path.clone()) else { continue };
                let back = self.above(&path).and_then(|(directory, name)| {
                    open_node(directory.as_fd(), &name).err().ok_or(Errno::EXIST)?;
                    self.move_from(&from, directory.as_fd(), &name)
                });
                if let Err(errno) = back {
                    self.failed(&from, errno);
                }
            }
        }
    }
}

/// Returns the path by which an open node can be named.
pub(crate) fn by_descriptor(file: BorrowedFd) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}
