//! Programs that load and run another one in their own process: the system's dynamic loaders, called by their
//! path, as `/lib64/ld-linux-x86-64.so.2 /bin/rm`.

use crate::sandbox::warden::caller::Caller;
use crate::sandbox::warden::exec::program::Program;
use crate::sandbox::warden::exec::program::catalogue::{Catalogue, last_name};
use crate::sandbox::warden::exec::program::file::ProgramFile;

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

/// Returns what a loader would run. None: the program is no loader, or loads nothing.
pub fn target(caller: &Caller, program: &Program, catalogue: &Catalogue) -> Option<Program> {
    if !program.facts.is_loader {
        return None;
    }
    let mut words = program.argv.iter().enumerate().skip(1);
    let mut name: Option<Vec<u8>> = None;
    let mut libraries: Vec<Vec<u8>> = Vec::new();
    let mut are_options = true;
    while let Some((number, word)) = words.next() {
        if !are_options || !word.starts_with(b"--") {
            let (called, file) = find(caller, word, &libraries)?;
            let name = name.unwrap_or_else(|| last_name(word).to_owned());
            let rest = program.argv.iter().skip(number + 1).cloned();
            let argv = std::iter::once(name).chain(rest).collect();
            return Some(Program::new(catalogue, file, called, argv));
        }
        if word == b"--" {
            are_options = false;
            continue;
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

/// Opens the program of this path. A name without a slash is looked up as a library.
fn find(caller: &Caller, path: &[u8], libraries: &[Vec<u8>]) -> Option<(Vec<u8>, ProgramFile)> {
    let elsewhere = libraries.iter().map(|at| [at, &b"/"[..], path].concat());
    let elsewhere = elsewhere.filter(|_| !path.contains(&b'/'));
    let mut paths = std::iter::once(path.to_owned()).chain(elsewhere);
    paths.find_map(|path| {
        let file = Program::open(caller, &path).ok()?;
        Some((path, file))
    })
}
