//! Carries out calls in git's directories, and has those that change what git obeys judged.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::RwLockReadGuard;

use crate::sandbox::plan::Plan;
use crate::sandbox::warden::caller::Caller;
use crate::sandbox::warden::gate::act;
use crate::sandbox::warden::gate::found::{GateEntry, Root};
use crate::sandbox::warden::gate::held_hooks::HeldHooks;
use crate::sandbox::warden::gate::obeyed::{Obeyed, Touch};
use crate::sandbox::warden::gate::request::Action;
use crate::sandbox::warden::gate::settings::{
    Judge, JudgeOutside, LONGEST_INDEX, Verdict, WantedFile, act_on_base, present, present_up_to,
    rename_to_base,
};
use crate::sandbox::warden::gate::staged::Staging;

/// Acts in git's directories.
pub struct Actor {
    /// None: what git obeys is read-only.
    pub judge: Option<Judge>,
    /// The program that reads git's configurations.
    pub program: Option<PathBuf>,
    pub staging: Staging,
    pub hooks: HeldHooks,
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
    /// `outside` None: what git obeys is read-only.
    pub fn new(plan: &Plan, outside: Option<JudgeOutside>) -> Actor {
        Actor {
            judge: Judge::new(plan, outside),
            program: plan.git_program.clone(),
            staging: Staging::default(),
            hooks: HeldHooks::default(),
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
            self.settle_one(roots, staged, teller);
        });
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

    /// Acts on a name that git obeys.
    fn act_on_kept(
        &self,
        asking: &Asking,
        found: &GateEntry,
        obeyed: Obeyed,
        action: &Action,
    ) -> Result<(), i32> {
        if obeyed.is_base() {
            return act_on_base(asking.caller, found, obeyed, action);
        }
        let Some(judge) = &self.judge else { return Err(libc::EROFS) };
        match (obeyed, action) {
            (Obeyed::Foreign, _) => Err(libc::EROFS),
            // The directory itself is a place for samples, and git makes one without files.
            (Obeyed::Folder, Action::MakeDirectory { .. } | Action::Remove { .. }) => {
                act::change(asking.caller, found, action)
            }
            (Obeyed::Config { .. }, Action::ChangeMode { mode }) => {
                act::change_execution(asking.caller, found, *mode)
            }
            // Programs that write a hook make it executable then.
            (Obeyed::Hook, Action::ChangeMode { mode })
                if present(asking.caller, found)?.is_none() =>
            {
                let hook = self.hooks.get(judge, &found.path()).ok_or(libc::ENOENT)?;
                let verdict = self.change_hook(asking.caller, found, hook.content, *mode)?;
                self.told_alone(asking, verdict)
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
        if let Action::Rename { flags, .. } = action
            && flags & !libc::RENAME_NOREPLACE == 0
        {
            match (from.touch, to.touch) {
                (
                    Touch::Free | Touch::Above | Touch::Kept(Obeyed::Index),
                    Touch::Kept(obeyed @ (Obeyed::Index | Obeyed::Head)),
                ) => {
                    if *flags != 0 && present_up_to(caller, to, LONGEST_INDEX)?.is_some() {
                        return Err(libc::EEXIST);
                    }
                    return rename_to_base(caller, from, to, obeyed, self.program.as_deref());
                }
                // An index may go, and is none any more.
                (Touch::Kept(Obeyed::Index), Touch::Free) => {
                    return act::rename_or_link(caller, from, to, action);
                }
                _ => {}
            }
        }
        if let (Touch::Kept(Obeyed::Hook), Touch::Kept(Obeyed::Hook), Action::Rename { flags, .. }) =
            (from.touch, to.touch, action)
            && flags & !libc::RENAME_NOREPLACE == 0
            && let Some(()) = self.rename_hook(asking, from, to, *flags)?
        {
            return Ok(());
        }
        match (&self.judge, to.touch, action) {
            (Some(judge), Touch::Kept(obeyed), Action::Rename { flags, .. })
                if flags & !libc::RENAME_NOREPLACE == 0
                    && !matches!(from.touch, Touch::Kept(_))
                    && !matches!(obeyed, Obeyed::Foreign | Obeyed::Folder)
                    && !obeyed.is_base() =>
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

    /// Tells the host of what is held back, and the caller nothing.
    pub fn told_alone(&self, asking: &Asking, verdict: Verdict) -> Result<(), i32> {
        let is_kept = !matches!(verdict, Verdict::Held(None));
        let told = self.told(asking, verdict);
        if is_kept { Ok(()) } else { told }
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
