//! The names in git's directories that git obeys, whether the files exist or not.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::sandbox::warden::gate::obeyed::{
    Obeyed, SHARED_INDEX, Touch, at_top, in_repository, repositories,
};
use crate::sandbox::warden::held::id;

/// The most directories that are searched for submodules.
const MOST_LOOKED_AT: usize = 4096;

/// The beginning of the names of files that the gate makes, in lower case.
const OF_GATE: &str = ".forkline-gate-";

/// The directories of submodules that are known. Others are recognized by their paths.
pub struct Names {
    submodules: Vec<PathBuf>,
}

/// Returns the name for a file that the gate makes.
pub fn name_of_gate(id: &str) -> String {
    format!("{OF_GATE}{id}")
}

/// Returns a new such name, which no command can foresee.
pub fn made_by_gate() -> io::Result<String> {
    id().map(|id| name_of_gate(&id))
}

impl Names {
    /// Returns the names for one of git's directories, with its submodules as they are now.
    pub fn of(directory: &Path) -> Names {
        let submodules = submodules(directory).into_iter().map(|path| folded(&path)).collect();
        Names { submodules }
    }

    /// Returns how a path relates to the names. `path`: relative to the directory.
    pub fn touch(&self, path: &Path) -> Touch {
        if let Some(obeyed) = at_top(path.as_os_str().as_bytes()) {
            return Touch::Kept(obeyed);
        }
        let lower = folded(path);
        let parts: Vec<&[u8]> = lower.iter().map(OsStrExt::as_bytes).collect();
        let touch = self.touch_of(&lower, &parts);
        // A file system may not distinguish case; git writes these names in one alone.
        if matches!(touch, Touch::Kept(_)) && !is_spelled_as_gits(path, &lower) {
            return Touch::Kept(Obeyed::Foreign);
        }
        touch
    }

    fn touch_of(&self, lower: &Path, parts: &[&[u8]]) -> Touch {
        if parts.last().is_some_and(|name| name.starts_with(OF_GATE.as_bytes())) {
            return Touch::Kept(Obeyed::Foreign);
        }
        let mut found = Touch::Free;
        let known = self.submodules.iter().filter_map(|known| match lower.strip_prefix(known) {
            Ok(rest) => Some(rest.iter().map(OsStrExt::as_bytes).collect::<Vec<_>>()),
            Err(_) => known.starts_with(lower).then(Vec::new),
        });
        let all = repositories(parts).into_iter().map(<[_]>::to_vec).chain(known);
        for rest in all {
            match in_repository(&rest) {
                Touch::Free => {}
                kept @ Touch::Kept(_) => return kept,
                Touch::Above => found = Touch::Above,
            }
        }
        found
    }
}

/// Returns whether the last parts of a path, which name a file that git obeys, are in lower case. Names of
/// hooks are as git writes them in any case.
fn is_spelled_as_gits(path: &Path, lower: &Path) -> bool {
    let (mut parts, mut lower) = (path.iter().rev(), lower.iter().rev());
    (0..3).all(|_| match (parts.next(), lower.next()) {
        (Some(part), Some(folded)) => part == folded || !is_gits(folded.as_bytes()),
        _ => true,
    })
}

