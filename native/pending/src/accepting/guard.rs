//! Settings that programs outside obey: they are accepted by their own path alone.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use forkline_journal::NodeKind;

/// What in a directory of git's no program obeys: names, or those of directories with all below.
const HARMLESS: [&str; 20] = [
    "refs",
    "logs",
    "lfs",
    "rr-cache",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "index",
    "index.lock",
    "packed-refs",
    "shallow",
    "description",
    "COMMIT_EDITMSG",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_RR",
    "SQUASH_MSG",
    "TAG_EDITMSG",
    "branches",
    "gc.log",
];

/// Returns why a path is only accepted by itself; `None`: it is harmless. `guarded`: settings of the workspace;
/// `kind`: what commands have made of it, or removed there.
pub(crate) fn setting(path: &Path, kind: NodeKind, guarded: &[PathBuf]) -> Option<&'static str> {
    if guarded.iter().any(|one| path.starts_with(one)) {
        return Some("it is a setting that programs outside obey");
    }
    let mut parts = path.components().map(|part| part.as_os_str());
    parts.find(|part| *part == OsStr::new(".git"))?;
    let rest: Vec<&OsStr> = parts.collect();
    if rest.is_empty() && kind != NodeKind::Directory || kind == NodeKind::Link {
        return Some("it leads git to another place");
    }
    (!is_harmless(&rest)).then_some("git obeys it")
}

/// Returns why a directory is only removed by its own path. `has_git`: one of git's is in it.
pub(crate) fn lost(path: &Path, has_git: bool, guarded: &[PathBuf]) -> Option<&'static str> {
    let has_setting = guarded.iter().any(|one| one.starts_with(path) && one.exists());
    (has_git || has_setting).then_some("settings that programs outside obey would go with it")
}

fn is_harmless(rest: &[&OsStr]) -> bool {
    let Some((first, below)) = rest.split_first() else { return true };
    let Some(name) = first.to_str() else { return false };
    match name {
        // A worktree, or a submodule, has a directory of git's of its own, whose name may have several parts.
        "worktrees" | "modules" => {
            let own = below.get(1..).unwrap_or_default();
            own.is_empty() || is_harmless(own) && !below.iter().any(|part| is_obeyed(part))
        }
        // Alternates name other stores of objects.
        "objects" => !below.starts_with(&[OsStr::new("info")]) || below.len() == 1,
        "info" => below.first().is_none_or(|one| *one == "exclude" || *one == "refs"),
        _ => HARMLESS.contains(&name) || name == "HEAD" || name.ends_with("_HEAD"),
    }
}

/// Whether git obeys what has this name in a directory of its own.
fn is_obeyed(name: &OsStr) -> bool {
    const OBEYED: [&str; 7] =
        ["config", "config.worktree", "hooks", "info", "commondir", "gitdir", "alternates"];
    OBEYED.iter().any(|one| name == *one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_obey_is_a_setting() {
        let guarded = [PathBuf::from("/w/.npmrc"), PathBuf::from("/w/.vscode")];
        let is = |path: &str| setting(Path::new(path), NodeKind::Directory, &guarded).is_some();
        for path in [
            "/w/.npmrc",
            "/w/.vscode/tasks.json",
            "/w/.git/config",
            "/w/.git/hooks/pre-commit",
            "/w/.git/objects/info/alternates",
            "/w/.git/hooks",
            "/w/.git/info/attributes",
            "/w/.git/worktrees/a/config.worktree",
            "/w/sub/.git/config",
            "/w/.git/commondir",
            "/w/.git/modules/a/config",
            "/w/.git/modules/a/hooks/x",
            "/w/.git/modules/a/refs/config",
            "/w/.git/modules/a/b/hooks/x",
            "/w/.git/worktrees/a/gitdir",
        ] {
            assert!(is(path), "{path}");
        }
        for path in [
            "/w/a",
            "/w/.git",
            "/w/.git/objects/ab/cd",
            "/w/.git/HEAD",
            "/w/.git/ORIG_HEAD",
            "/w/.git/refs/heads/config",
            "/w/.git/index",
            "/w/.git/logs/HEAD",
            "/w/.git/modules/a/HEAD",
            "/w/.git/modules/a",
            "/w/.git/info/exclude",
            "/w/.npmrc2",
            "/w/.gitignore",
            "/w/.git/rebase-merge/todo",
        ] {
            assert!(!is(path), "{path}");
        }
        assert!(setting(Path::new("/w/sub/.git"), NodeKind::File, &guarded).is_some());
        assert!(setting(Path::new("/w/.git/modules/a"), NodeKind::Link, &guarded).is_some());
    }
}
