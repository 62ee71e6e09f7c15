//! Puts aside what has names that are to have something else: the deepest first, so that the paths of the rest
//! stay what they are.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::os::fd::AsFd;

use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::node::{NodeId, NodeKind, look_for};
use crate::open::open_node;
use crate::reader::paths::depth;
use crate::record::LogRecord;
use crate::revert::acting::Acting;
use crate::revert::plan::Item;

/// Something that is to leave its place.
struct Leaving {
    path: Vec<u8>,
    id: NodeId,
    name: Option<Item>,
}

impl Acting<'_> {
    /// Puts all aside. Returns the items whose names are free then.
    pub fn put_aside(&mut self, items: Vec<Item>) -> Vec<Item> {
        let mut leaving = self.inside(&items);
        let mut free = Vec::new();
        for item in items {
            match item.now {
                Some(now) => {
                    let (path, id) = (item.path_now.clone(), now.id);
                    leaving.push(Leaving { path, id, name: Some(item) });
                }
                None => free.push(item),
            }
        }
        leaving.sort_by_key(|leaving| Reverse(depth(&leaving.path)));
        for leaving in leaving {
            match self.put_one_aside(&leaving) {
                Ok(()) => free.extend(leaving.name),
                Err(errno) => self.failed(&leaving.path, errno),
            }
        }
        free
    }

    /// Finds what is to have a name again and is below a directory that was made.
    fn inside(&self, items: &[Item]) -> Vec<Leaving> {
        let wanted: HashSet<NodeId> = items.iter().filter_map(|item| item.was).collect();
        let spots = wanted.iter().filter_map(|id| Some((id, self.present.spots.get(id)?)));
        let leaving = spots.filter_map(|(id, spots)| {
            // One place of several is enough: the other names are links to it.
            let has_name = spots.iter().any(|spot| !spot.is_inside);
            let spot = spots.iter().find(|spot| spot.is_inside).filter(|_| !has_name)?;
            Some(Leaving { path: spot.path.clone(), id: *id, name: None })
        });
        leaving.collect()
    }

    fn put_one_aside(&mut self, leaving: &Leaving) -> Result<(), Errno> {
        if let Some(item) = &leaving.name {
            let (directory, name) = (item.key.directory, item.key.name.clone());
            self.marks.add(&LogRecord::NameBegun { directory, name })?;
        }
        let (directory, name) = self.above(&leaving.path)?;
        let found = look_for(directory.as_fd(), &name)?.ok_or(Errno::NOENT)?;
        if self.past.known(found.id) != leaving.id {
            return Err(Errno::STALE);
        }
        if leaving.name.is_none() {
            self.marks.add(&LogRecord::NodeBegun(leaving.id))?;
            self.mark_disturbed(&leaving.path)?;
        }
        // The entry for the directory above is changed too.
        if found.kind() == NodeKind::Directory {
            let moved = open_node(directory.as_fd(), &name)?;
            self.let_change(moved.as_fd(), &leaving.path)?;
        }
        let (staging, new_name, path) = self.stage(found.id.device)?;
        renameat_with(&directory, &name, &staging, &new_name, RenameFlags::NOREPLACE)?;
        self.reach.forget();
        self.aside.insert(leaving.id, path);
        Ok(())
    }

    /// The directory has another time of change then, which is no one else's.
    fn mark_disturbed(&mut self, path: &[u8]) -> Result<(), Errno> {
        let (directory, _) = self.above(path)?;
        let id = crate::node::look(directory.as_fd())?.id;
        self.marks.add(&LogRecord::NodeBegun(id))
    }
}
