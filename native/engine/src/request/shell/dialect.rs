//! What kind of shell a file is: by its name, and by its first bytes.

use std::ffi::{CString, OsStr};
use std::fs::{File, canonicalize, symlink_metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Kinds of shells that are called differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// bash and rbash, by whatever file.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
    /// csh and tcsh.
    Csh,
    /// Any other one; bash too, when it is called `sh`.
    Sh,
}

/// A shell to be tried.
#[derive(Debug, PartialEq, Eq)]
pub struct Shell<'path> {
    path: &'path Path,
    /// What it is called, and calls itself.
    pub name: &'path [u8],
    /// What it is.
    pub dialect: Dialect,
    /// There is such a file.
    pub exists: bool,
}

impl Dialect {
    /// The options by which it reads no start-up file that nobody has asked for. bash, run by ssh or
    /// with a socket as stdin, reads `~/.bashrc` and the system's; zsh, fish and csh read theirs
    /// always. What `sh` reads, interactive shells apart, is named by variables that no command
    /// inherits.
    pub fn quiet(self) -> &'static [&'static str] {
        match self {
            Dialect::Bash => &["--norc"],
            Dialect::Zsh | Dialect::Csh => &["-f"],
            Dialect::Fish => &["--no-config"],
            Dialect::Sh => &[],
        }
    }

    fn named(name: &[u8]) -> Dialect {
        match name {
            b"rbash" => Dialect::Bash,
            b"csh" | b"tcsh" | b"bsd-csh" => Dialect::Csh,
            _ if name.starts_with(b"bash") => Dialect::Bash,
            _ if name.starts_with(b"zsh") => Dialect::Zsh,
            _ if name.starts_with(b"fish") => Dialect::Fish,
            _ => Dialect::Sh,
        }
    }
}

impl<'path> Shell<'path> {
    /// The one at `path`, whatever links lead to it. Called by the name of `sh`, every shell behaves
    /// like one.
    pub fn at(path: &'path CString) -> Self {
        let mut shell = Shell::by_name(path);
        let Ok(file) = symlink_metadata(shell.path) else { return shell };
        shell.exists = true;
        if file.is_symlink()
            && shell.name != b"sh"
            && let Ok(real) = canonicalize(shell.path)
        {
            shell.dialect = Dialect::named(base_name(&real));
        }
        shell
    }

    /// The same without a look: for one that is hardly ever needed.
    pub fn by_name(path: &'path CString) -> Self {
        let path = Path::new(OsStr::from_bytes(path.as_bytes()));
        let name = base_name(path);
        Shell { path, name, dialect: Dialect::named(name), exists: false }
    }

    /// Whether it begins like a program of the kernel's own format. What does not, a script, calls the
    /// shell, and whatever came in `$_` is then its own.
    pub fn is_program(&self) -> bool {
        let mut start = [0; 4];
        let read = File::open(self.path).and_then(|mut file| file.read_exact(&mut start));
        read.is_ok() && &start == b"\x7fELF"
    }
}

fn base_name(path: &Path) -> &[u8] {
    path.file_name().unwrap_or_default().as_bytes()
}
