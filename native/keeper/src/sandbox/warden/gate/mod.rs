//! Git's directories, which are mounted read-only in the sandbox. The kernel asks the warden about calls
//! that make, change or remove something by its name. If the name is in one of git's directories, the
//! warden does it for the caller, in a tree that is not mounted anywhere, unless git would obey the file.
//!
//! What git would obey is judged by what would be there: see `settings`.
//!
//! All other calls continue unchanged. If the caller changes its memory meanwhile, it gains nothing that
//! it may not do by itself.

mod act;
mod actor;
mod found;
mod held_hooks;
mod names;
mod obeyed;
pub mod request;
mod settings;
mod staged;
mod writing;

use std::ffi::{CStr, CString, OsStr};
use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::sandbox::filter::calls;
use crate::sandbox::filter::naming::Naming;
use crate::sandbox::notices::{Listener, Notice};
use crate::sandbox::place;
use crate::sandbox::plan::Plan;
use crate::sandbox::warden::caller::{Caller, link_of, path_of};
use crate::sandbox::warden::deputy::Deputy;
use crate::sandbox::warden::settings::Settings;
use crate::sandbox::warden::undo::Recorder;
use crate::sandbox::warden::undo::recording::Recording;
use actor::{Actor, Asking};
pub use actor::{Judgement, Teller};
use found::{GateEntry, Root};
use names::Names;
pub use names::made_by_gate;
use request::{Action, FileRequest, Named};
pub use settings::{HostRoot, JudgeOutside};

/// The name by which git finds its directory.
const DOT_GIT: &CStr = c".git";

/// Carries out calls for processes in the sandbox.
pub struct Gate {
    roots: Vec<Root>,
    actor: Actor,
    /// None: mounts decide about settings in the working tree.
    settings: Option<Settings>,
    /// None: calls that are not judged are the caller's own.
    deputy: Option<Deputy>,
    /// None: changes are not recorded.
    recorder: Option<Arc<Recorder>>,
}

impl Gate {
    /// `trees`: the path at which each of git's directories is seen, and a tree that can be written to.
    /// `outside`: for changes that are judged. The working directory must be `/proc`.
    pub fn new(
        trees: Vec<(PathBuf, OwnedFd)>,
        plan: &Plan,
        outside: Option<JudgeOutside>,
        settings: Option<Settings>,
        recorder: Option<Recorder>,
    ) -> Gate {
        let root = |(number, (path, tree)): (usize, (PathBuf, OwnedFd))| {
            let names = Names::of(Path::new(&format!("self/fd/{}", tree.as_raw_fd())));
            Root { number, path, tree, names }
        };
        let roots = trees.into_iter().enumerate().map(root).collect();
        let paths = settings.iter().flat_map(Settings::paths).map(Path::to_owned).collect();
        let is_needed = settings.is_some() || recorder.is_some();
        let deputy = is_needed.then(|| Deputy::new(plan, paths, recorder.is_some()));
        let recorder = recorder.map(Arc::new);
        Gate { roots, actor: Actor::new(plan, outside), settings, deputy, recorder }
    }

    /// Returns whether files are being written that are judged when they are closed.
    pub fn has_staged(&self) -> bool {
        self.actor.has_staged()
    }

    /// Judges such files, as long as there can be any.
    pub fn settle_all(&self, teller: &dyn Teller) -> ! {
        loop {
            self.actor.wait();
            self.actor.settle(&self.roots, teller);
        }
    }

    /// Settles what processes have left, when all have ended.
    pub fn finish(&self) {
        if let Some(settings) = &self.settings {
            settings.finish();
        }
        if let Some(recorder) = &self.recorder {
            recorder.finish();
        }
    }

