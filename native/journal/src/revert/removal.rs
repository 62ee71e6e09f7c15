//! Removes what was put aside, and the directory in which it was.

use std::collections::HashSet;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

use crate::node::{NodeId, NodeKind, look_for};
use crate::reader::paths::join;
use crate::reader::walk::names_in;
use crate::revert::acting::Acting;

impl Acting<'_> {
    /// Removes all of it. What was there before the commands and has no other place is left, and told.
    pub fn remove_staged(&mut self) {
        let before = self.past.nodes_before();
        let mut places = self.staging.paths();
        places.extend(self.past.stagings.iter().map(|(_, path)| path.clone()));
        places.sort();
        places.dedup();
        for place in places {
            match self.remove(&place, &before) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => self.failed(&place, errno),
            }
        }
    }

    fn remove(&mut self, top: &[u8], before: &HashSet<NodeId>) -> Result<(), Errno> {
        // Each directory comes twice: to list it, and to remove it.
        let mut waiting = vec![(top.to_vec(), false)];
        while let Some((path, is_listed)) = waiting.pop() {
            let (above, name) = self.above(&path)?;
            let Some(status) = look_for(above.as_fd(), &name)? else { continue };
            let is_directory = status.kind() == NodeKind::Directory;
            if before.contains(&self.past.known(status.id)) && (is_directory || status.links == 1) {
                return Err(Errno::NOTEMPTY);
            }
            if !is_directory {
                unlinkat(&above, &name, AtFlags::empty())?;
            } else if is_listed {
                unlinkat(&above, &name, AtFlags::REMOVEDIR)?;
            } else {
                let file = self.open(&path)?;
                self.let_change(file.as_fd(), &path)?;
                waiting.push((path.clone(), true));
                let names = names_in(&path)?;
                waiting.extend(names.iter().map(|name| (join(&path, name.to_bytes()), false)));
            }
        }
        Ok(())
    }
}
