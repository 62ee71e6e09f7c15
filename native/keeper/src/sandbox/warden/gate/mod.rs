//! Git's directories, which are mounted read-only in the sandbox. The kernel asks the warden about calls
//! that make, change or remove something by its name. If the name is in one of git's directories, the
//! warden does it for the caller, in a tree that is not mounted anywhere, unless git would obey the file.
//!
//! What git would obey is judged by what would be there: see `settings`.
//!
//! All other calls continue unchanged. If the caller changes its memory meanwhile, it gains nothing that
//! it may not do by itself.

mod act;
mod found;
mod names;
mod obeyed;
mod request;
mod settings;

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::sandbox::calls::Naming;
use crate::sandbox::notices::{Listener, Notice};
use crate::sandbox::place;
use crate::sandbox::plan::Plan;
use crate::sandbox::warden::caller::{Caller, link_of, path_of};
use crate::sandbox::warden::held::HeldStore;
use found::{GateEntry, Root};
use names::Names;
use obeyed::{Obeyed, Touch};
use request::{Action, FileRequest, Named};
use settings::{Judge, Verdict, WantedFile, present};

/// Carries out calls for processes in the sandbox.
pub struct Gate {
    roots: Vec<Root>,
    /// None: what git obeys is read-only.
    judge: Option<Judge>,
}

/// A function that tells the host of a change that is held back, for a process.
type TellHeld<'a> = &'a dyn Fn(i32, String);

/// A caller, and the means to tell what was held back of its changes.
struct Asking<'a> {
    caller: &'a Caller,
    tell: TellHeld<'a>,
}

/// The decision about a call.
enum Judgement {
    Continue,
    Return(Result<(), i32>),
    /// The opened file, and the flags of the call.
    File(OwnedFd, i32),
}

impl Gate {
    /// `trees`: the path at which each of git's directories is seen, and a tree that can be written to.
    /// `store`: for changes that are held back. The working directory must be `/proc`.
    pub fn new(trees: Vec<(PathBuf, OwnedFd)>, plan: &Plan, store: Option<HeldStore>) -> Gate {
        let root = |(path, tree): (PathBuf, OwnedFd)| {
            let names = Names::of(Path::new(&format!("self/fd/{}", tree.as_raw_fd())));
            Root { path, tree, names }
        };
        Gate { roots: trees.into_iter().map(root).collect(), judge: Judge::new(plan, store) }
    }

    /// Answers a call.
    pub fn answer(&self, listener: &Listener, notice: &Notice, naming: Naming, tell: TellHeld) {
        match self.judge(listener, notice, naming, tell) {
            Judgement::Continue => listener.go_on(notice),
            Judgement::Return(result) => listener.answer(notice, result),
            Judgement::File(file, flags) => {
                listener.give(notice, file.as_fd(), flags & libc::O_CLOEXEC != 0);
            }
        }
    }

    fn judge(
        &self,
        listener: &Listener,
        notice: &Notice,
        naming: Naming,
        tell: TellHeld,
    ) -> Judgement {
        let pid = notice.pid as i32;
        let Some(request) = FileRequest::read(&Caller::unknown(pid), notice, naming) else {
            return Judgement::Continue;
        };
        if !request.names().any(|named| self.may_concern(pid, named)) {
            return Judgement::Continue;
        }
        let Ok(caller) = Caller::of(pid) else { return Judgement::Continue };
        let found = self.find(&caller, &request.what);
        let other = match &request.action {
            Action::Rename { to, .. } | Action::Link { to } => Some(self.find(&caller, to)),
            _ => None,
        };
        if !listener.stands(notice) {
            return Judgement::Return(Err(libc::EINTR));
        }
        let asking = Asking { caller: &caller, tell };
        match (found, other) {
            (Some(found), None) => self.act_on_one(&asking, &found, &request.action),
            (Some(from), Some(Some(to))) if std::ptr::eq(from.root, to.root) => {
                Judgement::Return(self.act_on_two(&asking, &from, &to, &request.action))
            }
            (None, None | Some(None)) => Judgement::Continue,
            _ => Judgement::Return(Err(libc::EXDEV)),
        }
    }

    /// Returns whether a call may concern one of git's directories. A call that is passed over here meets
    /// a read-only directory.
    fn may_concern(&self, pid: i32, Named { base, path }: &Named) -> bool {
        let mut parts = path.split(|byte| *byte == b'/');
        let is_named = |root: &Root| {
            let name = root.path.file_name().unwrap_or_default().as_bytes();
            parts.clone().any(|part| part == name)
        };
        if self.roots.iter().any(is_named) {
            return true;
        }
        let is_absolute = parts.next().is_some_and(|first| first.is_empty() && !path.is_empty());
        let is_proc = path.starts_with(b"/proc/");
        if is_absolute {
            return is_proc;
        }
        let Ok(start) = link_of(&base.link(pid)) else { return false };
        self.roots.iter().any(|root| start.starts_with(&root.path))
    }

    /// Finds a name in git's directories. None: it is in none of them.
    fn find(&self, caller: &Caller, Named { base, path }: &Named) -> Option<GateEntry<'_>> {
        let (above, name) = split(path)?;
        let place = caller.place_at(*base, above).ok()?;
        let seen = caller.act(|| place.open_directory()).ok()?;
        let at = path_of(&seen).ok()?;
        let (root, below) =
            self.roots.iter().find_map(|root| Some((root, at.strip_prefix(&root.path).ok()?)))?;
        let directory = place::beneath(root.tree.as_fd(), below).ok()?;
        if place::identity(&seen).ok()? != place::identity(&directory).ok()? {
            return None;
        }
        let below = below.join(OsStr::from_bytes(name));
        let touch = root.names.touch(&below);
        Some(GateEntry { root, directory, name: CString::new(name).ok()?, below, touch })
    }

    fn act_on_one(&self, asking: &Asking, found: &GateEntry, action: &Action) -> Judgement {
        // Git follows links when it writes its own files.
        if matches!(action, Action::Symlink) {
            return Judgement::Return(Err(libc::EPERM));
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
            (_, Action::Remove { flags: 0 }) => {
                let there = present(asking.caller, found)?.ok_or(libc::ENOENT)?;
                let wanted = WantedFile { content: None, mode: there.status.st_mode };
                self.told(asking, judge.change(asking.caller, found, obeyed, &wanted)?)
            }
            _ => Err(libc::EROFS),
        }
    }

    /// Renames or links from one name to another.
    fn act_on_two(
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
                if let Some(id) = id {
                    (asking.tell)(asking.caller.pid, format!("held={id}"));
                }
                Err(libc::EACCES)
            }
        }
    }
}

/// Splits a path into its directory and its last name. None: it ends in no name.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = path.iter().rposition(|byte| *byte != b'/')? + 1;
    let (path, _) = path.split_at_checked(end)?;
    let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    let (above, name) = path.split_at_checked(start)?;
    let above = if above.is_empty() { b"." } else { above };
    (!matches!(name, b"." | b"..")).then_some((above, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_split_at_its_last_name() {
        let of = |path: &'static str| {
            split(path.as_bytes()).map(|(above, name)| [above, name].map(String::from_utf8_lossy))
        };
        assert_eq!(of("config").unwrap(), [".", "config"]);
        assert_eq!(of("/a/b//").unwrap(), ["/a/", "b"]);
        assert_eq!(of("/a").unwrap(), ["/", "a"]);
        for path in ["", "/", "a/..", "a/./", "."] {
            assert!(of(path).is_none(), "{path}");
        }
    }
}