    /// Answers a call.
    pub fn answer(
        &self,
        listener: &Listener,
        notice: &Notice,
        naming: Naming,
        teller: &dyn Teller,
    ) {
        // What the caller has closed is to be there for its next call.
        self.actor.settle(&self.roots, teller);
        if let Some(settings) = &self.settings {
            settings.settle();
        }
        let recorder = self.recorder.as_ref();
        let recording =
            recorder.map_or_else(Recording::none, |it| Recording::new(it, notice.pid as i32));
        let request = FileRequest::read(&Caller::unknown(notice.pid as i32), notice, naming);
        let judged = match self.judge(listener, notice, &request, teller, &recording) {
            Judgement::Continue => match &self.deputy {
                Some(deputy) => deputy.act_for(listener, notice, naming, request, &recording),
                None => Judgement::Continue,
            },
            judged => judged,
        };
        recording.end(match &judged {
            Judgement::Return(result) => *result,
            Judgement::Continue | Judgement::File(..) => Ok(()),
        });
        match judged {
            Judgement::Continue => listener.go_on(notice),
            Judgement::Return(result) => listener.answer(notice, result),
            Judgement::File(file, flags) => {
                let _handing = self.actor.handing();
                let _giving = self.settings.as_ref().map(Settings::giving);
                listener.give(notice, file.as_fd(), flags & libc::O_CLOEXEC != 0);
                drop(file);
            }
        }
    }

    fn judge(
        &self,
        listener: &Listener,
        notice: &Notice,
        request: &Result<FileRequest, i32>,
        teller: &dyn Teller,
        recording: &Recording,
    ) -> Judgement {
        if !calls::is_native(notice.architecture) {
            // For 32-bit programs, names are made where none is judged.
            recording.miss("a 32-bit program has run, and not all of its changes are seen");
            return Judgement::Continue;
        }
        let pid = notice.pid as i32;
        let Ok(request) = request else { return Judgement::Continue };
        if request.is_only_recorded() || self.settings.is_none() && self.roots.is_empty() {
            return Judgement::Continue;
        }
        let settings = self.settings.as_ref();
        let judged = settings.and_then(|it| it.judge(listener, notice, request, recording));
        if let Some(judged) = judged {
            return judged;
        }
        if !request.names().any(|named| self.may_concern(pid, named)) {
            return Judgement::Continue;
        }
        let Ok(caller) = Caller::of(pid) else { return Judgement::Continue };
        let takes_name = matches!(request.action, Action::Remove { .. } | Action::Rename { .. });
        if takes_name && request.names().any(|named| self.is_way_in(&caller, named)) {
            return Judgement::Return(Err(libc::EROFS));
        }
        let found = self.find(&caller, &request.what);
        let other = match &request.action {
            Action::Rename { to, .. } | Action::Link { to, .. } => Some(self.find(&caller, to)),
            _ => None,
        };
        if !listener.stands(notice) {
            return Judgement::Return(Err(libc::EINTR));
        }
        let recorded = match (&found, &other) {
            (Some(found), None) => recording.announce(&found.spot(), &request.action),
            (Some(from), Some(Some(to))) => {
                recording.announce_two(&from.spot(), &to.spot(), &request.action)
            }
            _ => Ok(()),
        };
        if let Err(errno) = recorded {
            return Judgement::Return(Err(errno));
        }
        let asking = Asking { caller: &caller, teller };
        match (found, other) {
            (Some(found), None) => self.actor.act_on_one(&asking, &found, &request.action),
            (Some(from), Some(Some(to))) if std::ptr::eq(from.root, to.root) => {
                Judgement::Return(self.actor.act_on_two(&asking, &from, &to, &request.action))
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
            parts.clone().any(|part| part == name || part == DOT_GIT.to_bytes())
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

    /// Returns whether a name is that of a link `.git` to one of git's directories: in its place a command
    /// could put another repository.
    fn is_way_in(&self, caller: &Caller, Named { base, path }: &Named) -> bool {
        let Some((above, _)) = split(path).filter(|(_, name)| *name == DOT_GIT.to_bytes()) else {
            return false;
        };
        let is_link = || -> Result<bool, i32> {
            let place = caller.place_at(*base, above)?;
            let seen = caller.act(|| place.open_directory())?;
            let link = place::step(Some(&seen), DOT_GIT).map_err(|_| libc::ENOENT)?;
            let status = place::status(&link).map_err(|_| libc::ENOENT)?;
            let target = fs::metadata(format!("self/fd/{}/.git", seen.as_raw_fd()));
            let target = target.map(|it| (it.dev(), it.ino())).map_err(|_| libc::ENOENT)?;
            let is_gits = |root: &Root| place::identity(&root.tree).is_ok_and(|it| it == target);
            Ok(status.st_mode & libc::S_IFMT == libc::S_IFLNK && self.roots.iter().any(is_gits))
        };
        is_link().unwrap_or(false)
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
}

/// Splits a path into its directory and its last name. None: it ends in no name.
pub fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
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
