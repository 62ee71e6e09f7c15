//! Puts changes into effect: each file at once, by a rename. What was changed outside meanwhile stays as it is.

pub(crate) mod finishing;
pub(crate) mod gone;
pub(crate) mod guard;
pub(crate) mod later;
pub(crate) mod not_accepted;
pub(crate) mod order;
pub(crate) mod putting;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use forkline_journal::NodeKind;
use rustix::fs::{Stat, fstat};
use rustix::io::Errno;

use crate::accepting::finishing::{FinalRights, OpenedDirectories, finish};
use crate::accepting::gone::remove;
use crate::accepting::guard::{lost, setting};
use crate::accepting::later::{FileMoves, refuse_later};
use crate::accepting::not_accepted::{NotAccepted, changed, not_noted};
use crate::accepting::order::put_in_order;
use crate::accepting::putting::{Placing, give_rights, is_as_it_was, put, put_directory};
use crate::error::PendingError;
use crate::layer::handle_of;
use crate::layer::listing::is_among;
use crate::layer::walk::{Difference, LayerEntries, LayerEntry, entries};
use crate::node::{
    enter_beneath, given_mode, is_directory, kind_of, look, open_as_it_is, parted, stamp,
};
use crate::removing::first_later;
use crate::set::PendingSet;
use crate::settled::SettledState;
use crate::settlement::{Settlement, settling};

/// Puts changes into effect. `paths`: only what is at or below these. One that was killed can be done again.
///
/// # Errors
/// There are none of this id, they can't be read, or another process accepts them.
pub fn accept(
    store: BorrowedFd,
    id: &str,
    paths: Option<&[PathBuf]>,
) -> Result<Settlement, PendingError> {
    let _settling = settling(store, id)?;
    let set = PendingSet::open(store, id)?;
    for (root, path) in set.settled.unfinished() {
        set.remove_unfinished(*root, parted(path).0);
    }
    let LayerEntries { all: mut found, within, unseen } = entries(&set);
    put_in_order(&mut found);
    let moves = FileMoves::of(&found, &within, &set);
    let done = Settlement { conflicts: unseen, ..Settlement::default() };
    let (links, opened) = (HashMap::new(), OpenedDirectories::default());
    let mut accepting = Accepting { set, moves, done, links, opened };
    for root in &accepting.set.roots {
        if let Err(why) = &root.lower {
            accepting.done.conflicts.push((root.path.clone(), why.clone()));
        }
    }
    for entry in &found {
        accepting.take(entry, paths);
    }
    accepting.finish();
    Ok(accepting.done.sorted())
}

struct Accepting {
    set: PendingSet,
    moves: FileMoves,
    done: Settlement,
    /// Where files with several names were put, by root and inode in the layer.
    links: HashMap<(usize, u64), PathBuf>,
    /// The directories that get their rights at the end.
    opened: OpenedDirectories,
}

impl Accepting {
    fn take(&mut self, entry: &LayerEntry, paths: Option<&[PathBuf]>) {
        let path = self.set.absolute(entry.root, &entry.path);
        // A directory that was made is needed for what is asked for in it.
        let is_needed = |paths: &[PathBuf]| {
            entry.what == Difference::Created
                && entry.inside.as_ref().is_some_and(is_directory)
                && paths.iter().any(|one| one.starts_with(&path))
        };
        if paths.is_some_and(|paths| !is_among(&path, paths) && !is_needed(paths)) {
            return;
        }
        let is_named = paths.is_some_and(|paths| paths.contains(&path));
        let kind =
            entry.inside.as_ref().or(entry.outside.as_ref()).map_or(NodeKind::Other, kind_of);
        let why = setting(&path, kind, &self.set.guarded).or_else(|| self.lost(entry, &path));
        if let Some(why) = why.filter(|_| !is_named) {
            self.done.held_back.push((path, why.to_owned()));
            return;
        }
        match self.settle(entry).or_else(|refused| self.settle_opened(entry, refused)) {
            // A directory is as it is to be once all is in it.
            Ok(()) if entry.inside.as_ref().is_some_and(is_directory) => {
                self.opened.keep(entry.root, &entry.path);
            }
            Ok(()) => self.settled(entry, path),
            Err(NotAccepted { why, .. }) => self.done.conflicts.push((path, why)),
        }
    }

