//! Changes of the files that git obeys, judged by what would be there: what is inert is put there, all
//! else is held back.

mod base;
mod compare;
mod elsewhere;
mod index;
mod inert;
mod place;
mod putting;
mod reading;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sandbox::plan::{Access, Plan};
use crate::sandbox::warden::caller::Caller;
use crate::sandbox::warden::gate::found::GateEntry;
use crate::sandbox::warden::gate::obeyed::Obeyed;
use crate::sandbox::warden::held::{HeldChange, HeldKind, HeldStore};
pub use base::{LONGEST_INDEX, act_on_base, put_base, rename_to_base};
use compare::changed_keys;
use elsewhere::HostFiles;
pub use elsewhere::HostRoot;
use inert::{Effect, SettingContext, effect};
use putting::Present;
use putting::put;
pub use putting::{WantedFile, present, present_up_to};
pub use reading::LONGEST;
use reading::settings;

/// Judges changes of settings.
pub struct Judge {
    store: Arc<HeldStore>,
    program: PathBuf,
    /// The directories that commands write to.
    writable: Vec<PathBuf>,
    host: HostFiles,
    /// The configurations that did not exist before: git writes a new one in many steps.
    made: Mutex<HashSet<PathBuf>>,
}

/// What the judge has outside of the sandbox's mounts.
pub struct JudgeOutside {
    pub store: Arc<HeldStore>,
    pub root: HostRoot,
}

/// The decision about a change.
pub enum Verdict {
    /// It has been carried out.
    Done,
    /// It is held back, under this id; None: there was no room for it.
    Held(Option<String>),
}

impl Judge {
    /// `outside` None: settings are read-only.
    pub fn new(plan: &Plan, outside: Option<JudgeOutside>) -> Option<Judge> {
        let program = plan.git_program.clone().filter(|_| !plan.settings_read_only)?;
        let written = plan.paths(Access::Write).chain(plan.paths(Access::Git));
        let writable = written.map(Into::into).collect();
        let JudgeOutside { store, root } = outside?;
        let host = HostFiles::new(root, plan);
        Some(Judge { store, program, writable, host, made: Mutex::default() })
    }

    /// Carries out a change of a file that git obeys, or holds it back. An error is the errno for the
    /// caller.
    pub fn change(
        &self,
        caller: &Caller,
        at: &GateEntry,
        obeyed: Obeyed,
        wanted: &WantedFile,
    ) -> Result<Verdict, i32> {
        let mut keys = Vec::new();
        // The file may be changed outside meanwhile; then it is judged again.
        for _ in 0..4 {
            let present = present(caller, at)?;
            keys = self.keys(at, obeyed, present.as_ref(), wanted);
            if !keys.is_empty() {
                return Ok(Verdict::Held(self.hold(at, &keys, present.as_ref(), wanted)));
            }
            match put(caller, at, present.as_ref(), wanted) {
                Err(libc::EAGAIN) => {}
                result => {
                    if result.is_ok() && present.is_none() {
                        self.made().insert(at.path());
                    }
                    return result.map(|()| Verdict::Done);
                }
            }
        }
        keys.push("changed outside meanwhile".into());
        Ok(Verdict::Held(self.hold(at, &keys, None, wanted)))
    }

    /// Returns whether a change is still held back.
    pub fn holds(&self, id: &str) -> bool {
        self.store.has(id)
    }

    /// Forgets a change, in whose place another one is held.
    pub fn drop_held(&self, id: &str) {
        self.store.remove(id);
    }

    fn made(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hold(
        &self,
        at: &GateEntry,
        keys: &[String],
        present: Option<&Present>,
        wanted: &WantedFile,
    ) -> Option<String> {
        let kind = if wanted.content.is_some() { HeldKind::File } else { HeldKind::Removal };
        let change = HeldChange {
            path: &at.path(),
            kind,
            keys,
            mode: wanted.mode,
            content: wanted.content.unwrap_or_default(),
            before: present.map(|present| (&present.status, &*present.content)),
        };
        self.store.hold(&change).ok()
    }

    /// Returns what is not inert in a change.
    fn keys(
        &self,
        at: &GateEntry,
        obeyed: Obeyed,
        present: Option<&Present>,
        wanted: &WantedFile,
    ) -> Vec<String> {
        let before = present.map(|present| &*present.content);
        if before == wanted.content {
            return Vec::new();
        }
        let is_inert = match (obeyed, wanted.content) {
            (Obeyed::Config { .. }, _) => return self.config_keys(at, obeyed, before, wanted),
            (Obeyed::Common, Some(content)) => {
                place::is_worktrees(at) && content.trim_ascii_end() == b"../.."
            }
            (Obeyed::Back, Some(content)) => place::is_back_link(at, content, &self.writable),
            // Without these a worktree is none, and git obeys nothing else there.
            (Obeyed::Common | Obeyed::Back, None) => place::is_worktree_here(at, &self.writable),
            _ => false,
        };
        if is_inert { Vec::new() } else { vec![obeyed.key(&at.below)] }
    }

    fn config_keys(
        &self,
        at: &GateEntry,
        obeyed: Obeyed,
        before: Option<&[u8]>,
        wanted: &WantedFile,
    ) -> Vec<String> {
        let after = wanted.content.unwrap_or_default();
        let old = before.unwrap_or_default();
        // A submodule that was not there before may go again.
        let is_of_worktree = obeyed == Obeyed::Config { is_of_worktree: true };
        if wanted.content.is_none() && !is_of_worktree && !self.made().contains(&at.path()) {
            return vec![obeyed.key(&at.below)];
        }
        // Other programs that read the file may take such lines for something else than git does.
        if is_ambiguous(after) && !is_ambiguous(old) {
            return vec!["a line that goes on in the next, or a control character".into()];
        }
        let read = |content: &[u8]| settings(&self.program, content);
        let (Ok(before_all), Ok(all)) = (read(old), read(after)) else {
            return vec!["what git can't read".into()];
        };
        let is_new = obeyed == Obeyed::Config { is_of_worktree: false }
            && (before.is_none() || self.made().contains(&at.path()));
        let may_be_worktree = |value: &[u8]| place::may_be_worktree(at, value, &self.writable);
        let is_elsewhere = |path: &Path| self.host.is_elsewhere(path);
        let place = SettingContext {
            is_new,
            all: &all,
            is_elsewhere: &is_elsewhere,
            may_be_worktree: place::is_submodules(at).then_some(&may_be_worktree),
        };
        let mut keys = changed_keys(&before_all, &all, |setting| effect(setting, &place));
        // The name of a remote that is none any more is that of a repository in the working tree.
        let earlier = SettingContext { all: &before_all, ..place };
        let lost = all.iter().find(|setting| {
            effect(setting, &earlier) == Effect::Harmless
                && effect(setting, &place) == Effect::Value
        });
        keys.extend(lost.map(|setting| String::from_utf8_lossy(&setting.key).into_owned()));
        keys
    }
}

/// Returns whether a configuration has a line that goes on in the next, or characters that no program
/// writes.
fn is_ambiguous(content: &[u8]) -> bool {
    let is_odd = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t');
    let lines = content.windows(2).any(|two| two == b"\\\n");
    lines
        || content.iter().any(|byte| is_odd(byte) && *byte != b'\r')
        || content.ends_with(b"\\")
        || content
            .iter()
            .enumerate()
            .any(|(at, byte)| *byte == b'\r' && content.get(at + 1) != Some(&b'\n'))
}
