//! The names that stay hidden, whatever file the host puts there, and the directories that contain them.
//!
//! A mount hides one file or directory. When the host replaces that by `rename()`, the kernel removes the
//! mount. A mount in an overlay is on the overlay's own entry, which stays.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::plan::{Access, Plan, Rule};
use crate::sandbox::tree::walk::{Placeholder, Walk};

/// Directories without overlays: their files change by rename, and must be seen as they are. Hidden files
/// in `/etc` are root's, and no other user can read them anyway.
const SYSTEM: [&str; 4] = ["/etc", "/proc", "/sys", "/dev"];

/// A directory for an overlay, and the hidden names below it.
#[derive(Debug, PartialEq, Eq)]
pub struct OverlayBase {
    pub path: PathBuf,
    pub names: BTreeMap<PathBuf, Placeholder>,
}

impl OverlayBase {
    /// Returns whether this name is that of a directory, which is empty in the overlay.
    pub fn has_directory(&self, path: &Path) -> bool {
        self.names.get(path) == Some(&Placeholder::Directory)
    }

    /// Returns the directories that are seen through the overlay: its own, and those on the way to hidden
    /// names; shorter paths first.
    pub fn merged(&self) -> BTreeSet<&Path> {
        let above = |name: &'_ &PathBuf| name.components().count() > self.path.components().count();
        let ways = self.names.keys().filter(above).flat_map(|name| name.ancestors().skip(1));
        ways.filter(|path| path.starts_with(&self.path)).collect()
    }
}

/// Sorts the hidden names of a resolved plan by the directories that need overlays. Returns whether
/// overlays can hide all names.
pub fn names(plan: &Plan, mounts: &[PathBuf]) -> (Vec<OverlayBase>, bool) {
    let context = Context::new(plan, mounts);
    let mut found = BTreeMap::new();
    let mut directories = BTreeSet::new();
    let mut are_all = true;
    for path in &plan.hidden_names {
        let Walk { own, places, .. } = context.walk(path);
        let last = places.last().map(|(place, _)| place.clone());
        for place in own.into_iter().chain(last) {
            match context.way_to_hold(&place) {
                Hiding::Overlay(directory) => {
                    directories.insert(directory);
                }
                Hiding::Unneeded => {}
                Hiding::None => are_all = false,
            }
        }
        found.extend(places);
    }
    // Commands find an empty directory there, as a place for a mount.
    for (_, path) in &plan.caches.voids {
        if let Hiding::Overlay(directory) = context.way_to_hold(path) {
            directories.insert(directory);
            found.insert(path.clone(), Placeholder::Directory);
        }
    }
    (context.bases(directories, &found), are_all)
}

/// How a name can be hidden.
#[derive(Debug, PartialEq, Eq)]
enum Hiding {
    Overlay(PathBuf),
    /// Commands can't see the name, or only its owner can read the file.
    Unneeded,
    None,
}

struct Context<'a> {
    plan: &'a Plan,
    /// Mount points that may matter.
    mounts: Vec<&'a Path>,
    home: Option<PathBuf>,
    /// Directories of the sandbox's own, which contain only what the plan puts there.
    own: Vec<PathBuf>,
}

