//! Programs that load and run another one in their own process: the system's dynamic loaders, called by their
//! path, as `/lib64/ld-linux-x86-64.so.2 /bin/rm`.

use std::fs;
use std::path::Path;
use std::rc::Rc;

use crate::sandbox::warden::caller::{Caller, PathBase};
use crate::sandbox::warden::exec::file::ProgramFile;
use crate::sandbox::warden::exec::program::{Program, last_name};

const DIRECTORIES: [&str; 4] = ["/lib64", "/lib", "/lib32", "/libx32"];
/// The options of loaders with a value in the next argument.
const WITH_VALUE: [&[u8]; 9] = [
    b"--library-path",
    b"--glibc-hwcaps-prepend",
    b"--glibc-hwcaps-mask",
    b"--inhibit-rpath",
    b"--audit",
    b"--preload",
    b"--argv0",
    b"--format",
    b"--tls-size",
];

/// The loaders of the system.
pub struct Loaders(Vec<ProgramFile>);

impl Loaders {
    pub fn find() -> Loaders {
        let entries = DIRECTORIES.iter().flat_map(|path| fs::read_dir(path).into_iter().flatten());
        let names = entries.flatten().map(|entry| entry.path());
        let loaders = names.filter(|path| is_name_of_loader(path));
        Loaders(loaders.filter_map(|path| ProgramFile::at(&path)).collect())
    }

    fn has(&self, program: &Program) -> bool {
        let file = &program.file;
        is_name_of_loader(&file.path)
            || self.0.iter().any(|loader| {
                loader.stamp.is_same_file(&file.stamp)
                    || loader.stamp.size == file.stamp.size && loader.has_bytes_of(file)
            })
    }
}

fn is_name_of_loader(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("ld-linux") || name.starts_with("ld-musl") || name.starts_with("ld.so")
}

/// Returns what a loader would run. None: the program is no loader, or loads nothing.
pub fn target(caller: &Caller, program: &Program, loaders: &Loaders) -> Option<Program> {
    if !loaders.has(program) {
        return None;
    }
    let mut words = program.argv.iter().enumerate().skip(1);
    let mut name: Option<Vec<u8>> = None;
    let mut libraries: Vec<Vec<u8>> = Vec::new();
    while let Some((number, word)) = words.next() {
        if !word.starts_with(b"-") || word == b"-" {
            return loaded(caller, program, number, name, &libraries);
        }
        if WITH_VALUE.contains(&&**word) {
            let value = words.next().map(|(_, value)| value.clone()).unwrap_or_default();
            match &**word {
                b"--argv0" => name = Some(value),
                b"--library-path" => {
                    libraries = value.split(|byte| *byte == b':').map(<[u8]>::to_owned).collect();
                }
                _ => {}
            }
        }
    }
    None
}

/// Returns the program whose path is the argument of this number. A name without a slash is looked up as a library.
fn loaded(
    caller: &Caller,
    program: &Program,
    number: usize,
    name: Option<Vec<u8>>,
    libraries: &[Vec<u8>],
) -> Option<Program> {
    let path = program.argv.get(number)?;
    let elsewhere = libraries.iter().map(|at| [at, &b"/"[..], path].concat());
    let paths = std::iter::once(path.clone()).chain(elsewhere.filter(|_| !path.contains(&b'/')));
    let (called, file) = paths.into_iter().find_map(|path| {
        let place = caller.place_at(PathBase::Directory, &path).ok()?;
        let file = caller.act(|| place.open()).ok()?;
        Some((path, Rc::new(ProgramFile::of(file).ok()?)))
    })?;
    let name = name.unwrap_or_else(|| last_name(path).to_owned());
    let rest = program.argv.iter().skip(number + 1).cloned();
    let argv = std::iter::once(name).chain(rest).collect();
    Some(Program { file, called, argv })
}
