//! Overlays in which hidden names show something else, for as long as the sandbox stands.
//!
//! An overlay is read-only and has three layers: replacements for hidden names, whiteouts that hide the
//! names in the layer below, and the host's own directory.

use std::env;
use std::ffi::CString;
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use crate::sandbox::mounts::{self, Tree, mount_new};
use crate::sandbox::tree::names::OverlayBase;
use crate::sandbox::tree::walk::Placeholder;

/// Where the layers are made; another mount covers this directory later.
const WORKSHOP: &str = "/dev";

/// The most directories that are bind-mounted on overlays; further ones are seen through the overlay.
const MOST_LIVE: usize = 2000;

/// An overlay that is not mounted yet.
pub struct Overlay {
    pub base: OverlayBase,
    pub tree: Tree,
}

/// Makes overlays, while nothing is covered. Leaves out overlays that can't be made: on old kernels, on
/// too many other overlays, or on directories that contain mounts.
///
/// `mounts`: the mount points.
pub fn overlays(bases: Vec<OverlayBase>, mounts: &[PathBuf]) -> Vec<Overlay> {
    if bases.is_empty() {
        return Vec::new();
    }
    let Ok(directory) = fs::File::options().custom_flags(libc::O_PATH).read(true).open(".") else {
        return Vec::new();
    };
    // Not unmounted later, since that would take as long as all the rest.
    if mount_new(c"tmpfs", Path::new(WORKSHOP), 0, c"mode=700").is_err() {
        return Vec::new();
    }
    let make = |(index, base): (usize, OverlayBase)| {
        let tree = make(&Path::new(WORKSHOP).join(index.to_string()), &base, mounts).ok()?;
        Some(Overlay { base, tree })
    };
    let overlays = bases.into_iter().enumerate().filter_map(make).collect();
    // SAFETY: takes a number.
    unsafe { libc::fchdir(directory.as_raw_fd()) };
    overlays
}

/// Makes the layers below a path, and mounts them.
fn make(workshop: &Path, base: &OverlayBase, mounts: &[PathBuf]) -> io::Result<Tree> {
    let [seen, without, whole] = ["seen", "without", "whole"].map(|name| workshop.join(name));
    fs::create_dir(workshop)?;
    fs::create_dir(&whole)?;
    for directory in base.merged() {
        let below = directory.strip_prefix(&base.path).unwrap_or(directory);
        fs::create_dir(seen.join(below))?;
        fs::create_dir(without.join(below))?;
        imitate(directory, &seen.join(below))?;
    }
    for (name, placeholder) in &base.names {
        let below = name.strip_prefix(&base.path).unwrap_or(name);
        let place = seen.join(below);
        match placeholder {
            Placeholder::Directory => {
                fs::create_dir(&place).and_then(|()| set_mode(&place, 0o111))?
            }
            Placeholder::File => fs::write(&place, "").and_then(|()| set_mode(&place, 0))?,
            Placeholder::Link(target) => symlink(target, &place)?,
            Placeholder::Missing => {}
        }
        mounts::make_whiteout(&without.join(below))?;
    }
    // A relative path: the real one may contain characters that separate mount options.
    env::set_current_dir(&base.path)?;
    let layers = format!("lowerdir={}:{}:.", seen.display(), without.display());
    let flags = libc::MS_RDONLY | libc::MS_NODEV | mounts::execution(Path::new("."))?;
    let mount = |options: String| mount_new(c"overlay", &whole, flags, &CString::new(options)?);
    // Without `userxattr` the mount is faster, and ignores attributes that a user sets.
    mount(layers.clone()).or_else(|_| mount(format!("userxattr,{layers}")))?;
    for path in live(base, mounts) {
        let below = path.strip_prefix(&base.path).unwrap_or(&path);
        // If that fails, the directory is seen through the overlay.
        let _ = mounts::bind(below, &whole.join(below));
    }
    Tree::at(&whole)
}

/// Returns what is bind-mounted on an overlay: directories in which nothing is hidden, and files that are
/// mount points. An overlay itself does not show mounts, and keeps showing files that the host has
/// replaced by rename.
fn live(base: &OverlayBase, mounts: &[PathBuf]) -> Vec<PathBuf> {
    let merged = base.merged();
    let entries = merged.iter().filter_map(|path| fs::read_dir(path).ok()).flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let is_in = |path: &&PathBuf| path.parent().is_some_and(|parent| merged.contains(parent));
    let mounted = mounts.iter().filter(is_in).filter(|path| !path.is_dir()).cloned();
    let paths = mounted.chain(directories.map(|entry| entry.path()));
    let is_seen = |path: &PathBuf| !merged.contains(&**path) && !base.names.contains_key(path);
    paths.filter(is_seen).take(MOST_LIVE).collect()
}

/// Copies owner and mode of a directory to another one, as far as possible. Where the owner has no id in
/// this namespace, the mode gives this user's own rights.
fn imitate(real: &Path, path: &Path) -> io::Result<()> {
    let status = fs::metadata(real)?;
    let mode = match chown(path, Some(status.uid()), Some(status.gid())) {
        Ok(()) => status.mode() & 0o7777,
        // Only the group has no id here.
        Err(_) if fs::metadata(path)?.uid() == status.uid() => status.mode() & 0o777,
        Err(_) => mounts::rights(real)?,
    };
    set_mode(path, mode)
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}
