//! What the user's history has at the paths of settings: the commits that were reachable before any
//! command ran. It is read when it is first asked about, the newest commits first, and no further than the
//! answer needs.

mod lacking;

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::objects::{Id, ObjectKind, Objects, id_of, line_of, unix_lines};

/// How many commits are read before the question is asked again.
const STEP: usize = 256;
/// The longest time that a question may take. What is not found by then is not in the history.
pub const LONGEST: Duration = Duration::from_secs(20);

/// An entry of a tree: its mode, as git writes it, and its object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entry {
    pub mode: Mode,
    pub id: Id,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    File,
    Program,
    Link,
    Directory,
    Other,
}

impl Entry {
    /// Reads a mode and an object, as a tree has them.
    pub fn parse(text: &str) -> Option<Entry> {
        let (mode, id) = text.split_once(' ')?;
        Some(Entry { mode: Mode::of(mode.as_bytes()), id: id.to_owned() })
    }
}

impl Mode {
    fn of(text: &[u8]) -> Mode {
        match text {
            b"100755" => Mode::Program,
            b"120000" => Mode::Link,
            b"40000" | b"040000" => Mode::Directory,
            b"160000" => Mode::Other,
            // Old commits have other rights too.
            _ => Mode::File,
        }
    }
}

/// A path and its entry.
type Entries = HashMap<PathBuf, Entry>;

/// The history of a repository.
pub struct History {
    program: PathBuf,
    repository: PathBuf,
    /// The settings, by their paths in the working tree.
    names: Vec<PathBuf>,
    /// What lay at the settings before.
    present: HashSet<(PathBuf, Entry)>,
    known: KnownHistory,
    ahead: VecDeque<Id>,
    seen: HashSet<Id>,
    /// How many digits an object's name has.
    length: usize,
}

#[derive(Default)]
struct KnownHistory {
    /// What the commits have at each name.
    at: HashMap<PathBuf, HashSet<Option<Entry>>>,
    /// The files in a directory, by its tree.
    below: HashMap<Id, Entries>,
    /// The trees of commits, and of directories above the names, that have been read.
    read: HashSet<(Id, PathBuf)>,
}

impl History {
    /// `tips`: the commits and tags that were there before.
    pub fn new(program: &Path, repository: &Path, names: Vec<PathBuf>, tips: &[Id]) -> History {
        History {
            program: program.to_owned(),
            repository: repository.to_owned(),
            names,
            present: HashSet::new(),
            known: KnownHistory::default(),
            seen: tips.iter().cloned().collect(),
            length: tips.first().map_or(0, String::len),
            ahead: tips.iter().cloned().collect(),
        }
    }

    /// The same with what lay at the settings, by paths in the working tree.
    pub fn with(self, present: impl Iterator<Item = (PathBuf, Entry)>) -> History {
        History { present: present.collect(), ..self }
    }

    /// Returns whether this file or link, with this content, lay at this path, or a commit has it there. Ends
    /// of lines may differ, as where git converts them.
    pub fn has(&mut self, path: &Path, mode: Mode, content: &[u8]) -> bool {
        let unix = unix_lines(content);
        let contents = [Some(content), unix.as_deref()];
        let length = self.length;
        let ids =
            contents.into_iter().flatten().filter_map(|it| id_of(ObjectKind::Blob, it, length));
        let wanted: Vec<Entry> = ids.map(|id| Entry { mode, id }).collect();
        if wanted.iter().any(|entry| self.present.contains(&(path.to_owned(), entry.clone()))) {
            return true;
        }
        let is_wanted = |entry: &Entry| wanted.contains(entry);
        self.ask(|known, names| known.entries(names, path).any(|it| it.is_some_and(is_wanted)))
    }

    /// Returns whether a commit has a file or a link at this path.
    pub fn knows(&mut self, path: &Path) -> bool {
        let is_file = |entry: &Entry| entry.mode != Mode::Directory;
        self.ask(|known, names| known.entries(names, path).any(|it| it.is_some_and(is_file)))
    }

    /// Returns whether a commit has a directory at this path.
    pub fn has_directory(&mut self, path: &Path) -> bool {
        let is_directory = |entry: &Entry| entry.mode == Mode::Directory;
        self.ask(|known, names| known.entries(names, path).any(|it| it.is_some_and(is_directory)))
    }

    /// Reads as much of the history as it takes to find that something is so.
    fn ask(&mut self, is_so: impl Fn(&KnownHistory, &[PathBuf]) -> bool) -> bool {
        if is_so(&self.known, &self.names) {
            return true;
        }
        let until = Instant::now() + LONGEST;
        let mut objects = None;
        while !self.ahead.is_empty() && Instant::now() < until {
            if objects.is_none() {
                objects = Objects::open(&self.program, &self.repository).ok();
            }
            let Some(objects) = &mut objects else { return false };
            if self.advance(objects).is_err() {
                return false;
            }
            if is_so(&self.known, &self.names) {
                return true;
            }
        }
        false
    }

