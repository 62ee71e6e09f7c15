//! Carries out calls in git's directories, and has those that change what git obeys judged.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLockReadGuard};

use crate::sandbox::plan::Plan;
use crate::sandbox::warden::caller::Caller;
use crate::sandbox::warden::gate::act;
use crate::sandbox::warden::gate::found::{GateEntry, Root};
use crate::sandbox::warden::gate::obeyed::{Obeyed, Touch};
use crate::sandbox::warden::gate::request::Action;
use crate::sandbox::warden::gate::settings::{Judge, Verdict, WantedFile, present};
use crate::sandbox::warden::gate::staged::{StagedFile, Staging, check_rights, file_in_memory};
use crate::sandbox::warden::held::{HeldStore, read_all};

/// The most bytes of a file that a command writes in the place of one that git obeys. A longer one is
/// dropped.
const MOST_STAGED: usize = 16 << 20;

/// The most hooks whose content is remembered.
const MOST_HOOKS: usize = 64;

/// Acts in git's directories.
pub struct Actor {
    /// None: what git obeys is read-only.
    judge: Option<Judge>,
    staging: Staging,
    /// The content of hooks that are held back, whose modes may still be changed.
    hooks: Mutex<HashMap<PathBuf, Vec<u8>>>,
}

/// Whoever tells the host what is held back.
pub trait Teller {
    /// Returns the cradle of a process's command.
    fn cradle_of(&self, pid: i32) -> Option<i32>;
    fn tell(&self, cradle: i32, what: String);
}

/// A caller, and whoever tells what was held back of its changes.
pub struct Asking<'a> {
    pub caller: &'a Caller,
    pub teller: &'a dyn Teller,
}

/// The decision about a call.
pub enum Judgement {
    Continue,
    Return(Result<(), i32>),
    /// The opened file, and the flags of the call.
    File(OwnedFd, i32),
}

impl Actor {
    /// `store`: for changes that are held back. None: what git obeys is read-only.
    pub fn new(plan: &Plan, store: Option<Arc<HeldStore>>) -> Actor {
        Actor {
            judge: Judge::new(plan, store),
            staging: Staging::default(),
            hooks: Mutex::default(),
        }
    }

    /// Returns whether a file has been written in place.
    pub fn has_staged(&self) -> bool {
        self.staging.has_begun()
    }

