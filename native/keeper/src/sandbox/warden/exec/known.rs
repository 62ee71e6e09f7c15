//! Programs that a rule names, and programs that are many.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::sandbox::warden::exec::file::ProgramFile;
use crate::sandbox::warden::exec::program::{Program, last_name};

/// The options by which a call of coreutils says which program it is.
const CHOOSING: [&[u8]; 2] = [b"--coreutils-prog=", b"--coreutils-prog-shebang="];

/// A program by its path: as it was when the sandbox was made, and as it is.
pub struct KnownProgram {
    path: PathBuf,
    /// None: there was none.
    before: Option<ProgramFile>,
}

impl KnownProgram {
    pub fn at(path: &Path) -> KnownProgram {
        KnownProgram { path: path.to_owned(), before: ProgramFile::at(path) }
    }

    /// Returns the last name of its path.
    pub fn name(&self) -> &[u8] {
        self.path.file_name().unwrap_or_default().as_bytes()
    }

    /// Returns whether a file is this program, or has the same bytes.
    pub fn is(&self, file: &ProgramFile) -> bool {
        let now = ProgramFile::at(&self.path);
        self.before.iter().chain(&now).any(|known| {
            known.stamp.is_same_file(&file.stamp)
                || known.stamp.size == file.stamp.size && known.has_bytes_of(file)
        })
    }

    /// Returns whether a file is this program, unchanged since the sandbox was made.
    pub fn is_untouched(&self, file: &ProgramFile) -> bool {
        self.before.as_ref().is_some_and(|known| known.stamp == file.stamp)
    }
}

/// Programs that are many (busybox, coreutils): which one is said by their name or their first argument.
pub struct MultiPrograms(Vec<KnownProgram>);

/// What a program is called, and the number of the first of its arguments.
pub struct Face<'program> {
    pub name: &'program [u8],
    pub first: usize,
}

impl MultiPrograms {
    pub fn at(paths: &[PathBuf]) -> MultiPrograms {
        MultiPrograms(paths.iter().map(|path| KnownProgram::at(path)).collect())
    }

    /// Returns the face of a program that is many. None: it is one.
    pub fn face<'program>(&self, program: &'program Program) -> Option<Face<'program>> {
        if !self.0.iter().any(|known| known.is(&program.file)) {
            return None;
        }
        let word = |at: usize| program.argv.get(at).map(|word| &**word).unwrap_or_default();
        let own = last_name(word(0));
        if !is_name_of_many(own) {
            return Some(Face { name: own, first: 1 });
        }
        let second = word(1);
        let chosen = CHOOSING.iter().find_map(|option| second.strip_prefix(*option));
        Some(Face { name: last_name(chosen.unwrap_or(second)), first: 2 })
    }
}

fn is_name_of_many(name: &[u8]) -> bool {
    matches!(name, b"busybox" | b"busybox.static" | b"toybox" | b"coreutils")
}
