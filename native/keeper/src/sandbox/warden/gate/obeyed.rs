//! What git obeys in the directory of a repository, a worktree or a submodule.

use std::path::Path;

/// Parts of a repository below which no submodule lies, unless it was there at first: branches may have
/// any name, also one that git obeys elsewhere.
const NO_REPOSITORIES: [&[u8]; 4] = [b"refs", b"logs", b"objects", b"lfs"];

/// The beginning of the names of parts of an index.
pub const SHARED_INDEX: &[u8] = b"sharedindex.";

/// How a path relates to the names that git obeys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// Not at all.
    Free,
    /// Git obeys the file.
    Kept(Obeyed),
    /// A name that git obeys is, or would be, below the path, if it is a directory.
    Above,
}

/// The names that git obeys in the directory of a repository, a worktree or a submodule: they make it
/// start programs or look elsewhere. src/sandbox/git/places.ts has the same list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obeyed {
    /// `config`; or `config.worktree`, which git reads besides.
    Config { is_of_worktree: bool },
    /// `commondir`: another directory with the rest of the repository.
    Common,
    /// `gitdir`: the `.git` file of a worktree.
    Back,
    /// The directory `hooks`, `remotes` or `branches`.
    Folder,
    /// A file in `hooks` which is no sample.
    Hook,
    /// A file in `remotes` or `branches`: a remote as it was kept before there were configurations.
    Remote,
    /// `info/attributes`.
    Attributes,
    /// `objects/info/alternates`.
    Alternates,
    /// `index`, or `sharedindex.*`, which is a part of it: it names the files that git writes.
    Index,
    /// `HEAD` of the repository: without it git looks for another repository.
    Head,
    /// The directory `objects` or `refs` of the repository: the same.
    Base,
    /// What is no part of a repository: below one of these files, or spelled in another case.
    Foreign,
}

impl Obeyed {
    /// Returns what users are told of a change at this path.
    pub fn key(self, below: &Path) -> String {
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        let count = match self {
            Obeyed::Hook | Obeyed::Remote | Obeyed::Attributes => 2,
            Obeyed::Alternates => 3,
            _ => 1,
        };
        parts.get(parts.len().saturating_sub(count)..).unwrap_or_default().join("/")
    }
}

/// Returns the rest of the path for each directory in it that is, or may become, that of a repository, a
/// worktree or a submodule.
pub fn repositories<'a, 'b>(parts: &'a [&'b [u8]]) -> Vec<&'a [&'b [u8]]> {
    let mut all = vec![parts];
    match parts {
        [b"worktrees", _, rest @ ..] => all.extend(repositories(rest)),
        // Names of submodules may contain slashes.
        [b"modules", rest @ ..] => {
            let is_part = |part: &&&[u8]| NO_REPOSITORIES.contains(*part);
            let end = rest.iter().skip(1).position(|part| is_part(&part));
            let end = end.map_or(rest.len(), |at| at + 1);
            all.extend((1..=end).filter_map(|at| rest.get(at..)));
        }
        _ => {}
    }
    all
}

/// Returns what makes a directory that of a repository: at the top of git's directory. A submodule's or a
/// worktree's may go.
pub fn at_top(path: &[u8]) -> Option<Obeyed> {
    match path {
        b"HEAD" => Some(Obeyed::Head),
        b"objects" | b"refs" => Some(Obeyed::Base),
        _ if [&b"head"[..], b"objects", b"refs"].contains(&&*path.to_ascii_lowercase()) => {
            Some(Obeyed::Foreign)
        }
        _ => None,
    }
}

/// Returns how a path in the directory of a repository relates to the names.
pub fn in_repository(parts: &[&[u8]]) -> Touch {
    let obeyed = match parts {
        [] | [b"info" | b"objects" | b"worktrees" | b"modules"] | [b"objects", b"info"] => {
            return Touch::Above;
        }
        [b"config"] => Obeyed::Config { is_of_worktree: false },
        [b"config.worktree"] => Obeyed::Config { is_of_worktree: true },
        [b"commondir"] => Obeyed::Common,
        [b"gitdir"] => Obeyed::Back,
        [b"hooks" | b"remotes" | b"branches"] => Obeyed::Folder,
        [b"hooks", name] if name.ends_with(b".sample") => return Touch::Free,
        [b"hooks", _] => Obeyed::Hook,
        [b"remotes" | b"branches", _] => Obeyed::Remote,
        // A directory of this name is a submodule's.
        [b"index"] => Obeyed::Index,
        [name] if name.starts_with(SHARED_INDEX) => Obeyed::Index,
        [b"info", b"attributes"] => Obeyed::Attributes,
        [b"objects", b"info", b"alternates"] => Obeyed::Alternates,
        [b"hooks" | b"remotes" | b"branches" | b"config" | b"config.worktree", ..]
        | [b"commondir" | b"gitdir", ..]
        | [b"info", b"attributes", ..]
        | [b"objects", b"info", b"alternates", ..] => Obeyed::Foreign,
        _ => return Touch::Free,
    };
    Touch::Kept(obeyed)
}
