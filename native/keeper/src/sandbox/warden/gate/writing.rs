//! Files that git obeys and that a command writes in place: opened in memory, and judged at their end.

use std::os::fd::{AsFd, OwnedFd};

use crate::sandbox::denied::one_word;
use crate::sandbox::place;
use crate::sandbox::warden::caller::Caller;
use crate::sandbox::warden::gate::actor::{Actor, Asking, Teller};
use crate::sandbox::warden::gate::found::{GateEntry, Root};
use crate::sandbox::warden::gate::held_hooks::HeldHook;
use crate::sandbox::warden::gate::obeyed::{Obeyed, Touch};
use crate::sandbox::warden::gate::settings::{
    LONGEST, LONGEST_INDEX, Verdict, WantedFile, present, present_up_to, put_base,
};
use crate::sandbox::warden::gate::staged::{StagedFile, check_rights, file_in_memory};
use crate::sandbox::warden::held::read_all;

/// The most bytes of a file that a command writes in the place of one that git obeys. A longer one is
/// lost, which is told.
const MOST_STAGED: usize = 16 << 20;

/// The bits of a mode for reading; those for executing are two places lower.
const READING: u32 = 0o444;

impl Actor {
    /// Judges a file that a command has written, and tells its host what has become of it.
    pub fn settle_one(&self, roots: &[Root], staged: StagedFile, teller: &dyn Teller) {
        let cradle = staged.cradle;
        let path = roots.get(staged.root).map(|root| root.path.join(&staged.below));
        let told = match self.settled(roots, staged) {
            Some(Verdict::Done) => None,
            Some(Verdict::Held(Some(id))) => Some(format!("held={id}")),
            // It is nowhere any more.
            Some(Verdict::Held(None)) | None => {
                path.map(|path| format!("lost={}", one_word(&path.to_string_lossy())))
            }
        };
        if let (Some(cradle), Some(told)) = (cradle, told) {
            teller.tell(cradle, told);
        }
    }

    /// Judges such a file. None: it could not be.
    fn settled(&self, roots: &[Root], staged: StagedFile) -> Option<Verdict> {
        let mode = staged.mode();
        let StagedFile { caller, root, directory, name, below, obeyed, file, .. } = staged;
        let touch = Touch::Kept(obeyed);
        let entry = GateEntry { root: roots.get(root)?, directory, name, below, touch };
        if obeyed.is_base() {
            let status = place::status(&file).ok()?;
            let content = read_all(file.as_fd(), LONGEST_INDEX).ok()?;
            let wanted = (&*content, &status);
            let put = put_base(&caller, &entry, obeyed, wanted, self.program.as_deref());
            return put.ok().map(|()| Verdict::Done);
        }
        let content = read_all(file.as_fd(), MOST_STAGED).ok()?;
        // A file without content has no effect.
        if content.is_empty() && present(&caller, &entry).ok()?.is_none() {
            return Some(Verdict::Done);
        }
        if obeyed == Obeyed::Hook {
            return self.change_hook(&caller, &entry, content, mode).ok();
        }
        let wanted = WantedFile { content: Some(&content), mode };
        self.judge.as_ref()?.change(&caller, &entry, obeyed, &wanted).ok()
    }

    /// Opens a file in memory in the place of one that git obeys. None: it is opened for reading, which
    /// the kernel allows.
    pub fn stage(
        &self,
        asking: &Asking,
        found: &GateEntry,
        obeyed: Obeyed,
        flags: i32,
        mode: u32,
    ) -> Result<Option<OwnedFd>, i32> {
        let is_staged = match obeyed {
            Obeyed::Index | Obeyed::Head => true,
            Obeyed::Common | Obeyed::Back | Obeyed::Hook | Obeyed::Remote => self.judge.is_some(),
            Obeyed::Config { is_of_worktree } => is_of_worktree && self.judge.is_some(),
            _ => false,
        };
        let is_plain = flags & (libc::O_PATH | libc::O_TMPFILE & !libc::O_DIRECTORY) == 0;
        if !is_staged || !is_plain {
            return Err(libc::EROFS);
        }
        if flags & (libc::O_ACCMODE | libc::O_TRUNC) == libc::O_RDONLY {
            return Ok(None);
        }
        let caller = asking.caller;
        let most = if obeyed == Obeyed::Index { LONGEST_INDEX } else { LONGEST };
        let there = present_up_to(caller, found, most)?;
        // What a command has written of a hook is there for it alone, when it goes on.
        let goes_on = obeyed == Obeyed::Hook && flags & libc::O_EXCL == 0;
        let held = self.judge.as_ref().filter(|_| goes_on);
        let held = held.and_then(|judge| self.hooks.get(judge, &found.path()));
        match &there {
            Some(_) if flags & libc::O_CREAT != 0 && flags & libc::O_EXCL != 0 => {
                return Err(libc::EEXIST);
            }
            None if flags & libc::O_CREAT == 0 && held.is_none() => return Err(libc::ENOENT),
            there => check_rights(caller, found, there.is_some())?,
        }
        let there = there.map(|there| (there.content, there.status.st_mode));
        let (mut content, mode) = match held.map(|hook| (hook.content, hook.mode)).or(there) {
            Some(there) => there,
            None => (Vec::new(), mode & !caller.mask()?),
        };
        if flags & libc::O_TRUNC != 0 {
            content.clear();
        }
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
            is_closed: false,
        })?;
        Ok(Some(theirs))
    }

    /// Judges what a hook would be, in place of what is held of it. Programs that write a new hook make it
    /// executable when it is there: it is held as if they had.
    pub fn change_hook(
        &self,
        caller: &Caller,
        at: &GateEntry,
        content: Vec<u8>,
        mode: u32,
    ) -> Result<Verdict, i32> {
        let judge = self.judge.as_ref().ok_or(libc::EROFS)?;
        let is_new = present(caller, at)?.is_none();
        let executable = if is_new { (mode & READING) >> 2 } else { 0 };
        let wanted = WantedFile { content: Some(&content), mode: mode | executable };
        let earlier = self.hooks.get(judge, &at.path());
        let verdict = judge.change(caller, at, Obeyed::Hook, &wanted)?;
        if let Verdict::Held(Some(id)) = &verdict {
            self.hooks.insert(at.path(), HeldHook { content, mode, id: id.clone() });
        }
        if let Some(earlier) = earlier
            && !matches!(verdict, Verdict::Held(None))
        {
            judge.drop_held(&earlier.id);
        }
        Ok(verdict)
    }

    /// Renames a held hook, which is not there, to another one. None: it is not held.
    pub fn rename_hook(
        &self,
        asking: &Asking,
        from: &GateEntry,
        to: &GateEntry,
        flags: u32,
    ) -> Result<Option<()>, i32> {
        let judge = self.judge.as_ref().ok_or(libc::EROFS)?;
        let caller = asking.caller;
        let Some(hook) = self.hooks.get(judge, &from.path()) else { return Ok(None) };
        if present(caller, from)?.is_some() {
            return Ok(None);
        }
        if flags != 0 && present(caller, to)?.is_some() {
            return Err(libc::EEXIST);
        }
        let verdict = self.change_hook(caller, to, hook.content, hook.mode)?;
        self.told_alone(asking, verdict)?;
        self.hooks.remove(&from.path());
        judge.drop_held(&hook.id);
        Ok(Some(()))
    }
}
