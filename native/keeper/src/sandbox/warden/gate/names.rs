//! The names in git's directories that git obeys, whether the files exist or not.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The names that git obeys in the directory of a repository, a worktree or a submodule: they make it
/// start programs or look elsewhere. src/sandbox/git/places.ts has the same list.
const OBEYED: [&str; 7] = [
    "hooks",
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "info/attributes",
    "objects/info/alternates",
];

/// The most directories that are searched for submodules.
const MOST_LOOKED_AT: usize = 4096;

/// The protected names below one directory.
pub struct Names {
    kept: Vec<PathBuf>,
}

/// How a path relates to the protected names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// Not at all.
    Free,
    /// The path is protected, or below a protected name.
    Kept,
    /// A protected name is, or would be, below the path.
    Above,
}

impl Names {
    /// Returns the names for one of git's directories, with its worktrees and submodules as they are now.
    pub fn of(directory: &Path) -> Names {
        let mut bases = vec![PathBuf::new()];
        bases.extend(entries(directory, Path::new("worktrees")));
        bases.extend(submodules(directory));
        Names::below(&bases)
    }

    fn below(bases: &[PathBuf]) -> Names {
        let names = |base: &PathBuf| OBEYED.map(|name| folded(&base.join(name)));
        Names { kept: bases.iter().flat_map(names).collect() }
    }

    /// Returns how a path relates to the names. `path`: relative to the directory.
    pub fn touch(&self, path: &Path) -> Touch {
        let path = folded(path);
        if self.kept.iter().any(|kept| path.starts_with(kept)) {
            return Touch::Kept;
        }
        let is_above = self.kept.iter().any(|kept| kept.starts_with(&path));
        if is_above { Touch::Above } else { Touch::Free }
    }
}

/// Folds case, since a file system may not distinguish it.
fn folded(path: &Path) -> PathBuf {
    OsString::from_vec(path.as_os_str().as_bytes().to_ascii_lowercase()).into()
}

/// Returns the directories in `place`, by their paths relative to the directory.
fn entries(directory: &Path, place: &Path) -> Vec<PathBuf> {
    let Ok(found) = fs::read_dir(directory.join(place)) else { return Vec::new() };
    let directories = found.flatten().filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
    directories.map(|entry| place.join(entry.file_name())).collect()
}

/// Returns the submodules, nested ones too; their names may contain slashes.
fn submodules(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut ahead = entries(directory, Path::new("modules"));
    let mut looked_at = 0;
    while let Some(place) = ahead.pop().filter(|_| looked_at < MOST_LOOKED_AT) {
        looked_at += 1;
        let is_repository = directory.join(&place).join("HEAD").exists();
        let next = if is_repository { place.join("modules") } else { place.clone() };
        ahead.extend(entries(directory, &next));
        if is_repository {
            all.extend(entries(directory, &place.join("worktrees")));
            all.push(place);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_git_obeys_are_protected_in_worktrees_and_submodules_too() {
        let names = Names::below(&["".into(), "worktrees/a".into(), "modules/x/y".into()]);
        let touch = |path: &str| names.touch(Path::new(path));
        let kept =
            ["config", "CONFIG", "hooks", "hooks/pre-commit", "commondir", "info/attributes"];
        for path in kept.iter().chain(&["worktrees/a/gitdir", "modules/x/y/hooks/deep/er"]) {
            assert_eq!(touch(path), Touch::Kept, "{path}");
        }
        for path in ["info", "objects", "worktrees", "worktrees/a", "modules/x", "modules/x/y/info"]
        {
            assert_eq!(touch(path), Touch::Above, "{path}");
        }
        for path in ["config.lock", "index", "refs/heads/config", "hooksx", "worktrees/b/gitdir"] {
            assert_eq!(touch(path), Touch::Free, "{path}");
        }
    }

    #[test]
    fn worktrees_and_submodules_are_found() {
        let top = std::env::temp_dir().join(format!("forkline-names-{}", std::process::id()));
        for path in ["worktrees/w", "modules/lib/deep/modules/inner", "modules/none"] {
            fs::create_dir_all(top.join(path)).unwrap();
        }
        for path in ["modules/lib/deep/HEAD", "modules/lib/deep/modules/inner/HEAD"] {
            fs::write(top.join(path), "").unwrap();
        }
        let names = Names::of(&top);
        fs::remove_dir_all(&top).unwrap();
        let kept = ["hooks", "worktrees/w/config", "modules/lib/deep/config"];
        for path in kept.iter().chain(&["modules/lib/deep/modules/inner/hooks"]) {
            assert_eq!(names.touch(Path::new(path)), Touch::Kept, "{path}");
        }
        assert_eq!(names.touch(Path::new("modules/none/config")), Touch::Free);
    }
}
