//! The rules of a plan for paths.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::sandbox::place;

/// The access below a path; of several rules the one with the longest path applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub access: Access,
    pub path: PathBuf,
    /// Device and inode that the host has found there; None: any file is meant.
    pub identity: Option<(u64, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Reading and writing.
    Write,
    /// A cache of the user's, over which a layer of the workspace is mounted.
    Cache,
    /// A directory of git's: the warden writes to it, except to the files that git obeys.
    Git,
    /// Reading, where it would be hidden.
    Show,
    /// Reading only, where it could be written to.
    Keep,
    /// No access.
    Hide,
    /// Connecting to a socket.
    Socket,
}

impl Rule {
    /// Opens the path, without following links. The error is ESTALE if it is not what the host has found.
    pub fn open(&self) -> io::Result<OwnedFd> {
        let found = place::open(&self.path)?;
        let is_same = |identity| place::identity(&found).is_ok_and(|it| it == identity);
        if self.identity.is_none_or(is_same) {
            return Ok(found);
        }
        Err(io::Error::from_raw_os_error(libc::ESTALE))
    }
}

/// Reads an entry that begins a rule.
pub fn rule(word: &[u8], value: &[u8]) -> Option<Rule> {
    let access = match word {
        b"write" => Access::Write,
        b"cache" => Access::Cache,
        b"git" => Access::Git,
        b"show" => Access::Show,
        b"keep" => Access::Keep,
        b"hide" => Access::Hide,
        b"socket" => Access::Socket,
        _ => return None,
    };
    Some(Rule { access, path: absolute(value)?, identity: None })
}

/// Returns the path of an entry. None: it is not absolute.
pub fn absolute(value: &[u8]) -> Option<PathBuf> {
    let path = PathBuf::from(OsStr::from_bytes(value));
    path.is_absolute().then_some(path)
}

/// Parses `device:inode:…`. None: the host has found no file.
pub fn identity_in(text: &[u8]) -> Option<(u64, u64)> {
    let mut numbers = std::str::from_utf8(text).ok()?.split(':').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Resolves a rule. Access is given to the file that the host has found; what is kept or hidden is any
/// file at the path.
pub fn resolve(rule: &Rule) -> Option<Rule> {
    if matches!(rule.access, Access::Keep | Access::Hide) {
        let path = rule.path.canonicalize().ok()?;
        return Some(Rule { path, identity: None, ..rule.clone() });
    }
    rule.open().ok().map(|_| rule.clone())
}
