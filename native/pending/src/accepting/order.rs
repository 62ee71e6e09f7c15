//! When each change is put into effect.

use std::path::Path;

use crate::layer::walk::{Difference, LayerEntry};
use crate::node::is_directory;

/// Puts directories first, then the objects of git's before what names them, removals last, deepest first. The rights
/// of directories, which may forbid all that, are given after everything.
pub(crate) fn put_in_order(found: &mut [LayerEntry]) {
    found.sort_by(|one, other| (rank(one), &one.path).cmp(&(rank(other), &other.path)));
    let removals = found.iter().position(|one| one.what == Difference::Deleted);
    if let Some(gone) = removals.and_then(|at| found.get_mut(at..)) {
        gone.reverse();
    }
}

/// Returns when an entry comes.
fn rank(entry: &LayerEntry) -> u8 {
    match entry.what {
        Difference::Deleted => 6,
        _ if entry.inside.as_ref().is_some_and(is_directory) => 0,
        _ => rank_in_git(&entry.path),
    }
}

/// Returns when a file comes: what is in a directory of git's, also one of a submodule or of a worktree, after what it
/// names.
fn rank_in_git(path: &Path) -> u8 {
    let parts = path.iter().skip_while(|part| *part != ".git").skip(1);
    for part in parts.filter_map(|part| part.to_str()) {
        match part {
            "objects" => return 1,
            "refs" | "packed-refs" | "logs" => return 3,
            "index" => return 5,
            _ if part.ends_with("HEAD") => return 4,
            _ => {}
        }
    }
    2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_in_git_comes_before_what_names_it() {
        let ranks = |directory: &str| {
            ["objects/ab/cd", "config", "refs/heads/main", "HEAD", "index"]
                .map(|name| rank_in_git(&Path::new(directory).join(name)))
        };
        for directory in [".git", "a/.git", ".git/modules/a/b", ".git/worktrees/objective"] {
            assert_eq!(ranks(directory), [1, 2, 3, 4, 5], "{directory}");
        }
        assert_eq!(rank_in_git(Path::new("a/objects/index")), 2);
    }
}