    fn settled(&mut self, entry: &LayerEntry, path: PathBuf) {
        let lost = entry.inside.as_ref().filter(|inside| given_mode(inside) != inside.st_mode);
        let had = entry.outside.as_ref().map(|outside| outside.st_mode);
        if let Some(inside) = lost.filter(|inside| had != Some(inside.st_mode)) {
            let bits = inside.st_mode & 0o6000;
            let why =
                format!("its set-user-id and set-group-id bits ({bits:o}) are never accepted");
            self.done.held_back.push((path.clone(), why));
        }
        self.done.settled.push(path);
    }

    /// Tries again with the directories above opened, if it was their modes that refused it.
    fn settle_opened(
        &mut self,
        entry: &LayerEntry,
        refused: NotAccepted,
    ) -> Result<(), NotAccepted> {
        if !refused.is_forbidden {
            return Err(refused);
        }
        let lower = self.set.roots.get(entry.root).and_then(|root| root.lower.as_ref().ok());
        let (above, _) = parted(&entry.path);
        match lower.map(|lower| self.opened.open(entry.root, lower.as_fd(), above)) {
            Some(Ok(true)) => self.settle(entry),
            _ => Err(refused),
        }
    }

    /// Gives the directories their rights.
    fn finish(&mut self) {
        for ((at, path), rights) in std::mem::take(&mut self.opened).deepest_first() {
            let Some(root) = self.set.roots.get(at) else { continue };
            let absolute = self.set.absolute(at, &path);
            let finished = finish(root, &path, rights).and_then(|there| match rights {
                FinalRights::OfLayer => {
                    self.note(at, &path, SettledState::Put(stamp(&there)))?;
                    self.done.settled.push(absolute.clone());
                    Ok(())
                }
                FinalRights::AsBefore(_) => Ok(()),
            });
            if let Err(NotAccepted { why, .. }) = finished {
                self.done.conflicts.push((absolute, why));
            }
        }
    }