    /// Reads some commits more.
    fn advance(&mut self, objects: &mut Objects) -> io::Result<()> {
        let some: Vec<Id> = self.ahead.drain(..self.ahead.len().min(STEP)).collect();
        let mut trees = Vec::new();
        for object in objects.read(&some)?.into_iter().flatten() {
            match object.kind {
                ObjectKind::Commit => {
                    trees.extend(line_of(&object.data, "tree ").next());
                    for parent in line_of(&object.data, "parent ") {
                        self.come(parent);
                    }
                }
                ObjectKind::Tag => {
                    line_of(&object.data, "object ").take(1).for_each(|id| self.come(id))
                }
                ObjectKind::Tree | ObjectKind::Blob => {}
            }
        }
        let trees = trees.into_iter().map(|tree| (tree, PathBuf::new())).collect();
        self.known.take(objects, &self.names, trees)
    }

    fn come(&mut self, id: Id) {
        if self.seen.insert(id.clone()) {
            self.ahead.push_back(id);
        }
    }
}

impl KnownHistory {
    /// Reads trees, each of the directory at its path, and what they have at the names.
    fn take(
        &mut self,
        objects: &mut Objects,
        names: &[PathBuf],
        mut ahead: Vec<(Id, PathBuf)>,
    ) -> io::Result<()> {
        while !ahead.is_empty() {
            ahead.retain(|tree| self.read.insert(tree.clone()));
            let ids: Vec<Id> = ahead.iter().map(|(id, _)| id.clone()).collect();
            let mut next = Vec::new();
            for (object, (_, place)) in objects.read(&ids)?.into_iter().zip(ahead) {
                let Some(object) = object.filter(|object| object.kind == ObjectKind::Tree) else {
                    continue;
                };
                let entries = entries(&object.data, object_length(&ids));
                for name in names {
                    let Ok(rest) = name.strip_prefix(&place) else { continue };
                    let Some(first) = rest.components().next() else { continue };
                    let entry = entries.get(Path::new(&first)).cloned();
                    let is_last = rest.components().count() == 1;
                    match entry {
                        Some(entry) if !is_last && entry.mode == Mode::Directory => {
                            next.push((entry.id, place.join(first)));
                        }
                        Some(entry) if is_last => {
                            if entry.mode == Mode::Directory {
                                self.expand(objects, &entry.id)?;
                            }
                            self.at.entry(name.clone()).or_default().insert(Some(entry));
                        }
                        _ => {
                            self.at.entry(name.clone()).or_default().insert(None);
                        }
                    }
                }
            }
            ahead = next;
        }
        Ok(())
    }

    /// Reads all that is in a directory that is a setting.
    fn expand(&mut self, objects: &mut Objects, tree: &Id) -> io::Result<()> {
        if self.below.contains_key(tree) {
            return Ok(());
        }
        let mut all = Entries::new();
        let mut ahead = vec![(tree.clone(), PathBuf::new())];
        while let Some((id, place)) = ahead.pop() {
            let ids = [id];
            let found = objects.read(&ids)?.pop().flatten();
            let Some(object) = found.filter(|object| object.kind == ObjectKind::Tree) else {
                continue;
            };
            for (name, entry) in entries(&object.data, object_length(&ids)) {
                if entry.mode == Mode::Directory {
                    ahead.push((entry.id.clone(), place.join(&name)));
                }
                all.insert(place.join(name), entry);
            }
        }
        self.below.insert(tree.clone(), all);
        Ok(())
    }

    /// Returns what the commits have at a path, which is a name or below one.
    fn entries<'a>(
        &'a self,
        names: &'a [PathBuf],
        path: &'a Path,
    ) -> impl Iterator<Item = Option<&'a Entry>> {
        let name = names.iter().filter(|name| path.starts_with(name));
        let name = name.max_by_key(|name| name.components().count());
        let rest = name.and_then(|name| path.strip_prefix(name).ok()).unwrap_or(Path::new(""));
        let at = name.and_then(|name| self.at.get(name)).into_iter().flatten();
        at.map(move |entry| match entry {
            Some(entry) if rest == Path::new("") => Some(entry),
            Some(entry) => self.below.get(&entry.id).and_then(|below| below.get(rest)),
            None => None,
        })
    }
}

fn object_length(ids: &[Id]) -> usize {
    ids.first().map_or(0, String::len)
}

/// Returns the entries of a tree. `length`: how many digits a name has.
fn entries(mut data: &[u8], length: usize) -> Entries {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let mut all = Entries::new();
    while let Some(end) = data.iter().position(|byte| *byte == 0) {
        let (head, rest) = data.split_at(end);
        let Some((id, next)) = rest.get(1..).and_then(|rest| rest.split_at_checked(length / 2))
        else {
            break;
        };
        let mut parts = head.splitn(2, |byte| *byte == b' ');
        let (Some(mode), Some(name)) = (parts.next(), parts.next()) else { break };
        let entry = Entry { mode: Mode::of(mode), id: super::objects::hex(id) };
        all.insert(PathBuf::from(OsStr::from_bytes(name)), entry);
        data = next;
    }
    all
}

#[cfg(test)]
mod tests;
