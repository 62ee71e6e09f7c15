//! The mounts of the file tree, in their order.

use std::collections::HashSet;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use crate::sandbox::mounts::Tree;
use crate::sandbox::pending::held_tree;
use crate::sandbox::plan::{Access, Plan, Rule};
use crate::sandbox::report::{Protection, SetupError};
use crate::sandbox::tree::own::text_file;

/// A mount: a path, and what is mounted there.
pub struct Placement {
    pub path: PathBuf,
    pub what: Content,
}

/// What is mounted at a path.
pub enum Content {
    /// A copy of a tree that can be written to.
    Writable(Tree),
    /// What is seen there by then, which can't be renamed any more.
    Pinned,
    /// A copy of a tree that can't be written to.
    ReadOnly(Tree),
    /// A copy of a tree that can be written to, where there is, or can be made, a place for it.
    WhereItCan(Tree),
    /// A file that can't be opened.
    Nothing,
    /// An empty directory that can't be listed.
    NoDirectory,
}

/// Returns all mounts of a plan. Copies are made now.
pub fn steps(plan: &Plan) -> Result<Vec<Placement>, SetupError> {
    let mut steps = Vec::new();
    let mut held = HashSet::new();
    for rule in &plan.rules {
        let copy = |path: &Path| Tree::copy(path).map_err(refuse(rule));
        // Access is given to the file that the host has found, whatever is there by now.
        let pinned = || rule.open().and_then(|file| Tree::copy_of(&file)).map_err(refuse(rule));
        if matches!(rule.access, Access::Keep | Access::Hide | Access::Git) {
            // A mount point can't be renamed, so that no other directory can take its place.
            for above in movable_above(plan, &rule.path) {
                if held.insert(above.to_owned()) {
                    let what = match plan.pending {
                        Some(_) => Content::Pinned,
                        None => Content::Writable(copy(above)?),
                    };
                    steps.push(Placement { path: above.to_owned(), what });
                }
            }
        }
        let what = match rule.access {
            // The root of the tree, over which nothing is mounted, stays as it is.
            Access::Write if rule.path == Path::new("/") => continue,
            // Its mount is made elsewhere.
            Access::Cache => continue,
            Access::Keep if writable_root(plan, &rule.path).is_none() => continue,
            Access::Hide if rule.path.is_dir() => Content::NoDirectory,
            Access::Hide => match plan.texts.iter().find(|(path, _)| *path == rule.path) {
                Some((_, text)) => Content::ReadOnly(text_file(text).map_err(refuse(rule))?),
                None => Content::Nothing,
            },
            Access::Write => match held_tree(plan, rule) {
                Some(held) => Content::Writable(held?),
                None => Content::Writable(pinned()?),
            },
            Access::Show | Access::Socket | Access::Git => Content::ReadOnly(pinned()?),
            Access::Keep => Content::ReadOnly(copy(&rule.path)?),
        };
        steps.push(Placement { path: rule.path.clone(), what });
    }
    Ok(steps)
}

/// Returns an error if a writable path is no longer what the host has found.
pub fn refuse_replaced(plan: &Plan) -> Result<(), SetupError> {
    let Some(path) = plan.replaced() else { return Ok(()) };
    let action = format!("'{}' has been replaced since the command was asked for", path.display());
    Err(SetupError::of(Protection::Write, action)(io::Error::from_raw_os_error(libc::ESTALE)))
}

/// Returns copies of git's directories that can be written to, not mounted anywhere. To be called while
/// nothing is covered.
pub fn git_trees(plan: &Plan) -> Result<Vec<(PathBuf, OwnedFd)>, SetupError> {
    let rules = plan.rules.iter().filter(|rule| rule.access == Access::Git);
    let trees = rules.map(|rule| {
        let tree = rule.open().and_then(|file| Tree::copy_of(&file)).map_err(refuse(rule))?;
        Ok((rule.path.clone(), tree.into_descriptor()))
    });
    trees.collect()
}

fn refuse(rule: &Rule) -> impl FnOnce(io::Error) -> SetupError + use<> {
    SetupError::of(Protection::Write, format!("opening '{}'", rule.path.display()))
}

/// Returns the directories above `path` that a command could rename: those below writable directories,
/// which may be nested.
fn movable_above<'a>(plan: &'a Plan, path: &'a Path) -> Vec<&'a Path> {
    let mut movable = Vec::new();
    let (mut below, mut root) = (path, writable_root(plan, path));
    while let Some(above) = root {
        movable.extend(between(above, below));
        below = above;
        root = above.parent().and_then(|parent| writable_root(plan, parent));
    }
    movable
}

/// Returns the nearest writable directory above `path`, unless a nearer rule forbids writing.
fn writable_root<'a>(plan: &'a Plan, path: &Path) -> Option<&'a Path> {
    // Of two rules for the same path, the stricter one applies.
    let is_above = |rule: &&Rule| path != rule.path || rule.access == Access::Write;
    let above = plan.rules.iter().filter(|rule| path.starts_with(&rule.path)).filter(is_above);
    let nearest = above.max_by_key(|rule| rule.path.components().count())?;
    (nearest.access == Access::Write).then_some(&*nearest.path)
}

/// Returns the directories above `path` and below `root`, the longest path last.
fn between<'a>(root: &Path, path: &'a Path) -> Vec<&'a Path> {
    let above =
        path.ancestors().skip(1).take_while(|above| above.starts_with(root) && *above != root);
    let mut above: Vec<_> = above.collect();
    above.reverse();
    above
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_above_a_protected_file_are_pinned() {
        let rule = |access, path: &str| Rule { access, path: path.into(), identity: None };
        let plan = Plan {
            rules: vec![rule(Access::Write, "/w"), rule(Access::Show, "/w/s")],
            ..Plan::default()
        };
        let root = writable_root(&plan, Path::new("/w/.git/hooks"));
        assert_eq!(root, Some(Path::new("/w")));
        assert_eq!(between(Path::new("/w"), Path::new("/w/.git/hooks")), [Path::new("/w/.git")]);
        assert_eq!(writable_root(&plan, Path::new("/w/s/x")), None);
        assert_eq!(writable_root(&plan, Path::new("/other")), None);
        assert_eq!(writable_root(&plan, Path::new("/w")), Some(Path::new("/w")));
        assert_eq!(between(Path::new("/w"), Path::new("/w")), Vec::<&Path>::new());
    }

    #[test]
    fn directories_are_pinned_up_to_the_outer_writable_one() {
        let rule = |access, path: &str| Rule { access, path: path.into(), identity: None };
        let plan = Plan {
            rules: vec![
                rule(Access::Write, "/w"),
                rule(Access::Write, "/w/a/b"),
                rule(Access::Keep, "/w/k"),
                rule(Access::Write, "/w/k/l/m"),
            ],
            ..Plan::default()
        };
        let pinned = |path| movable_above(&plan, Path::new(path));
        assert_eq!(pinned("/w/a/b/c/.env"), [Path::new("/w/a/b/c"), Path::new("/w/a")]);
        assert_eq!(pinned("/w/k/l/m/n/.env"), [Path::new("/w/k/l/m/n")]);
        assert_eq!(pinned("/other/.env"), Vec::<&Path>::new());
    }
}
