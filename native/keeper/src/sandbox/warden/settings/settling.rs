//! What is judged after a call: files that have been closed, and settings that have been removed.

use std::sync::PoisonError;
use std::thread;
use std::time::{Duration, Instant};

use super::changes::present;
use super::history::{self, Mode};
use super::removed::{Removal, RemovedName};
use super::staged::Staged;
use super::{Proposed, Shared, Unsettled, copy_of, locked};
use crate::sandbox::warden::held::HeldKind;
use crate::sandbox::watchers::change::Change;

/// How long the history is read while others may wait for it.
const PART: Duration = Duration::from_millis(50);
/// How long they may take it then.
const PAUSE: Duration = Duration::from_millis(1);

impl Shared {
    /// Takes the files that have been closed, and puts back what was removed for good, as far as it is known.
    pub fn settle(&self) {
        let open = locked(&self.open);
        if open.staging.is_empty() && open.removals.is_empty() {
            return;
        }
        drop(open);
        for name in self.settle_closed(false) {
            // The thread that watches reads further.
            if let Some(is_allowed) = self.lacks_at_hand(&name) {
                self.end_removal(&name, is_allowed);
            }
        }
    }

    /// The same, and reads as much of the history as it takes, and also what is told of files that nobody
    /// waits for any more. `is_end`: all processes have ended.
    pub fn settle_all(&self, is_end: bool) {
        for name in self.settle_closed(is_end) {
            let is_allowed = self.lacks_after_all(&name);
            self.end_removal(&name, is_allowed);
        }
    }

    /// Takes the files that have been closed. Returns what may have been removed for good.
    fn settle_closed(&self, is_end: bool) -> Vec<RemovedName> {
        let mut open = locked(&self.open);
        drop(self.giving.write().unwrap_or_else(PoisonError::into_inner));
        for staged in open.staging.closed() {
            self.settle_one(&mut open, &staged);
        }
        let mut due = if is_end { open.removals.all() } else { open.removals.due() };
        due.retain(|name| !open.staging.has(&name.path));
        due
    }

    fn settle_one(&self, open: &mut Unsettled, staged: &Staged) {
        let Ok(Some((content, rights))) = staged.content() else {
            return self.tell_lost(staged.cradle);
        };
        let mode = if rights & 0o100 == 0 { Mode::File } else { Mode::Program };
        let (path, tracked) = (&*staged.path, &*staged.tracked);
        let repository = staged.repository;
        let cradle = staged.cradle;
        let proposed =
            Proposed { path, repository, tracked, cradle, mode, rights, content: &content };
        if self.propose(&proposed, true).is_ok() {
            open.removals.forget(path);
        }
    }

    /// Returns whether a commit has nothing there. None: that is not known yet.
    fn lacks_at_hand(&self, name: &RemovedName) -> Option<bool> {
        let repository = self.repositories.get(name.repository)?;
        repository.history.try_lock().ok()?.lacks_within(&name.tracked, Duration::ZERO)
    }

    /// The same, after the longest time that a question may take. Others may ask meanwhile.
    pub fn lacks_after_all(&self, name: &RemovedName) -> bool {
        let Some(repository) = self.repositories.get(name.repository) else { return false };
        let until = Instant::now() + history::LONGEST;
        loop {
            match repository.history().lacks_within(&name.tracked, PART) {
                None if Instant::now() < until => thread::sleep(PAUSE),
                answer => return answer.unwrap_or(false),
            }
        }
    }

    /// Puts a setting back, unless its removal is allowed, or something has come in its place.
    fn end_removal(&self, name: &RemovedName, is_allowed: bool) {
        let mut open = locked(&self.open);
        if let Some(removal) = open.removals.take(name).filter(|_| !is_allowed) {
            self.put_back(name, &removal);
        }
    }

    fn put_back(&self, name: &RemovedName, removal: &Removal) {
        let ask = |is_new| {
            let change = match removal.mode {
                Mode::Link => Change::Link { target: removal.content.clone() },
                _ => Change::Put { mode: removal.rights, is_new },
            };
            self.ask(&name.path, &change, copy_of(&removal.content).ok())
        };
        let mut put = ask(true);
        if put == Err(libc::EEXIST) {
            // It came by another way: no command has made it by its name.
            if self.is_known(name, removal) {
                return;
            }
            if removal.mode == Mode::Link {
                let _ = self.ask(&name.path, &Change::Remove, None);
            }
            put = ask(false);
        }
        if put.is_err() {
            // The user can put it back.
            let kind = HeldKind::Unknown { is_link: removal.mode == Mode::Link };
            self.hold(&name.path, kind, (removal.rights, &removal.content), removal.cradle);
        }
        self.hold(&name.path, HeldKind::Removal, (removal.rights, &[]), removal.cradle);
    }

    /// Returns whether the history has what is there. Otherwise that is held back.
    fn is_known(&self, name: &RemovedName, removal: &Removal) -> bool {
        let Ok(repository) = self.repository(name.repository) else { return false };
        let Some((mode, rights, content)) = present(&name.path).map(|(_, found)| found) else {
            return false;
        };
        if repository.history().has(&name.tracked, mode, &content) {
            return true;
        }
        let kind = HeldKind::Unknown { is_link: mode == Mode::Link };
        self.hold(&name.path, kind, (rights, &content), removal.cradle);
        false
    }

    /// Returns how long to wait until something may have to be put back.
    pub fn pause(&self) -> Option<Duration> {
        let open = locked(&self.open);
        (!open.removals.is_empty()).then_some(Duration::from_millis(50))
    }
}
