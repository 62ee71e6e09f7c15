//! The files as commands see them: the host's, read-only, with what can be written to, and without
//! what is hidden.
//!
//! Everything that is to be seen is copied first, while nothing is covered yet. Then the whole is made
//! read-only, and the copies are put in their places, the shorter paths first: so the longest decides.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::sandbox::mounts::{self, Tree, make_read_only, make_writable, mount_new};
use crate::sandbox::plan::{Access, Plan, Rule};
use crate::sandbox::report::{Line, Refusal};

/// What every program may want of `/dev`.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// Of what is hidden with `/run`, what programs read: who names are, and where an operating system of
/// another kind has its programs.
const RUN: [&str; 6] = [
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/nscd",
    "/run/current-system",
    "/run/booted-system",
];

/// Directories of our own, which are each command's own as far as others are concerned.
const PRIVATE: [(&str, &std::ffi::CStr); 2] = [("/tmp", c"mode=1777"), ("/var/tmp", c"mode=1777")];

/// A step of the work: what is put where.
struct Step {
    path: PathBuf,
    what: What,
}

enum What {
    Tree(Tree, bool),
    Nothing,
    NoDirectory,
}

/// Makes it.
pub fn make(plan: &Plan) -> Result<(), Refusal> {
    let refuse = |line, action: &str| Refusal::of::<io::Error>(line, action.to_owned());
    mounts::part_from_outside().map_err(refuse(Line::Write, "parting from the host's mounts"))?;
    let nothing = || Tree::copy(Path::new("/dev/null")).and_then(Tree::without_devices);
    let devices = DEVICES.map(|name| (name, Tree::copy(&Path::new("/dev").join(name)).ok()));
    let run = RUN.map(|path| (path, Tree::copy(Path::new(path)).ok()));
    let steps = steps(plan)?;
    make_read_only(Path::new("/"))
        .map_err(refuse(Line::Write, "making the files read-only (Linux 5.12 or newer)"))?;
    make_dev(devices).map_err(refuse(Line::Read, "mounting /dev"))?;
    if !plan.shared_tmp {
        make_private(run).map_err(refuse(Line::Tmp, "mounting /tmp and /run"))?;
    }
    let mut hidden = Vec::new();
    for Step { path, what } in steps {
        let action = format!("mounting '{}'", path.display());
        let result = match what {
            What::Tree(tree, is_writable) => put(tree, &path, is_writable),
            // There is no place for it: what is above it is hidden already.
            What::Nothing | What::NoDirectory if !path.exists() => Ok(()),
            What::NoDirectory => {
                hidden.push(path.clone());
                // It can be passed through to what is shown again below it, and not be looked at.
                mount_new(c"tmpfs", &path, libc::MS_NODEV, c"mode=711,size=64k")
            }
            What::Nothing => nothing().and_then(|tree| tree.attach(&path)),
        };
        result.map_err(refuse(Line::Write, &action))?;
    }
    for path in hidden.iter().filter(|path| path.exists()) {
        make_read_only_alone(path)
            .map_err(refuse(Line::Read, &format!("hiding '{}'", path.display())))?;
    }
    Ok(())
}

/// The mount at this path, and not those below it.
fn make_read_only_alone(path: &Path) -> io::Result<()> {
    let mode = fs::Permissions::from_mode(0o111);
    fs::set_permissions(path, mode)?;
    mounts::make_read_only_alone(path)
}

/// `/proc`, with our own processes alone or with all, to be written to.
pub fn open_proc(is_own: bool) -> io::Result<()> {
    let path = Path::new("/proc");
    if is_own {
        return mount_new(c"proc", path, libc::MS_NODEV | libc::MS_NOEXEC, c"");
    }
    make_writable(path)
}

/// Nothing in it that is the machine's can be changed any more.
pub fn close_proc() -> io::Result<()> {
    for entry in fs::read_dir("/proc")?.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let is_process = entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit);
        if is_process || kind.is_symlink() {
            continue;
        }
        if entry.file_name() == "keys" {
            // The user's, wherever he is.
            Tree::copy(Path::new("/dev/null"))?.without_devices()?.attach(&entry.path())?;
            continue;
        }
        let mode = entry.metadata().map_or(0, |metadata| metadata.permissions().mode());
        if kind.is_dir() || mode & 0o222 != 0 {
            Tree::copy(&entry.path())?.attach(&entry.path())?;
            make_read_only(&entry.path())?;
        }
    }
    Ok(())
}

/// Git's directories as they can be written to: they are nowhere. Before anything is covered.
pub fn git_trees(plan: &Plan) -> Result<Vec<(PathBuf, OwnedFd)>, Refusal> {
    let rules = plan.rules.iter().filter(|rule| rule.access == Access::Git);
    let trees = rules.map(|rule| {
        let tree = rule
            .open()
            .and_then(|file| Tree::copy_of(&file))
            .map_err(Refusal::of(Line::Write, format!("opening '{}'", rule.path.display())))?;
        Ok((rule.path.clone(), tree.into_descriptor()))
    });
    trees.collect()
}

