//! Which names in a directory of git's it obeys, whether they are there or not.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// What git obeys in the directory of a repository, of a worktree, of a submodule: programs are started by
/// it, or it leads elsewhere. The host has the same list: see src/sandbox/git/places.ts.
const OBEYED: [&str; 7] = [
    "hooks",
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "info/attributes",
    "objects/info/alternates",
];

/// More directories of submodules are not looked for.
const MOST_LOOKED_AT: usize = 4096;

/// The names that are kept, below one directory.
pub struct Names {
    kept: Vec<PathBuf>,
}

/// What a path is to what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// Nothing.
    Free,
    /// It is kept, or lies in what is.
    Kept,
    /// Something that is kept lies, or would lie, below it.
    Above,
}

impl Names {
    /// Those of a directory of git's, its worktrees and its submodules, as they are now.
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

    /// `path`: from the directory.
    pub fn touch(&self, path: &Path) -> Touch {
        let path = folded(path);
        if self.kept.iter().any(|kept| path.starts_with(kept)) {
            return Touch::Kept;
        }
        let is_above = self.kept.iter().any(|kept| kept.starts_with(&path));
        if is_above { Touch::Above } else { Touch::Free }
    }
}

/// A file system may take names of either case for the same.
fn folded(path: &Path) -> PathBuf {
    OsString::from_vec(path.as_os_str().as_bytes().to_ascii_lowercase()).into()
}

/// The directories in `place`, by their paths from the directory.
fn entries(directory: &Path, place: &Path) -> Vec<PathBuf> {
    let Ok(found) = fs::read_dir(directory.join(place)) else { return Vec::new() };
    let directories = found.flatten().filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
    directories.map(|entry| place.join(entry.file_name())).collect()
}

/// Of submodules, whose names may have slashes, and of theirs.
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
    fn what_git_obeys_is_kept_at_any_place_that_is_its() {
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
