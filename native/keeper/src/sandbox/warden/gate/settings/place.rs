//! Links between git's directories and working trees: which of them lead to no other place than git
//! itself makes them lead to.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use crate::sandbox::warden::gate::found::GateEntry;

/// The most bytes of a `.git` file.
const LONGEST: u64 = 8192;

/// Returns whether a name is in the directory that git has for a worktree: of the repository, or of a
/// submodule.
pub fn is_worktrees(at: &GateEntry) -> bool {
    let parts: Vec<&[u8]> = at.below.iter().map(OsStrExt::as_bytes).collect();
    match parts[..] {
        [b"worktrees", _, _] => true,
        // A submodule may itself be named so: there is no repository two levels above.
        [b"modules", _, .., b"worktrees", _, _] => true,
        _ => false,
    }
}

/// Returns whether a name is in the directory of a submodule.
pub fn is_submodules(at: &GateEntry) -> bool {
    let parts: Vec<&[u8]> = at.below.iter().map(OsStrExt::as_bytes).collect();
    matches!(parts[..], [b"modules", _, _, ..] | [b"worktrees", _, b"modules", _, _, ..])
}

/// Returns whether the content of `gitdir` names the `.git` file of a worktree where commands write.
pub fn is_back_link(at: &GateEntry, content: &[u8], writable: &[PathBuf]) -> bool {
    let Some(file) = is_worktrees(at).then(|| resolved(at, content)).flatten() else {
        return false;
    };
    file.file_name() == Some(OsStr::new(".git"))
        && file.parent().is_some_and(|tree| is_within(at, tree, writable))
}

/// Returns whether a name is in the directory that git has for a worktree where commands write, or for none:
/// one elsewhere may only be out of sight.
pub fn is_worktree_here(at: &GateEntry, writable: &[PathBuf]) -> bool {
    let Some(directory) = is_worktrees(at).then(|| at.path()) else { return false };
    let back = directory.with_file_name("gitdir");
    let Ok(content) = fs::read(&back) else { return !back.exists() };
    resolved(at, &content).and_then(|file| file.parent().map(Path::to_owned)).is_some_and(|tree| {
        let is_gone = fs::symlink_metadata(&tree).is_err();
        let is_written = writable.iter().any(|root| tree.starts_with(root));
        is_within(at, &tree, writable) || is_gone && is_written
    })
}

/// Returns whether the value of `core.worktree` is the directory that has this submodule's `.git` file.
pub fn may_be_worktree(at: &GateEntry, value: &[u8], writable: &[PathBuf]) -> bool {
    let Some(tree) = resolved(at, value) else { return false };
    if !is_within(at, &tree, writable) {
        return false;
    }
    let named = named_by(&tree).and_then(|named| plain_path(&tree, &named));
    named.as_deref() == at.path().parent()
}

/// Returns the path that a file in git's directory names.
fn resolved(at: &GateEntry, text: &[u8]) -> Option<PathBuf> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    if text.is_empty() || text.iter().any(u8::is_ascii_control) {
        return None;
    }
    plain_path(at.path().parent()?, Path::new(OsStr::from_bytes(text)))
}

/// Returns an absolute path without `.` and `..`. None: the path goes up from a name, which may be that
/// of a link. `base`: the real path of the directory in which it begins.
fn plain_path(base: &Path, path: &Path) -> Option<PathBuf> {
    let mut plain = base.to_owned();
    let mut goes_down = false;
    for part in path.components() {
        match part {
            Component::RootDir => {
                plain = PathBuf::from("/");
                goes_down = true;
            }
            Component::Normal(name) => {
                plain.push(name);
                goes_down = true;
            }
            Component::ParentDir if goes_down => return None,
            Component::ParentDir => drop(plain.pop()),
            _ => {}
        }
    }
    Some(plain)
}

/// Returns whether a directory is one in which commands write, reached by no link, and none of git's.
fn is_within(at: &GateEntry, directory: &Path, writable: &[PathBuf]) -> bool {
    fs::canonicalize(directory).is_ok_and(|real| real == directory)
        && writable.iter().any(|root| directory.starts_with(root))
        && !directory.starts_with(&at.root.path)
}

/// Returns the path that the `.git` file of a directory names.
fn named_by(directory: &Path) -> Option<PathBuf> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file =
        OpenOptions::new().read(true).custom_flags(flags).open(directory.join(".git")).ok()?;
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    let named = text.strip_prefix(b"gitdir: ")?;
    Some(PathBuf::from(OsStr::from_bytes(named.trim_ascii_end())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_goes_up_only_at_its_beginning() {
        let of = |path: &str| plain_path(Path::new("/w/.git/modules/a"), Path::new(path));
        assert_eq!(of("../../../a/./b"), Some("/w/a/b".into()));
        assert_eq!(of("/x//y"), Some("/x/y".into()));
        for path in ["../link/../a", "/link/../a", "/../a"] {
            assert_eq!(of(path), None, "{path}");
        }
    }
}
