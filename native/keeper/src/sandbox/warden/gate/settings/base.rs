//! What makes git's directory a repository, and the files that git writes what the index names. None of it is
//! held back: what is odd is refused, whether or not settings are judged.

use std::fs;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use crate::sandbox::place;
use crate::sandbox::warden::caller::Caller;
use crate::sandbox::warden::gate::act;
use crate::sandbox::warden::gate::found::GateEntry;
use crate::sandbox::warden::gate::obeyed::Obeyed;
use crate::sandbox::warden::gate::request::Action;
use crate::sandbox::warden::gate::settings::index::has_plain_paths;
use crate::sandbox::warden::gate::settings::putting::{present_up_to, replace};
use crate::sandbox::warden::gate::settings::reading::settings;

/// The most bytes of an index.
pub const LONGEST_INDEX: usize = 256 << 20;

impl Obeyed {
    /// Returns whether the name is one of these.
    pub fn is_base(self) -> bool {
        matches!(self, Obeyed::Index | Obeyed::Head | Obeyed::Base)
    }
}

/// Puts a copy of a file there that a caller has written, unless git would go elsewhere by it (EACCES).
/// `program`: reads configurations; None: commands change none.
pub fn put_base(
    caller: &Caller,
    at: &GateEntry,
    obeyed: Obeyed,
    (content, status): (&[u8], &libc::stat),
    program: Option<&Path>,
) -> Result<(), i32> {
    let is_plain = match obeyed {
        Obeyed::Index => has_plain_paths(content, hash_length(at, program)),
        Obeyed::Head => is_head(content),
        _ => false,
    };
    if is_plain { replace(caller, at, content, status) } else { Err(libc::EACCES) }
}

/// Renames a file to one of these names.
pub fn rename_to_base(
    caller: &Caller,
    from: &GateEntry,
    to: &GateEntry,
    obeyed: Obeyed,
    program: Option<&Path>,
) -> Result<(), i32> {
    let there = present_up_to(caller, from, LONGEST_INDEX)?.ok_or(libc::ENOENT)?;
    put_base(caller, to, obeyed, (&there.content, &there.status), program)?;
    act::change(caller, from, &Action::Remove { flags: 0 })
}

/// Acts on one of these names, but for opening it.
pub fn act_on_base(
    caller: &Caller,
    found: &GateEntry,
    obeyed: Obeyed,
    action: &Action,
) -> Result<(), i32> {
    const READING: u32 = 0o500;
    match (obeyed, action) {
        (Obeyed::Head, Action::ChangeMode { mode }) => act::change_execution(caller, found, *mode),
        (Obeyed::Base, Action::ChangeMode { mode }) if mode & READING == READING => {
            act::change(caller, found, action)
        }
        // There are submodules whose names end so.
        (
            Obeyed::Index,
            Action::MakeDirectory { .. }
            | Action::Remove { .. }
            | Action::ChangeMode { .. }
            | Action::SetTimes { .. },
        )
        | (Obeyed::Base | Obeyed::Head, Action::MakeDirectory { .. } | Action::SetTimes { .. }) => {
            act::change(caller, found, action)
        }
        _ => Err(libc::EROFS),
    }
}

/// Returns whether git takes a directory with this `HEAD` for a repository.
fn is_head(content: &[u8]) -> bool {
    let text = content.trim_ascii_end();
    let is_name = |name: &[u8]| name.iter().all(|byte| byte.is_ascii_graphic() || *byte >= 0x80);
    match text.strip_prefix(b"ref: refs/") {
        Some(name) => !name.is_empty() && is_name(name),
        None => matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit),
    }
}

/// Returns the length of the names of objects in a repository, in bytes.
fn hash_length(at: &GateEntry, program: Option<&Path>) -> usize {
    const KEY: &[u8] = b"extensions.objectformat";
    let (short, long) = (20, 32);
    let config = config_of(at);
    let lower = config.to_ascii_lowercase();
    let has = |word: &[u8]| lower.windows(word.len()).any(|window| window == word);
    if !has(b"objectformat") || !has(b"sha256") {
        return short;
    }
    let Some(program) = program else { return long };
    let all = settings(program, &config).unwrap_or_default();
    let format = all.iter().rev().find(|setting| setting.key == KEY);
    let is_long = format.is_some_and(|setting| setting.value.as_deref() == Some(b"sha256"));
    if is_long { long } else { short }
}

/// Returns the configuration of the repository that has an index.
fn config_of(at: &GateEntry) -> Vec<u8> {
    let directory = at.below.parent().unwrap_or(Path::new("")).to_owned();
    let read = |path: PathBuf| {
        let file = place::beneath(at.root.tree.as_fd(), &path).ok()?;
        fs::read(format!("self/fd/{}", file.as_raw_fd())).ok()
    };
    let repository = match read(directory.join("commondir")) {
        Some(_) => directory.parent().and_then(Path::parent).map(Path::to_owned),
        None => Some(directory),
    };
    repository.and_then(|repository| read(repository.join("config"))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_repository() {
        let id = "0f".repeat(20);
        for text in
            ["ref: refs/heads/main\n", "ref: refs/heads/.invalid", "ref: refs/heads/\u{e4}", &id]
        {
            assert!(is_head(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "x",
            " ref: refs/x",
            "ref: refs/",
            "ref: heads/x",
            "ref: refs/a b",
            &id[1..],
            "ref: refs/a\nb",
        ] {
            assert!(!is_head(text.as_bytes()), "{text}");
        }
    }
}