    /// Returns why a directory does not make place for something else, or nothing, but by its own path.
    fn lost(&self, entry: &LayerEntry, path: &Path) -> Option<&'static str> {
        entry.outside.as_ref().filter(|outside| is_directory(outside))?;
        if entry.inside.as_ref().is_some_and(is_directory) {
            return None;
        }
        let lower = self.set.roots.get(entry.root)?.lower.as_ref().ok()?;
        let (above, name) = parted(&entry.path);
        let is_gits = |path: &Path, _: &Stat| path.file_name() == Some(OsStr::new(".git"));
        let outside = match enter_beneath(lower.as_fd(), above) {
            Ok(outside) => outside,
            Err(Errno::NOENT | Errno::NOTDIR) => return None,
            // What can't be seen may be there.
            Err(_) => return lost(path, true, &self.set.guarded),
        };
        let found = first_later(outside.as_fd(), name, &entry.path, &is_gits);
        lost(path, !matches!(found, Ok(None)), &self.set.guarded)
    }

    fn settle(&mut self, entry: &LayerEntry) -> Result<(), NotAccepted> {
        let root = self.set.roots.get(entry.root).ok_or(Errno::NOENT)?;
        let lower = root.lower.as_ref().map_err(|why| NotAccepted::because(why.clone()))?;
        let (above, name) = parted(&entry.path);
        let outside = enter_beneath(lower.as_fd(), above).map_err(of_parent)?;
        let now = look(outside.as_fd(), name)?;
        if !self.is_same(now.as_ref(), entry.outside.as_ref()) {
            return Err(changed());
        }
        refuse_later(entry, outside.as_fd(), &self.set, &self.moves)?;
        if entry.what == Difference::Deleted {
            let handle = handle_of(outside.as_fd(), name);
            remove(&mut self.set.settled, entry, handle, outside.as_fd())?;
            return self.note(entry.root, &entry.path, SettledState::Gone);
        }
        let inside = enter_beneath(root.upper.as_fd(), above)?;
        let from = look(inside.as_fd(), name)?.ok_or(Errno::NOENT)?;
        let is_made = is_directory(&from);
        let replaced = now.filter(|now| is_directory(now) == is_made);
        let (from_layer, to) = (inside.as_fd(), outside.as_fd());
        if replaced.is_none() && now.is_some() {
            remove(&mut self.set.settled, entry, Vec::new(), to)?;
        }
        match entry.what {
            Difference::Mode | Difference::Attributes if is_made => return Ok(()),
            // Of a file with other names, commands have changed this one alone.
            Difference::Mode | Difference::Attributes if now.is_some_and(|it| it.st_nlink == 1) => {
                let there = open_as_it_is(to, name)?;
                let before = fstat(&there)?;
                let (mut after, settled) = (before, &mut self.set.settled);
                (after.st_mtime, after.st_mtime_nsec) = (from.st_mtime, from.st_mtime_nsec);
                for begun in [before, after] {
                    settled.begin(entry.root, &entry.path, &begun).map_err(not_noted)?;
                }
                give_rights(&there, from_layer, name, &from)?;
            }
            _ => {
                let unfinished = &self.set.unfinished.clone();
                let places = Placing { from: from_layer, to, name, replaced, unfinished };
                if is_made {
                    return put_directory(&places);
                }
                self.put(entry, &places, &from)?;
            }
        }
        let put = look(outside.as_fd(), name)?.ok_or(Errno::NOENT)?;
        self.note(entry.root, &entry.path, SettledState::Put(stamp(&put)))
    }

    /// Puts a file, or links it to where another name of it was put.
    fn put(
        &mut self,
        entry: &LayerEntry,
        places: &Placing,
        from: &Stat,
    ) -> Result<(), NotAccepted> {
        let key = (entry.root, from.st_ino);
        let Self { set, links, .. } = self;
        let root = set.roots.get(entry.root).ok_or(Errno::NOENT)?;
        let lower = root.lower.as_ref().map_err(|why| NotAccepted::because(why.clone()))?;
        let known = links.get(&key).filter(|_| from.st_nlink > 1);
        let shared = places.replaced.filter(|replaced| replaced.st_nlink > 1);
        let replaced = shared.map(|_| open_as_it_is(places.to, places.name)).transpose()?;
        let settled = &mut set.settled;
        if let Some(shared) = &shared {
            settled.begin_renaming(shared).map_err(not_noted)?;
        }
        put(places, from, known.map(|path| (lower.as_fd(), &**path)), |file| {
            settled.begin(entry.root, &entry.path, file).map_err(not_noted)
        })?;
        if let Some(replaced) = replaced {
            settled.add_renamed(&fstat(&replaced)?).map_err(not_noted)?;
        }
        if from.st_nlink > 1 {
            let file = look(places.to, places.name)?.ok_or(Errno::NOENT)?;
            settled.add_renamed(&file).map_err(not_noted)?;
            links.entry(key).or_insert_with(|| entry.path.clone());
        }
        Ok(())
    }

    /// Whether something is what it was, as far as nothing but its names was changed here.
    fn is_same(&self, now: Option<&Stat>, before: Option<&Stat>) -> bool {
        let (Some(now), Some(before)) = (now, before) else {
            return now.is_none() && before.is_none();
        };
        let is_unchanged = match is_directory(now) {
            // Names that come and go change its times.
            true => (now.st_dev, now.st_ino) == (before.st_dev, before.st_ino),
            false => stamp(now) == stamp(before),
        };
        is_unchanged || self.set.settled.has_renamed(now) && is_as_it_was(now, before)
    }

    fn note(&mut self, root: usize, path: &Path, state: SettledState) -> Result<(), NotAccepted> {
        self.set.settled.add(root, path, state).map_err(not_noted)
    }
}

fn of_parent(errno: Errno) -> NotAccepted {
    match errno {
        Errno::NOENT | Errno::NOTDIR => {
            NotAccepted::because("its directory is not there outside".to_owned())
        }
        Errno::LOOP | Errno::XDEV => {
            NotAccepted::because("its directory is another one outside".to_owned())
        }
        errno => errno.into(),
    }
}
