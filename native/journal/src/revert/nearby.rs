//! Looks for other names of files that have lost those that are known.

use std::collections::{HashMap, HashSet};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::node::{NodeId, NodeKind, look, look_for};
use crate::reader::past::Past;
use crate::reader::paths::{join, split};
use crate::reader::present::PresentState;
use crate::reader::reach::{BeforeOpening, DirectoryReach, open_path};
use crate::reader::walk::is_dots;

/// The most entries that are looked at.
const MOST: usize = 200_000;

/// Finds files that had more names than are known, first beside their names, then further away. Those that were
/// changed since are not taken for them. `before`: is told of a directory that is opened to be looked into.
pub(crate) fn find(
    past: &Past,
    present: &mut PresentState,
    reach: &mut DirectoryReach,
    before: BeforeOpening,
) {
    let mut known: HashMap<NodeId, u32> = HashMap::new();
    let mut roots = Vec::new();
    for (key, name) in &past.names {
        let Some(was) = name.was.filter(|was| !present.spots.contains_key(was)) else { continue };
        *known.entry(was).or_default() += 1;
        roots.extend(past.directories.get(&key.directory).map(|paths| paths.now.clone()));
    }
    let has_more = |(id, names): &(&NodeId, &u32)| {
        past.nodes.get(*id).is_some_and(|node| {
            node.record.status.kind() != NodeKind::Directory && node.record.status.links > **names
        })
    };
    let wanted: HashMap<u64, NodeId> =
        known.iter().filter(has_more).map(|(id, _)| (id.inode, *id)).collect();
    if wanted.is_empty() {
        return;
    }
    let seen = HashSet::new();
    let mut search = Search { past, present, reach, before, wanted, seen, left: MOST };
    roots.sort();
    roots.dedup();
    while !roots.is_empty() && search.goes_on() {
        for root in &roots {
            search.below(root);
        }
        roots = roots.iter().filter_map(|root| Some(split(root)?.0.to_vec())).collect();
        roots.dedup();
    }
}

struct Search<'a> {
    past: &'a Past,
    present: &'a mut PresentState,
    reach: &'a mut DirectoryReach,
    before: BeforeOpening<'a>,
    wanted: HashMap<u64, NodeId>,
    seen: HashSet<Vec<u8>>,
    left: usize,
}

impl Search<'_> {
    fn goes_on(&self) -> bool {
        self.left > 0 && !self.wanted.is_empty()
    }

    /// Opens a directory; one that the commands have closed to its owner is opened again.
    fn open(&mut self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || openat(CWD, path, flags, Mode::empty());
        let opened = open();
        if !matches!(opened, Err(Errno::ACCESS)) {
            return opened;
        }
        let closed = open_path(path)?;
        if !self.past.nodes.contains_key(&look(closed.as_fd())?.id) {
            return opened;
        }
        self.reach.make_writable(closed.as_fd(), path, &mut self.before)?;
        open()
    }

    fn below(&mut self, root: &[u8]) {
        let mut waiting = vec![root.to_vec()];
        while let Some(path) = waiting.pop().filter(|_| self.goes_on()) {
            if !self.seen.insert(path.clone()) {
                continue;
            }
            let Ok(file) = self.open(&path) else { continue };
            let device = look(file.as_fd()).map(|status| status.id.device);
            // Another file system has none of them.
            if !self.wanted.values().any(|id| Ok(id.device) == device) {
                continue;
            }
            let Ok(entries) = Dir::read_from(&file) else { continue };
            for entry in entries.map_while(Result::ok).filter(|entry| !is_dots(entry.file_name())) {
                self.left = self.left.saturating_sub(1);
                let inside = join(&path, entry.file_name().to_bytes());
                if entry.file_type().is_dir() {
                    waiting.push(inside);
                } else if let Some(id) = self.wanted.get(&entry.ino()).copied() {
                    let found = look_for(file.as_fd(), entry.file_name()).ok().flatten();
                    let found = found.map(|status| self.past.as_known(status));
                    if let Some(status) = found.filter(|status| status.id == id)
                        && status.changed <= self.past.until
                    {
                        self.present.add_spot(status, &inside, None);
                        self.wanted.remove(&entry.ino());
                    }
                }
            }
        }
    }
}
