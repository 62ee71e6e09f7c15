//! Git's directories, which are mounted read-only in the sandbox. The kernel asks the warden about calls
//! that make, change or remove something by its name. If the name is in one of git's directories, the
//! warden does it for the caller, in a tree that is not mounted anywhere, unless git would obey the file.
//!
//! All other calls continue unchanged. If the caller changes its memory meanwhile, it gains nothing that
//! it may not do by itself.

mod act;
mod found;
mod names;
mod request;

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::sandbox::calls::Naming;
use crate::sandbox::notices::{Listener, Notice};
use crate::sandbox::place;
use crate::sandbox::warden::caller::{Caller, link_of, path_of};
use found::{GateEntry, Root};
use names::{Names, Touch};
use request::{Action, FileRequest, Named};

/// Carries out calls for processes in the sandbox.
pub struct Gate {
    roots: Vec<Root>,
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
    /// The working directory must be `/proc`.
    pub fn new(trees: Vec<(PathBuf, OwnedFd)>) -> Gate {
        let root = |(path, tree): (PathBuf, OwnedFd)| {
            let names = Names::of(Path::new(&format!("self/fd/{}", tree.as_raw_fd())));
            Root { path, tree, names }
        };
        Gate { roots: trees.into_iter().map(root).collect() }
    }

    /// Answers a call.
    pub fn answer(&self, listener: &Listener, notice: &Notice, naming: Naming) {
        match self.judge(listener, notice, naming) {
            Judgement::Continue => listener.go_on(notice),
            Judgement::Return(result) => listener.answer(notice, result),
            Judgement::File(file, flags) => {
                listener.give(notice, file.as_fd(), flags & libc::O_CLOEXEC != 0);
            }
        }
    }

    fn judge(&self, listener: &Listener, notice: &Notice, naming: Naming) -> Judgement {
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
        match (found, other) {
            (Some(found), None) => act_on_one(&caller, &found, &request.action),
            (Some(from), Some(Some(to))) if std::ptr::eq(from.root, to.root) => {
                Judgement::Return(act_on_two(&caller, &from, &to, &request.action))
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
        let touch = root.names.touch(&below.join(OsStr::from_bytes(name)));
        Some(GateEntry { root, directory, name: CString::new(name).ok()?, touch })
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

fn act_on_one(caller: &Caller, found: &GateEntry, action: &Action) -> Judgement {
    // Git follows links when it writes its own files.
    if matches!(action, Action::Symlink) {
        return Judgement::Return(Err(libc::EPERM));
    }
    if found.touch == Touch::Kept {
        return Judgement::Return(Err(libc::EROFS));
    }
    match action {
        Action::Open { flags, mode } => match act::open(caller, found, *flags, *mode) {
            Ok(file) => Judgement::File(file, *flags),
            Err(errno) => Judgement::Return(Err(errno)),
        },
        action => Judgement::Return(act::change(caller, found, action)),
    }
}

/// Renames or links from one name to another.
fn act_on_two(
    caller: &Caller,
    from: &GateEntry,
    to: &GateEntry,
    action: &Action,
) -> Result<(), i32> {
    if from.touch != Touch::Free || to.touch != Touch::Free {
        return Err(libc::EROFS);
    }
    act::rename_or_link(caller, from, to, action)
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