impl Context<'_> {
    fn new<'a>(plan: &'a Plan, mounts: &'a [PathBuf]) -> Context<'a> {
        let mounts = mounts.iter().map(PathBuf::as_path);
        Context {
            plan,
            mounts: mounts.filter(|path| path.parent().is_some() && !is_system(path)).collect(),
            home: plan.home.as_ref().and_then(|home| home.canonicalize().ok()),
            own: plan
                .own_directories()
                .iter()
                .filter_map(|path| fs::canonicalize(path).ok())
                .collect(),
        }
    }

    fn walk(&self, path: &Path) -> Walk {
        let names = self.plan.home.as_ref().and_then(|home| path.strip_prefix(home).ok());
        match (&self.home, names) {
            (Some(home), Some(names)) => Walk::new(home, names),
            _ => Walk::new(Path::new("/"), path),
        }
    }

    fn way_to_hold(&self, place: &Path) -> Hiding {
        if place.starts_with("/etc") || !self.is_visible(place) {
            return Hiding::Unneeded;
        }
        let mut shown = self.above(place, &[Access::Show, Access::Write]);
        if let Some(hidden) = self.above(place, &[Access::Hide]).next() {
            let is_shown = shown.any(|path| path.starts_with(hidden));
            return if is_shown { Hiding::None } else { Hiding::Unneeded };
        }
        // Commands see the host's own directory there.
        if self.above(place, &[Access::Write, Access::Cache]).next().is_some() {
            return Hiding::None;
        }
        let directory = self.candidates(place).into_iter().find(|path| self.is_fit(path, place));
        directory.map_or(Hiding::None, |path| Hiding::Overlay(path.to_owned()))
    }

    /// Returns the paths of rules for directories that contain `place`.
    fn above<'b>(
        &'b self,
        place: &'b Path,
        accesses: &'b [Access],
    ) -> impl Iterator<Item = &'b Path> {
        let is_above = move |rule: &&Rule| {
            accesses.contains(&rule.access) && *rule.path != *place && place.starts_with(&rule.path)
        };
        self.plan.rules.iter().filter(is_above).map(|rule| &*rule.path)
    }

    fn is_visible(&self, place: &Path) -> bool {
        let Some(own) = self.own.iter().find(|own| place.starts_with(own)) else { return true };
        let is_shown = |rule: &Rule| {
            matches!(rule.access, Access::Show | Access::Write)
                && place.starts_with(&rule.path)
                && rule.path.starts_with(own)
        };
        self.plan.rules.iter().any(is_shown)
    }

    /// Returns directories for an overlay, the best ones first. A home or a mount point is not replaced;
    /// another directory may be replaced with everything in it.
    fn candidates<'b>(&'b self, place: &'b Path) -> Vec<&'b Path> {
        let above = |path: &&Path| place.starts_with(path) && *path != place;
        let home = self.home.as_deref().filter(above);
        let mounted = self.mounts.iter().copied().filter(above);
        let mounted = mounted.filter(|path| home.is_some_and(|home| path.starts_with(home)));
        let mounted = mounted.max_by_key(|path| path.components().count());
        home.into_iter().chain(mounted).chain(place.parent()).collect()
    }

    fn is_fit(&self, directory: &Path, place: &Path) -> bool {
        directory.parent().is_some()
            && !is_system(directory)
            && self.is_visible(directory)
            && self.is_same_mount(directory, place)
    }

    /// Returns whether no mount is between a directory and a place in it: an overlay would not contain
    /// that mount.
    fn is_same_mount(&self, directory: &Path, place: &Path) -> bool {
        let is_above = |above: &Path, path: &Path| path.starts_with(above) && path != above;
        let is_between = |path: &&Path| is_above(directory, path) && is_above(path, place);
        !self.mounts.iter().any(is_between)
    }

    fn bases(
        &self,
        directories: BTreeSet<PathBuf>,
        found: &BTreeMap<PathBuf, Placeholder>,
    ) -> Vec<OverlayBase> {
        let mut bases: Vec<OverlayBase> = Vec::new();
        // Shorter paths come first.
        for path in directories {
            let is_in = |base: &OverlayBase| {
                path.starts_with(&base.path) && self.is_same_mount(&base.path, &path)
            };
            if !bases.iter().any(is_in) {
                bases.push(OverlayBase { path, names: BTreeMap::new() });
            }
        }
        for (place, placeholder) in found {
            let is_covered = place.ancestors().skip(1).any(|above| found.contains_key(above));
            if is_covered || self.above(place, &[Access::Write]).next().is_some() {
                continue;
            }
            let is_in = |base: &&mut OverlayBase| {
                place.starts_with(&base.path)
                    && *place != base.path
                    && self.is_same_mount(&base.path, place)
            };
            if let Some(base) = bases.iter_mut().find(is_in) {
                base.names.insert(place.clone(), placeholder.clone());
            }
        }
        bases
    }
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}

#[cfg(test)]
mod tests;
