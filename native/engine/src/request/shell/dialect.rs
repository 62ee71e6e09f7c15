//! Detection of a shell's kind, by its name and its first bytes.

use std::ffi::{CString, OsStr};
use std::fs::{File, canonicalize, symlink_metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Kinds of shells that take different arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// bash and rbash, under any file name.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
    /// csh and tcsh.
    Csh,
    /// Any other shell; bash too, when it is called `sh`.
    Sh,
}

/// A shell to be tried.
#[derive(Debug, PartialEq, Eq)]
pub struct Shell<'path> {
    path: &'path Path,
    /// The file name, which also becomes its `$0`.
    pub name: &'path [u8],
    /// The kind of the shell.
    pub dialect: Dialect,
    /// Whether there is such a file.
    pub exists: bool,
}

impl Dialect {
    /// Returns the options that prevent start-up files. bash reads `~/.bashrc` and the system's when run by
    /// ssh or with a socket as stdin; zsh, fish and csh always read theirs. The start-up files of a
    /// non-interactive `sh` are named by variables that no command inherits.
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
    /// Inspects the shell at `path` and follows links. Under the name `sh`, every shell behaves like one.
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

    /// Judges by the name alone, for a shell that is hardly ever needed.
    pub fn by_name(path: &'path CString) -> Self {
        let path = Path::new(OsStr::from_bytes(path.as_bytes()));
        let name = base_name(path);
        Shell { path, name, dialect: Dialect::named(name), exists: false }
    }

    /// Returns whether the file is an ELF program. Otherwise it is a script that calls the shell, and `$_`
    /// would contain the script's value.
    pub fn is_program(&self) -> bool {
        let mut start = [0; 4];
        let read = File::open(self.path).and_then(|mut file| file.read_exact(&mut start));
        read.is_ok() && &start == b"\x7fELF"
    }
}

fn base_name(path: &Path) -> &[u8] {
    path.file_name().unwrap_or_default().as_bytes()
}
