//! Paths of the host that lead to where no command writes, followed as programs outside follow them.

use std::collections::VecDeque;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use crate::sandbox::place;
use crate::sandbox::plan::{Access, Plan};

/// The kernel's own limit of links in a path.
const MOST_LINKS: usize = 40;
/// Directories in which a path depends on the process that follows it.
const OF_PROCESSES: [&str; 2] = ["/proc", "/dev"];
/// What git appends to the path of a repository if that alone is none.
const SUFFIX: &str = ".git";

/// The root of the host's files.
pub struct HostRoot(OwnedFd);

/// The host's files, and the directories among them in which commands write.
pub struct HostFiles {
    root: HostRoot,
    written: Vec<PathBuf>,
    /// Devices and inodes of these directories: they may be mounted at other places too.
    identities: Vec<(u64, u64)>,
}

impl HostRoot {
    /// Opens the root. To be called outside of the sandbox's mounts.
    pub fn open() -> io::Result<HostRoot> {
        place::open(Path::new("/")).map(HostRoot)
    }
}

impl HostFiles {
    pub fn new(root: HostRoot, plan: &Plan) -> HostFiles {
        // Layers of caches have paths of their own outside, which the list of mounts tells.
        let layers = plan.caches.directory.as_deref();
        let written = plan.paths(Access::Write).chain(plan.paths(Access::Git)).chain(layers);
        HostFiles::with(root, written.map(Into::into).collect())
    }

    fn with(root: HostRoot, written: Vec<PathBuf>) -> HostFiles {
        let identity = |path: &PathBuf| place::identity(&place::open(path).ok()?).ok();
        HostFiles { identities: written.iter().filter_map(identity).collect(), root, written }
    }

    /// Returns whether git, wherever it runs, finds no repository that a command can make at a path. The
    /// path is absolute, and leads nowhere through a place where commands write: they could change the way.
    pub fn is_elsewhere(&self, path: &Path) -> bool {
        let beside = self.beside(path);
        let path = beside.as_deref().unwrap_or(path);
        let is_plain = path.is_absolute()
            && path
                .components()
                .all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        let suffixed = || {
            let mut name = path.file_name()?.to_owned();
            name.push(SUFFIX);
            Some(path.with_file_name(name))
        };
        is_plain
            && self.avoids_written(path)
            && suffixed().is_some_and(|it| self.avoids_written(&it))
    }

    /// Returns what a path means that leads to a directory in which commands write, and up from there at once, as
    /// git writes the address `../part` of a submodule. That directory's own path has no links, and no command
    /// can replace it unless it lies in another one of these.
    fn beside(&self, path: &Path) -> Option<PathBuf> {
        let is_up = |part: &Component| *part == Component::ParentDir;
        self.written.iter().find_map(|directory| {
            let rest = path.strip_prefix(directory).ok()?;
            let count = rest.components().take_while(is_up).count();
            let above = directory.ancestors().nth(count).filter(|_| count > 0)?;
            Some(above.join(rest.components().skip(count).collect::<PathBuf>()))
        })
    }

    /// Follows a path by steps.
    fn avoids_written(&self, path: &Path) -> bool {
        let mut ahead: VecDeque<OsString> = names(path);
        let (mut real, mut above) = (PathBuf::from("/"), Vec::new());
        let mut links = 0;
        while let Some(name) = ahead.pop_front() {
            if name == ".." {
                real.pop();
                above.pop();
                continue;
            }
            real.push(&name);
            if self.is_written(&real) {
                return false;
            }
            let at = above.last().unwrap_or(&self.root.0);
            let Ok(bytes) = CString::new(name.into_vec()) else { return false };
            let there = match place::step(Some(at), &bytes) {
                Ok(there) => there,
                // What is to be made there is made by nobody in the sandbox.
                Err(error) if is_missing(&error) => {
                    let is_down = ahead.iter().all(|name| name != "..");
                    real.extend(ahead);
                    return is_down && !self.is_written(&real);
                }
                Err(_) => return false,
            };
            let Ok(status) = place::status(&there) else { return false };
            if status.st_mode & libc::S_IFMT != libc::S_IFLNK {
                if self.identities.contains(&(status.st_dev, status.st_ino)) {
                    return false;
                }
                above.push(there);
                continue;
            }
            links += 1;
            let Ok(target) = rustix::fs::readlinkat(&there, "", Vec::new()) else { return false };
            if links > MOST_LINKS {
                return false;
            }
            let target = Path::new(OsStr::from_bytes(target.as_bytes()));
            real.pop();
            if target.is_absolute() {
                (real, above) = (PathBuf::from("/"), Vec::new());
            }
            names(target).into_iter().rev().for_each(|name| ahead.push_front(name));
        }
        true
    }

    fn is_written(&self, path: &Path) -> bool {
        OF_PROCESSES.iter().any(|directory| path.starts_with(directory))
            || self.written.iter().any(|directory| path.starts_with(directory))
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR))
}

/// Returns the names in a path, `..` among them.
fn names(path: &Path) -> VecDeque<OsString> {
    let is_name = |part: &Component| matches!(part, Component::Normal(_) | Component::ParentDir);
    path.components().filter(is_name).map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_path_leads_elsewhere_by_links_that_no_command_can_make() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for path in ["w/link", "w.git", "srv/r.git", "srv/to"] {
            fs::create_dir_all(top.join(path)).unwrap();
        }
        let links = [
            ("to-w", "w"),
            ("to-above", "srv/../.."),
            ("to-srv", "srv"),
            ("srv/up", "../w"),
            ("w/out", "../srv"),
            ("self", "/proc/self"),
            ("round", "round"),
        ];
        for (path, target) in links {
            symlink(target, top.join(path)).unwrap();
        }
        let root = HostRoot::open().unwrap();
        let files = HostFiles::with(root, vec![top.join("w"), top.join("w.git")]);
        let is = |path: &str| files.is_elsewhere(&top.join(path));
        for path in ["srv/r.git", "srv/missing", "srv/missing/r", "to-srv/r.git", "to-srv", "v"] {
            assert!(is(path), "{path}");
        }
        for path in [
            "w/evil",
            "w",
            "srv/../w/evil",
            "srv/../srv/r.git",
            "to-w/evil",
            "srv/up/evil",
            "w/out/r.git",
            "self/cwd/evil",
            "round/evil",
        ] {
            assert!(!is(path), "{path}");
        }
        for path in ["w/../srv/r.git", "w/../missing", "w.git/../srv/missing/r"] {
            assert!(is(path), "{path}");
        }
        for path in
            ["w/../w/evil", "w/../to-w/evil", "w/link/../../srv/r.git", "w/../srv/../w/evil"]
        {
            assert!(!is(path), "{path}");
        }
        for path in ["evil", "./evil", "../evil", "/proc/self/cwd/evil", "/dev/shm/evil", "/"] {
            assert!(!files.is_elsewhere(Path::new(path)), "{path}");
        }
        let round = Path::new("to-above").join(top.file_name().unwrap());
        assert!(is(round.join("srv/r.git").to_str().unwrap()));
        assert!(!is(round.join("w/evil").to_str().unwrap()));
    }

    #[test]
    fn a_repository_whose_name_git_completes_counts() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("w.git")).unwrap();
        let files = HostFiles::with(HostRoot::open().unwrap(), vec![top.join("w.git")]);
        assert!(!files.is_elsewhere(&top.join("w")));
        assert!(!files.is_elsewhere(&top.join("w/")));
        assert!(files.is_elsewhere(&top.join("v")));
    }
}
