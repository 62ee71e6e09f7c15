//! Directories of the sandbox's own: devices, temporary files, and `/proc`.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::sandbox::mounts::{
    self, Tree, make_place, make_read_only, make_writable, mount_new, put,
};
use crate::sandbox::tree::memory::{self, Own};

/// The devices that any program may need.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// The parts of `/run`, which is hidden otherwise, that programs read: name resolution, and the programs
/// of operating systems that have them there.
const RUN: [&str; 6] = [
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/nscd",
    "/run/current-system",
    "/run/booted-system",
];

/// The parts of the host's directories that are seen in them.
pub struct Hosts {
    pub devices: Copies<6>,
    pub run: Copies<6>,
}

type Copies<const N: usize> = [(&'static str, Option<Tree>); N];

impl Hosts {
    /// Copies them while nothing is covered.
    pub fn copy() -> Hosts {
        Hosts {
            devices: DEVICES.map(|name| (name, Tree::copy(&Path::new("/dev").join(name)).ok())),
            run: RUN.map(|path| (path, Tree::copy(Path::new(path)).ok())),
        }
    }
}

/// Makes a file with this text, not mounted yet. The directory where it is made is covered later.
pub fn text_file(text: &[u8]) -> io::Result<Tree> {
    let path = Path::new("/dev");
    mount_new(c"tmpfs", path, libc::MS_NODEV, c"mode=755,size=2m")?;
    let file = path.join("text");
    fs::write(&file, text)?;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644))?;
    Tree::copy(&file)
}

/// Makes `/dev`. Returns the sandbox's own directories that belong elsewhere, not mounted yet.
pub fn make_dev<const N: usize>(devices: Copies<N>) -> io::Result<[Tree; 3]> {
    let path = Path::new("/dev");
    mount_new(c"tmpfs", path, 0, c"mode=755,size=64k")?;
    for (name, tree) in devices {
        let Some(tree) = tree else { continue };
        let place = path.join(name);
        make_place(&place, false)?;
        tree.attach(&place)?;
        // It can be written to all the same, but its mode and owner are the host's.
        make_read_only(&place)?;
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
    // The group of terminals may not be mapped.
    let [with_group, without] =
        options.map(|options| || mount_new(c"devpts", &terminals, libc::MS_NOEXEC, options));
    with_group().or_else(|_| without())?;
    let place = path.join("shm");
    fs::create_dir(&place)?;
    let Own { tmp, var_tmp, run, shared_memory } = memory::make(&place)?;
    shared_memory.attach(&place)?;
    mounts::make_read_only_alone(path)?;
    Ok([tmp, var_tmp, run])
}

/// Mounts the temporary directories.
pub fn make_private<const N: usize>(own: [Tree; 3], run: Copies<N>) -> io::Result<()> {
    for (path, tree) in ["/tmp", "/var/tmp", "/run"].iter().map(Path::new).zip(own) {
        if path.is_dir() {
            tree.attach(&path.canonicalize()?)?;
        }
    }
    for (path, tree) in run {
        if let Some(tree) = tree {
            put(tree, Path::new(path), false)?;
        }
    }
    Ok(())
}

/// Mounts a `/proc` of the sandbox's own processes, or makes the host's writable.
pub fn open_proc(is_own: bool) -> io::Result<()> {
    let path = Path::new("/proc");
    if is_own {
        return mount_new(c"proc", path, libc::MS_NODEV | libc::MS_NOEXEC, c"");
    }
    make_writable(path)
}

/// Makes the parts of `/proc` that are not about processes read-only.
pub fn close_proc() -> io::Result<()> {
    for entry in fs::read_dir("/proc")?.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let is_process = entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit);
        if is_process || kind.is_symlink() {
            continue;
        }
        if entry.file_name() == "keys" {
            // Keyrings belong to the user in every namespace.
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
