//! The mounts of caches: an overlay over each.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen,
};

use super::store::Layers;
use crate::sandbox::mounts::{self, Tree, mount_new};
use crate::sandbox::place;
use crate::sandbox::plan::{Access, Plan};
use crate::sandbox::report::Mechanism;
use crate::sandbox::tree::{Content, Placement};

/// Where layers in memory are made; another mount covers this directory later.
const WORKSHOP: &str = "/dev";

/// Returns the mounts of a resolved plan's caches, and the weakest mechanism among them. To be called
/// while nothing is covered; may cover `/dev`.
pub fn place_caches(plan: &Plan, layers: Option<&Layers>) -> (Vec<Placement>, Mechanism) {
    let Some(layers) = layers else { return (Vec::new(), Mechanism::None) };
    let mut weakest = Mechanism::Overlay;
    let mut placements = Vec::new();
    let mut has_workshop = false;
    let mut place = |path: &Path, tree: Tree| {
        placements.push(Placement { path: path.to_owned(), what: Content::Writable(tree) });
    };
    for (path, name) in &plan.caches.layers {
        let is_this = |path: &Path| {
            plan.rules.iter().find(|rule| rule.access == Access::Cache && rule.path == path)
        };
        // Gone, or replaced: the next command is in a sandbox of its own.
        let Some(Ok(lower)) = is_this(path).map(|rule| rule.open()) else { continue };
        if let Ok(tree) = on_disk(layers, name, path, &lower) {
            place(path, tree);
            continue;
        }
        // Such as in a container, whose files can be no upper layer.
        has_workshop = has_workshop || mount_new(c"tmpfs", Path::new(WORKSHOP), 0, MEMORY).is_ok();
        if has_workshop && let Ok(tree) = in_memory(name, path, &lower) {
            place(path, tree);
            weakest = if weakest == Mechanism::Mount { weakest } else { Mechanism::Memory };
            continue;
        }
        // No overlay can be had of a directory with others mounted below it, which stay as they are, too.
        if mounts::all().iter().any(|place| place != path && place.starts_with(path)) {
            continue;
        }
        weakest = Mechanism::Mount;
        if let Ok(tree) = empty(layers, name) {
            place(path, tree);
        }
    }
    for (name, path) in &plan.caches.voids {
        if let Ok(tree) = Tree::copy(&layers.void(name)).and_then(Tree::without_devices) {
            placements.push(Placement { path: path.clone(), what: Content::WhereItCan(tree) });
        }
    }
    (placements, weakest)
}

const MEMORY: &std::ffi::CStr = c"mode=700,size=25%";

fn on_disk(layers: &Layers, name: &Path, path: &Path, lower: &OwnedFd) -> io::Result<Tree> {
    let own = layers.own().ok_or(io::ErrorKind::ResourceBusy)?;
    let mut lowers = Vec::new();
    for slot in layers.others() {
        lowers.push(place::open(&layers.layer(slot, name).join("upper"))?);
    }
    let whole: Vec<&OwnedFd> = lowers.iter().chain([lower]).collect();
    overlay(&whole, &layers.layer(own, name), path, false)
}

fn in_memory(name: &Path, path: &Path, lower: &OwnedFd) -> io::Result<Tree> {
    let layer = Path::new(WORKSHOP).join(name);
    for part in ["upper", "work"] {
        mounts::make_place(&layer.join(part), true)?;
    }
    overlay(&[lower], &layer, path, false)
}

/// Returns an empty directory that is the workspace's, where no overlay can be had.
fn empty(layers: &Layers, name: &Path) -> io::Result<Tree> {
    let own = layers.own().ok_or(io::ErrorKind::ResourceBusy)?;
    let place = layers.layer(own, name).join("plain");
    fs::create_dir_all(&place)?;
    Tree::copy(&place)?.without_devices()
}

/// Mounts an overlay nowhere yet. `layer`: the directory with its `upper` and `work`; `path`: the lowest
/// layer; `is_anyones`: any user can tell from the upper layer what has changed.
pub fn overlay(
    lowers: &[&OwnedFd],
    layer: &Path,
    path: &Path,
    is_anyones: bool,
) -> io::Result<Tree> {
    let [upper, work] = ["upper", "work"].map(|part| place::open(&layer.join(part)));
    let (upper, work) = (upper?, work?);
    let of = |file: &OwnedFd| format!("/proc/self/fd/{}", file.as_raw_fd());
    let all = lowers.iter().map(|lower| of(lower)).collect::<Vec<_>>().join(":");
    let mut attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    if mounts::execution(path)? != 0 {
        attributes |= MountAttrFlags::MOUNT_ATTR_NOEXEC;
    }
    let make = |is_users: bool| -> io::Result<Tree> {
        let system = fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        if is_users {
            fsconfig_set_flag(&system, c"userxattr")?;
        }
        fsconfig_set_string(&system, c"lowerdir", &*all)?;
        fsconfig_set_string(&system, c"upperdir", &*of(&upper))?;
        fsconfig_set_string(&system, c"workdir", &*of(&work))?;
        // Otherwise a layer could not be seen below those of other sandboxes.
        fsconfig_set_string(&system, c"index", c"off")?;
        fsconfig_create(&system)?;
        // Its owner could not look into the directory that the kernel makes there, and so not remove it.
        let made = format!("{}/work", of(&work));
        let _ = fs::set_permissions(made, fs::Permissions::from_mode(0o700));
        let mounted = fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        Ok(Tree::new(mounted))
    };
    make(true).or_else(|error| if is_anyones { Err(error) } else { make(false) })
}
