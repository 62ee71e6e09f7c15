//! Files that git obeys and that a command writes in place: opened in memory, and judged at their end.

use std::os::fd::{AsFd, OwnedFd};

use crate::sandbox::place;
use crate::sandbox::warden::gate::actor::{Actor, Asking, Teller};
use crate::sandbox::warden::gate::found::{GateEntry, Root};
use crate::sandbox::warden::gate::obeyed::{Obeyed, Touch};
use crate::sandbox::warden::gate::settings::{
    LONGEST, LONGEST_INDEX, Verdict, WantedFile, present, present_up_to, put_base,
};
use crate::sandbox::warden::gate::staged::{StagedFile, check_rights, file_in_memory};
use crate::sandbox::warden::held::read_all;

/// The most bytes of a file that a command writes in the place of one that git obeys. A longer one is
/// dropped.
const MOST_STAGED: usize = 16 << 20;

impl Actor {
    /// Judges a file that a command has written.
    pub fn settle_one(
        &self,
        roots: &[Root],
        staged: StagedFile,
        teller: &dyn Teller,
    ) -> Option<()> {
        let mode = staged.mode();
        let StagedFile { caller, cradle, root, directory, name, below, obeyed, file } = staged;
        let root = roots.get(root)?;
        let touch = Touch::Kept(obeyed);
        let entry = GateEntry { root, directory, name, below, touch };
        if obeyed.is_base() {
            let status = place::status(&file).ok()?;
            let content = read_all(file.as_fd(), LONGEST_INDEX).ok()?;
            let wanted = (&*content, &status);
            return put_base(&caller, &entry, obeyed, wanted, self.program.as_deref()).ok();
        }
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
}
