//! Splitting of a path where the reach of sandboxed commands begins.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::readlink;
use rustix::io::Errno;

use super::reach::Reach;

/// A path, split by what commands can have made.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// No sandboxed command can write to its directory.
    Trusted(PathBuf),
    /// Any part of `rest` may have been made by a command, but nothing above it.
    Reachable { base: PathBuf, rest: PathBuf },
}

/// The most links that are followed; the kernel's limit.
const MOST_LINKS: usize = 40;

/// Resolves a path up to the first directory that commands can write to, through links that no command can
/// have made.
pub fn find(path: &Path, reach: &Reach) -> Result<Found, Errno> {
    if reach.is_empty() {
        return Ok(Found::Trusted(path.into()));
    }
    let mut names: VecDeque<OsString> = names_of(path).collect();
    let mut here = PathBuf::from("/");
    let mut links = 0;
    loop {
        if reach.contains(&here) {
            return Ok(Found::Reachable { base: here, rest: names.into_iter().collect() });
        }
        let Some(name) = names.pop_front() else { return Err(Errno::ISDIR) };
        if names.is_empty() {
            return Ok(Found::Trusted(here.join(name)));
        }
        if name == ".." {
            here.pop();
            continue;
        }
        let next = here.join(&name);
        // The link's target is not looked at: the link itself can be the name of a writable directory.
        if reach.contains(&next) {
            here = next;
            continue;
        }
        match readlink(&next, Vec::new()) {
            Err(Errno::INVAL) => here = next,
            Err(errno) => return Err(errno),
            Ok(_) if links == MOST_LINKS => return Err(Errno::LOOP),
            Ok(target) => {
                links += 1;
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                if target.is_absolute() {
                    here = PathBuf::from("/");
                }
                for name in names_of(&target).collect::<Vec<_>>().into_iter().rev() {
                    names.push_front(name);
                }
            }
        }
    }
}

fn names_of(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}