    /// To be kept while a file is handed to its caller, and closed here.
    pub fn handing(&self) -> Option<RwLockReadGuard<'_, ()>> {
        self.has_staged().then(|| self.staging.handing())
    }

    /// Waits until one has been closed.
    pub fn wait(&self) {
        self.staging.wait();
    }

    /// Judges the files that no process can write to any more.
    pub fn settle(&self, roots: &[Root], teller: &dyn Teller) {
        self.staging.settle(|staged| {
            let _ = self.settle_one(roots, staged, teller);
        });
    }

    /// Judges a file that a command has written.
    fn settle_one(&self, roots: &[Root], staged: StagedFile, teller: &dyn Teller) -> Option<()> {
        let mode = staged.mode();
        let StagedFile { caller, cradle, root, directory, name, below, obeyed, file } = staged;
        let root = roots.get(root)?;
        let touch = Touch::Kept(obeyed);
        let entry = GateEntry { root, directory, name, below, touch };
        let content = read_all(file.as_fd(), MOST_STAGED).ok()?;
        let wanted = WantedFile { content: Some(&content), mode };
        // A file without content has no effect.
        if content.is_empty() && present(&caller, &entry).ok()?.is_none() {
            return Some(());
        }
        let verdict = self.judge.as_ref()?.change(&caller, &entry, obeyed, &wanted).ok()?;
        if let Verdict::Held(id) = verdict {
            teller.tell(cradle?, format!("held={}", id?));
            if obeyed == Obeyed::Hook {
                self.remember(entry.path(), content);
            }
        }
        Some(())
    }

    fn remember(&self, hook: PathBuf, content: Vec<u8>) {
        let mut hooks = self.hooks();
        if hooks.len() >= MOST_HOOKS {
            hooks.clear();
        }
        hooks.insert(hook, content);
    }

    fn hooks(&self) -> MutexGuard<'_, HashMap<PathBuf, Vec<u8>>> {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn act_on_one(&self, asking: &Asking, found: &GateEntry, action: &Action) -> Judgement {
        // Git follows links when it writes its own files.
        if let Action::Symlink { target } = action {
            let is_trial =
                found.touch != Touch::Kept(Obeyed::Foreign) && act::is_trial(found, target);
            let result = is_trial.then(|| act::make_trial(asking.caller, found));
            return Judgement::Return(result.unwrap_or(Err(libc::EPERM)));
        }
        if let (Touch::Kept(obeyed), Action::Open { flags, mode }) = (found.touch, action) {
            return match self.stage(asking, found, obeyed, *flags, *mode) {
                Ok(Some(file)) => Judgement::File(file, *flags),
                Ok(None) => Judgement::Continue,
                Err(errno) => Judgement::Return(Err(errno)),
            };
        }
        if let Touch::Kept(obeyed) = found.touch {
            return Judgement::Return(self.act_on_kept(asking, found, obeyed, action));
        }
        match action {
            Action::Open { flags, mode } => match act::open(asking.caller, found, *flags, *mode) {
                Ok(file) => Judgement::File(file, *flags),
                Err(errno) => Judgement::Return(Err(errno)),
            },
            action => Judgement::Return(act::change(asking.caller, found, action)),
        }
    }

    /// Opens a file in memory in the place of one that git obeys. None: it is opened for reading, which
    /// the kernel allows.
    fn stage(
        &self,
        asking: &Asking,
        found: &GateEntry,
        obeyed: Obeyed,
        flags: i32,
        mode: u32,
    ) -> Result<Option<OwnedFd>, i32> {
        let is_staged = matches!(
            obeyed,
            Obeyed::Common | Obeyed::Back | Obeyed::Hook | Obeyed::Config { is_of_worktree: true }
        );
        let is_plain = flags & (libc::O_PATH | libc::O_TMPFILE & !libc::O_DIRECTORY) == 0;
        if self.judge.is_none() || !is_staged || !is_plain {
            return Err(libc::EROFS);
        }
        if flags & (libc::O_ACCMODE | libc::O_TRUNC) == libc::O_RDONLY {
            return Ok(None);
        }
        let caller = asking.caller;
        let there = present(caller, found)?;
        match &there {
            Some(_) if flags & libc::O_CREAT != 0 && flags & libc::O_EXCL != 0 => {
                return Err(libc::EEXIST);
            }
            None if flags & libc::O_CREAT == 0 => return Err(libc::ENOENT),
            there => check_rights(caller, found, there.is_some())?,
        }
        let (content, mode) = match there {
            Some(there) if flags & libc::O_TRUNC == 0 => (there.content, there.status.st_mode),
            Some(there) => (Vec::new(), there.status.st_mode),
            None => (Vec::new(), mode & !caller.mask()?),
        };
        let (theirs, ours) = file_in_memory(caller, &content, flags, mode)?;
        let (directory, name) = (found.directory.try_clone(), found.name.clone());
        self.staging.add(StagedFile {
            caller: caller.twin(),
            cradle: asking.teller.cradle_of(caller.pid),
            root: found.root.number,
            directory: directory.map_err(|_| libc::EMFILE)?,
            name,
            below: found.below.clone(),
            obeyed,
            file: ours,
        })?;
        Ok(Some(theirs))
    }

    /// Acts on a name that git obeys.
    fn act_on_kept(
        &self,
        asking: &Asking,
        found: &GateEntry,
        obeyed: Obeyed,
        action: &Action,
    ) -> Result<(), i32> {
        let Some(judge) = &self.judge else { return Err(libc::EROFS) };
        match (obeyed, action) {
            (Obeyed::Foreign, _) => Err(libc::EROFS),
            // The directory itself is a place for samples.
            (Obeyed::Hooks, Action::MakeDirectory { .. } | Action::Remove { .. }) => {
                act::change(asking.caller, found, action)
            }
            (Obeyed::Config { .. }, Action::ChangeMode { mode }) => {
                act::change_execution(asking.caller, found, *mode)
            }
            // Programs that write a hook make it executable then.
            (Obeyed::Hook, Action::ChangeMode { mode })
                if present(asking.caller, found)?.is_none() =>
            {
                let content = self.hooks().get(&found.path()).cloned().ok_or(libc::ENOENT)?;
                let wanted = WantedFile { content: Some(&content), mode: *mode };
                let verdict = judge.change(asking.caller, found, obeyed, &wanted)?;
                self.told(asking, verdict).or(Ok(()))
            }
            (_, Action::Remove { flags: 0 }) => {
                let there = present(asking.caller, found)?.ok_or(libc::ENOENT)?;
                let wanted = WantedFile { content: None, mode: there.status.st_mode };
                self.told(asking, judge.change(asking.caller, found, obeyed, &wanted)?)
            }
            _ => Err(libc::EROFS),
        }
    }

    /// Renames or links from one name to another.
    pub fn act_on_two(
        &self,
        asking: &Asking,
        from: &GateEntry,
        to: &GateEntry,
        action: &Action,
    ) -> Result<(), i32> {
        let caller = asking.caller;
        let touches_kept = [from, to].iter().any(|found| matches!(found.touch, Touch::Kept(_)));
        match (&self.judge, to.touch, action) {
            (Some(judge), Touch::Kept(obeyed), Action::Rename { flags, .. })
                if flags & !libc::RENAME_NOREPLACE == 0
                    && !matches!(from.touch, Touch::Kept(_))
                    && !matches!(obeyed, Obeyed::Foreign | Obeyed::Hooks) =>
            {
                let there = present(caller, from)?.ok_or(libc::ENOENT)?;
                if *flags != 0 && present(caller, to)?.is_some() {
                    return Err(libc::EEXIST);
                }
                let wanted =
                    WantedFile { content: Some(&there.content), mode: there.status.st_mode };
                self.told(asking, judge.change(caller, to, obeyed, &wanted)?)?;
                act::change(caller, from, &Action::Remove { flags: 0 })
            }
            _ if touches_kept => Err(libc::EROFS),
            _ if [from, to].iter().any(|found| found.touch == Touch::Above)
                && !act::moves_file(caller, from, action)? =>
            {
                Err(libc::EROFS)
            }
            _ => act::rename_or_link(caller, from, to, action),
        }
    }

    /// Tells the host of what is held back, which is an error for the caller.
    fn told(&self, asking: &Asking, verdict: Verdict) -> Result<(), i32> {
        match verdict {
            Verdict::Done => Ok(()),
            Verdict::Held(id) => {
                if let (Some(id), Some(cradle)) = (id, asking.teller.cradle_of(asking.caller.pid)) {
                    asking.teller.tell(cradle, format!("held={id}"));
                }
                Err(libc::EACCES)
            }
        }
    }
}
