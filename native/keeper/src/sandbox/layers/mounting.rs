//! The mounts of caches: an overlay over each.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use super::overlay::overlay;
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