fn is_gits(name: &[u8]) -> bool {
    let all: [&[u8]; 13] = [
        b"config",
        b"config.worktree",
        b"commondir",
        b"gitdir",
        b"hooks",
        b"remotes",
        b"branches",
        b"index",
        b"info",
        b"attributes",
        b"objects",
        b"alternates",
        b"worktrees",
    ];
    all.contains(&name) || name.starts_with(SHARED_INDEX)
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

    const CONFIG: Touch = Touch::Kept(Obeyed::Config { is_of_worktree: false });

    fn touch(path: &str) -> Touch {
        Names { submodules: vec!["modules/a/refs/b".into()] }.touch(Path::new(path))
    }

    #[test]
    fn names_that_git_obeys_are_protected_in_worktrees_and_submodules_too() {
        for path in [
            "config",
            "modules/x/config",
            "modules/x/y/z/config",
            "modules/a/refs/b/config",
            "worktrees/w/modules/x/config",
        ] {
            assert_eq!(touch(path), CONFIG, "{path}");
        }
        assert_eq!(touch("worktrees/a/gitdir"), Touch::Kept(Obeyed::Back));
        assert_eq!(touch("modules/x/worktrees/w/commondir"), Touch::Kept(Obeyed::Common));
        assert_eq!(touch("modules/x/hooks/a"), Touch::Kept(Obeyed::Hook));
        assert_eq!(touch("hooks"), Touch::Kept(Obeyed::Folder));
        assert_eq!(touch("modules/x/branches"), Touch::Kept(Obeyed::Folder));
        assert_eq!(touch("remotes/h:x"), Touch::Kept(Obeyed::Remote));
        assert_eq!(touch("branches/h:x"), Touch::Kept(Obeyed::Remote));
        for path in ["index", "worktrees/w/index", "modules/x/index", "sharedindex.0f"] {
            assert_eq!(touch(path), Touch::Kept(Obeyed::Index), "{path}");
        }
        assert_eq!(touch("HEAD"), Touch::Kept(Obeyed::Head));
        for path in ["objects", "refs"] {
            assert_eq!(touch(path), Touch::Kept(Obeyed::Base), "{path}");
        }
        assert_eq!(touch("info/attributes"), Touch::Kept(Obeyed::Attributes));
        assert_eq!(touch("objects/info/alternates"), Touch::Kept(Obeyed::Alternates));
        for path in [
            "CONFIG",
            "config/x",
            "Hooks/a",
            "hooks/a/b",
            "remotes/a/b",
            "Branches/a",
            "Index",
            "head",
            "Refs",
            ".forkline-gate-1",
            "Info/attributes",
        ] {
            assert_eq!(touch(path), Touch::Kept(Obeyed::Foreign), "{path}");
        }
    }

    #[test]
    fn other_names_are_not() {
        for path in [
            "",
            "info",
            "modules/x/objects",
            "worktrees",
            "worktrees/a",
            "modules",
            "modules/x",
            "modules/x/info",
            "modules/a/refs/b",
            "modules/a/refs",
        ] {
            assert_eq!(touch(path), Touch::Above, "{path}");
        }
        for path in [
            "config.lock",
            "index.lock",
            "logs/refs/remotes/origin/index",
            "refs/remotes/origin/HEAD",
            "worktrees/w/HEAD",
            "refs/heads/config",
            "hooksx",
            "hooks/pre-commit.sample",
            "modules/x/refs/heads/config",
            "modules/x/logs/refs/heads/hooks/config",
            "worktrees/w/logs/HEAD",
        ] {
            assert_eq!(touch(path), Touch::Free, "{path}");
        }
        // A file there is free: the gate looks at what it is.
        assert_eq!(touch("modules/x/HEAD"), Touch::Above);
    }

    #[test]
    fn users_are_told_what_git_would_have_obeyed() {
        let key = |path: &str| match touch(path) {
            Touch::Kept(obeyed) => obeyed.key(Path::new(path)),
            _ => String::new(),
        };
        assert_eq!(key("modules/x/hooks/pre-commit"), "hooks/pre-commit");
        assert_eq!(key("worktrees/x/commondir"), "commondir");
        assert_eq!(key("objects/info/alternates"), "objects/info/alternates");
    }

    #[test]
    fn submodules_are_found() {
        let top = std::env::temp_dir().join(format!("forkline-names-{}", std::process::id()));
        for path in ["modules/lib/refs/deep/modules/inner", "modules/none"] {
            fs::create_dir_all(top.join(path)).unwrap();
        }
        for path in ["modules/lib/refs/deep/HEAD", "modules/lib/refs/deep/modules/inner/HEAD"] {
            fs::write(top.join(path), "").unwrap();
        }
        let names = Names::of(&top);
        fs::remove_dir_all(&top).unwrap();
        for path in ["modules/lib/refs/deep", "modules/lib/refs/deep/modules/inner"] {
            assert_eq!(names.touch(&Path::new(path).join("config")), CONFIG, "{path}");
        }
    }
}