fn steps(plan: &Plan) -> Result<Vec<Step>, Refusal> {
    let mut steps = Vec::new();
    let mut held = HashSet::new();
    for rule in &plan.rules {
        let refuse = || Refusal::of(Line::Write, format!("opening '{}'", rule.path.display()));
        let copy = |path: &Path| Tree::copy(path).map_err(refuse());
        // What a right is for is what the host has found, whatever is there by now.
        let pinned = || rule.open().and_then(|file| Tree::copy_of(&file)).map_err(refuse());
        let what = match rule.access {
            Access::Hide if rule.path.is_dir() => What::NoDirectory,
            Access::Hide => What::Nothing,
            Access::Write => What::Tree(pinned()?, true),
            Access::Show | Access::Socket => What::Tree(pinned()?, false),
            Access::Keep | Access::Git => {
                let root = writable_root(plan, &rule.path);
                if root.is_none() && rule.access == Access::Keep {
                    continue;
                }
                // What is mounted can't be renamed, and something else be put in its place.
                for between in root.map_or(vec![], |root| between(root, &rule.path)) {
                    if held.insert(between.to_owned()) {
                        let what = What::Tree(copy(between)?, true);
                        steps.push(Step { path: between.to_owned(), what });
                    }
                }
                let is_git = rule.access == Access::Git;
                What::Tree(if is_git { pinned()? } else { copy(&rule.path)? }, false)
            }
        };
        steps.push(Step { path: rule.path.clone(), what });
    }
    steps.sort_by_key(|step| step.path.components().count());
    Ok(steps)
}

/// The nearest directory above that can be written to, if nothing nearer says otherwise.
fn writable_root<'a>(plan: &'a Plan, path: &Path) -> Option<&'a Path> {
    // Of the same path, the stricter rule counts.
    let is_above = |rule: &&Rule| path != rule.path || rule.access == Access::Write;
    let above = plan.rules.iter().filter(|rule| path.starts_with(&rule.path)).filter(is_above);
    let nearest = above.max_by_key(|rule| rule.path.components().count())?;
    (nearest.access == Access::Write).then_some(&*nearest.path)
}

/// Those above `path` and below `root`, the longest last.
fn between<'a>(root: &Path, path: &'a Path) -> Vec<&'a Path> {
    let above =
        path.ancestors().skip(1).take_while(|above| above.starts_with(root) && *above != root);
    let mut above: Vec<_> = above.collect();
    above.reverse();
    above
}

/// In its place, which is made where that is in one of our own file systems.
fn put(tree: Tree, path: &Path, is_writable: bool) -> io::Result<()> {
    if !path.exists() {
        make_place(path, tree.is_directory)?;
    }
    tree.attach(path)?;
    if is_writable { Ok(()) } else { make_read_only(path) }
}

fn make_place(path: &Path, is_directory: bool) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o755);
    if is_directory {
        return builder.create(path);
    }
    if let Some(parent) = path.parent() {
        builder.create(parent)?;
    }
    fs::File::create(path).map(drop)
}

fn make_dev<const N: usize>(devices: [(&str, Option<Tree>); N]) -> io::Result<()> {
    let path = Path::new("/dev");
    mount_new(c"tmpfs", path, 0, c"mode=755,size=64k")?;
    for (name, tree) in devices {
        let Some(tree) = tree else { continue };
        let place = path.join(name);
        make_place(&place, false)?;
        tree.attach(&place)?;
        make_writable(&place)?;
    }
    let links = [("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")];
    for (name, descriptor) in links {
        symlink(format!("/proc/self/fd{descriptor}"), path.join(name))?;
    }
    symlink("pts/ptmx", path.join("ptmx"))?;
    fs::create_dir(path.join("pts"))?;
    let terminals = path.join("pts");
    let options =
        [c"newinstance,ptmxmode=0666,mode=620,gid=5", c"newinstance,ptmxmode=0666,mode=620"];
    // The group of terminals may be none of ours.
    let mut mounted =
        options.iter().map(|options| mount_new(c"devpts", &terminals, libc::MS_NOEXEC, options));
    if !mounted.any(|result| result.is_ok()) {
        return Err(io::Error::last_os_error());
    }
    fs::create_dir(path.join("shm"))?;
    mount_new(c"tmpfs", &path.join("shm"), libc::MS_NODEV, c"mode=1777")?;
    mounts::make_read_only_alone(path)
}

fn make_private<const N: usize>(run: [(&str, Option<Tree>); N]) -> io::Result<()> {
    for (path, options) in PRIVATE {
        if Path::new(path).is_dir() {
            mount_new(c"tmpfs", &Path::new(path).canonicalize()?, libc::MS_NODEV, options)?;
        }
    }
    if Path::new("/run").is_dir() {
        mount_new(c"tmpfs", Path::new("/run"), libc::MS_NODEV, c"mode=755")?;
    }
    for (path, tree) in run {
        if let Some(tree) = tree {
            put(tree, Path::new(path), false)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_in_a_writable_directory_is_pinned_all_the_way() {
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
}
