//! Follows a path: the links on it, and what is at its end.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The kernel follows no more links in a path either.
const MOST_LINKS: usize = 40;

/// What a hidden name shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placeholder {
    /// A directory that is empty until something is mounted there.
    Directory,
    /// A file that can't be read until something is mounted there.
    File,
    /// The symbolic link itself; its target is hidden too.
    Link(PathBuf),
    /// Nothing, since nothing is there yet.
    Missing,
}

/// The result of following a path.
#[derive(Debug, Default)]
pub struct Walk {
    at: PathBuf,
    /// The place of the path's last name, which may be a link.
    pub own: Option<PathBuf>,
    /// The places of the links, and of the end.
    pub places: Vec<(PathBuf, Placeholder)>,
}

impl Walk {
    /// Follows a path from a directory, as the kernel does.
    pub fn new(directory: &Path, path: &Path) -> Walk {
        let mut walk = Walk { at: directory.to_owned(), ..Walk::default() };
        let mut left = components(path);
        while let Some(next) = left.pop() {
            match next.components().next() {
                Some(Component::RootDir) => walk.at = PathBuf::from("/"),
                Some(Component::ParentDir) => drop(walk.at.pop()),
                Some(Component::Normal(name)) => match walk.enter(name, left.is_empty()) {
                    Some(target) => left.extend(components(&target)),
                    None => break,
                },
                _ => {}
            }
            if walk.places.len() > MOST_LINKS {
                break;
            }
        }
        walk
    }

    /// Follows one name. Returns the target of a link, or an empty path; None: the path ends here.
    fn enter(&mut self, name: &OsStr, is_last: bool) -> Option<PathBuf> {
        let place = self.at.join(name);
        if is_last && self.own.is_none() {
            self.own = Some(place.clone());
        }
        let placeholder = match fs::symlink_metadata(&place) {
            Ok(status) if status.is_symlink() => {
                let target = fs::read_link(&place).ok()?;
                self.places.push((place, Placeholder::Link(target.clone())));
                return Some(target);
            }
            Ok(status) if status.is_dir() && !is_last => {
                self.at = place;
                return Some(PathBuf::new());
            }
            Ok(status) if status.is_dir() => Placeholder::Directory,
            Ok(_) if is_last => Placeholder::File,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Placeholder::Missing,
            _ => return None,
        };
        self.places.push((place, placeholder));
        None
    }
}

/// Returns the components of a path, the last one first.
fn components(path: &Path) -> Vec<PathBuf> {
    path.components().rev().map(|component| PathBuf::from(component.as_os_str())).collect()
}
