//! The files as commands see them: the host's files, read-only, except what can be written to and what is
//! hidden.
//!
//! All that is to be seen is copied first, while nothing is covered. Then everything is made read-only,
//! and the copies are mounted in their places, shorter paths first, so that the longest path decides.

mod memory;
mod names;
mod overlay;
mod own;
mod steps;
mod walk;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::sandbox::layers::{Layers, place_caches};
use crate::sandbox::mounts::{self, Tree, make_read_only, mount_new, put};
use crate::sandbox::place;
use crate::sandbox::plan::Plan;
use crate::sandbox::report::{Mechanism, Protection, SetupError};
pub use names::{OverlayBase, names};
use overlay::overlays;
use own::Hosts;
pub use own::{close_proc, open_proc};
use steps::steps;
pub use steps::{Content, Placement};
pub use steps::{git_trees, refuse_replaced};

/// The file tree.
pub struct Made {
    /// The mechanisms that protect hidden files, and caches.
    pub by: [Mechanism; 2],
    /// Git's directories as they are seen without their covers, where settings are judged by its history.
    pub beneath: Vec<(PathBuf, OwnedFd)>,
}

/// Makes the file tree.
pub fn make(plan: &Plan, layers: Option<&Layers>) -> Result<Made, SetupError> {
    let refuse =
        |protection, action: &str| SetupError::of::<io::Error>(protection, action.to_owned());
    mounts::part_from_outside().map_err(refuse(Protection::Write, "leaving the host's mounts"))?;
    let nothing = || Tree::copy(Path::new("/dev/null")).and_then(Tree::without_devices);
    let hosts = Hosts::copy();
    let mut steps = steps(plan)?;
    let (caches, caching) = place_caches(plan, layers);
    steps.extend(caches);
    let by = hide_names(plan, &mut steps);
    close(plan.opens_all())
        .map_err(refuse(Protection::Write, "making the files read-only (Linux 5.12 or newer)"))?;
    let own = own::make_dev(hosts.devices).map_err(refuse(Protection::Read, "mounting /dev"))?;
    if !plan.shared_tmp {
        own::make_private(own, hosts.run)
            .map_err(refuse(Protection::Tmp, "mounting /tmp and /run"))?;
    }
    let (mut hidden, mut beneath) = (Vec::new(), Vec::new());
    let has_history = |path: &Path| plan.repositories.iter().any(|one| one.git == path);
    for Placement { path, what } in steps {
        let action = format!("mounting '{}'", path.display());
        if has_history(&path) {
            beneath.extend(place::open(&path).map(|seen| (path.clone(), seen)));
        }
        let result = match what {
            Content::Writable(tree) => put(tree, &path, true),
            Content::Pinned => Tree::copy(&path).and_then(|tree| put(tree, &path, true)),
            Content::WhereItCan(tree) => {
                let _ = put(tree, &path, true);
                Ok(())
            }
            Content::ReadOnly(tree) => put(tree, &path, false),
            // No place for a mount: a directory above it is hidden already.
            Content::Nothing | Content::NoDirectory if !path.exists() => Ok(()),
            Content::NoDirectory => {
                hidden.push(path.clone());
                // Mode 711: paths to what is shown below it can pass.
                mount_new(c"tmpfs", &path, libc::MS_NODEV, c"mode=711,size=64k")
            }
            Content::Nothing => nothing().and_then(|tree| tree.attach(&path)),
        };
        result.map_err(refuse(Protection::Write, &action))?;
    }
    for path in hidden.iter().filter(|path| path.exists()) {
        // What is shown in it may be listed.
        let is_empty = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        make_read_only_alone(path, if is_empty { 0o111 } else { 0o555 })
            .map_err(refuse(Protection::Read, &format!("hiding '{}'", path.display())))?;
    }
    Ok(Made { by: [by, caching], beneath })
}

/// Makes all files read-only; where everything can be written to, the kernel's own settings alone.
fn close(opens_all: bool) -> io::Result<()> {
    if !opens_all {
        return make_read_only(Path::new("/"));
    }
    make_read_only(Path::new("/sys")).or_else(|error| match error.raw_os_error() {
        // No such file system is mounted there.
        Some(libc::EINVAL | libc::ENOENT) => Ok(()),
        _ => Err(error),
    })
}

/// Hides names by overlays. Covers `/dev`. Returns the mechanism that protects hidden files.
fn hide_names(plan: &Plan, steps: &mut Vec<Placement>) -> Mechanism {
    let mounts = mounts::all();
    let (bases, are_all) = names(plan, &mounts);
    let count = bases.len();
    let overlays = overlays(bases, &mounts);
    let by =
        if are_all && overlays.len() == count { Mechanism::Namespace } else { Mechanism::Mount };
    // The overlay shows these itself, or has an empty directory of its own.
    let merged: HashSet<&Path> =
        overlays.iter().flat_map(|overlay| overlay.base.merged()).collect();
    let is_empty = |path: &Path| overlays.iter().any(|overlay| overlay.base.has_directory(path));
    let is_above = |path: &Path| {
        plan.rules.iter().any(|rule| rule.path.starts_with(path) && rule.path != path)
    };
    steps.retain(|Placement { path, what }| match what {
        Content::ReadOnly(_) => !merged.contains(&**path),
        Content::NoDirectory => !is_empty(path) || is_above(path),
        _ => true,
    });
    let overlays = overlays.into_iter().map(|overlay| Placement {
        path: overlay.base.path,
        what: Content::ReadOnly(overlay.tree),
    });
    steps.splice(0..0, overlays);
    steps.sort_by_key(|step| step.path.components().count());
    by
}

/// Makes the mount at this path read-only, and not those below it, with this mode.
fn make_read_only_alone(path: &Path, mode: u32) -> io::Result<()> {
    let mode = fs::Permissions::from_mode(mode);
    fs::set_permissions(path, mode)?;
    mounts::make_read_only_alone(path)
}
