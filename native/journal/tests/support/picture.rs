//! A picture of a tree: all that is to be as it was.

use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{SeekFrom, seek};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pictured {
    mode: u32,
    owner: (u32, u32),
    /// Not of directories.
    modified: Option<(i64, i64)>,
    content: Vec<u8>,
    extents: Vec<(u64, u64)>,
    attributes: Vec<(Vec<u8>, Vec<u8>)>,
    /// All names of the file.
    names: Vec<PathBuf>,
}

pub type Picture = BTreeMap<PathBuf, Pictured>;

/// Takes a picture. What may not be read is let be read meanwhile.
pub fn picture(root: &Path) -> Picture {
    let mut names: HashMap<(u64, u64), Vec<PathBuf>> = HashMap::new();
    let mut taken = Vec::new();
    take(root, root, &mut taken, &mut names);
    let with_names = taken.into_iter().map(|(path, inode, mut pictured)| {
        pictured.names = names[&inode].clone();
        pictured.names.sort();
        (path, pictured)
    });
    with_names.collect()
}

type Taken = Vec<(PathBuf, (u64, u64), Pictured)>;

fn take(
    root: &Path,
    path: &Path,
    taken: &mut Taken,
    names: &mut HashMap<(u64, u64), Vec<PathBuf>>,
) {
    let status = path.symlink_metadata().unwrap();
    let is_closed = status.mode() & 0o500 != 0o500 && !status.is_symlink();
    if is_closed {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o700)).unwrap();
    }
    let relative = path.strip_prefix(root).unwrap().to_path_buf();
    let inode = (status.dev(), status.ino());
    names.entry(inode).or_default().push(relative.clone());
    let mut pictured = Pictured {
        mode: status.mode(),
        owner: (status.uid(), status.gid()),
        modified: (!status.is_dir()).then(|| (status.mtime(), status.mtime_nsec())),
        content: Vec::new(),
        extents: Vec::new(),
        attributes: attributes(path),
        names: Vec::new(),
    };
    if status.is_symlink() {
        pictured.content = std::fs::read_link(path).unwrap().as_os_str().as_bytes().to_vec();
    } else if status.is_file() {
        pictured.content = std::fs::read(path).unwrap();
        pictured.extents = extents(&File::open(path).unwrap(), status.len());
    } else if status.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            take(root, &entry.unwrap().path(), taken, names);
        }
    }
    if is_closed {
        std::fs::set_permissions(path, status.permissions()).unwrap();
    }
    taken.push((relative, inode, pictured));
}

fn extents(file: &File, length: u64) -> Vec<(u64, u64)> {
    let (mut found, mut from) = (Vec::new(), 0);
    while from < length {
        let Ok(start) = seek(file, SeekFrom::Data(from)) else { break };
        from = seek(file, SeekFrom::Hole(start)).unwrap();
        found.push((start, from.min(length)));
    }
    found
}

fn attributes(path: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut names = vec![0; 4096];
    let length = rustix::fs::llistxattr(path, &mut names).unwrap_or(0);
    let names = names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let mut found: Vec<_> = names
        .map(|name| {
            let mut value = vec![0; 4096];
            let text = CString::new(name).unwrap();
            let length = rustix::fs::lgetxattr(path, &text, &mut value).unwrap();
            (name.to_vec(), value[..length].to_vec())
        })
        .collect();
    found.sort();
    found
}

/// Names what differs.
pub fn differing(before: &Picture, now: &Picture) -> Vec<String> {
    let mut found = Vec::new();
    for (path, one) in before {
        match now.get(path) {
            None => found.push(format!("{path:?} is missing")),
            Some(other) if other != one => {
                let short = |one: &Pictured| {
                    let mut one = one.clone();
                    one.content.truncate(20);
                    one
                };
                found.push(format!("{path:?}: {:?}\n  is now {:?}", short(one), short(other)));
            }
            Some(_) => {}
        }
    }
    found.extend(
        now.keys()
            .filter(|path| !before.contains_key(*path))
            .map(|path| format!("{path:?} is new")),
    );
    found
}
