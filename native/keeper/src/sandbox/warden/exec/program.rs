//! What a call would execute: the file, and whatever the kernel or a loader executes in its place.

use std::path::Path;
use std::rc::Rc;

use crate::sandbox::warden::caller::{Caller, PathBase};
use crate::sandbox::warden::exec::attempt::Attempt;
use crate::sandbox::warden::exec::file::ProgramFile;
use crate::sandbox::warden::exec::loader::{self, Loaders};

/// The most interpreters of interpreters; the kernel follows no more.
const MOST_SCRIPTS: usize = 5;
/// The bytes of a file in which the kernel looks for an interpreter.
const BEGINNING: usize = 256;

/// A program with its arguments.
#[derive(Clone)]
pub struct Program {
    pub file: Rc<ProgramFile>,
    /// The path by which it was called; may be a link.
    pub called: Vec<u8>,
    pub argv: Vec<Vec<u8>>,
}

/// All that one call executes.
pub struct Chain {
    /// What the call is about: a script, what a loader loads, or the program itself.
    pub main: Program,
    /// What runs it: interpreters, or the loader.
    pub others: Vec<Program>,
    /// The program as the kernel starts it.
    pub last: Program,
    /// Whether that is what is executed. A loader opens its program by itself, afterwards.
    pub is_certain: bool,
}

impl Chain {
    /// Finds out what an attempt would execute. The error is the errno for the caller.
    pub fn of(caller: &Caller, attempt: Attempt, loaders: &Loaders) -> Result<Chain, i32> {
        let file = Rc::new(ProgramFile::of(attempt.file)?);
        let first = Program { file, called: attempt.called, argv: attempt.argv };
        let mut all = vec![first.clone()];
        let mut last = first.clone();
        while let Some(next) = interpreter(caller, &last)? {
            if all.len() > MOST_SCRIPTS {
                return Err(libc::ELOOP);
            }
            all.push(next.clone());
            last = next;
        }
        let others = all.into_iter().skip(1).collect();
        let chain = Chain { main: first, others, last, is_certain: true };
        Ok(chain.with_loaded(caller, loaders))
    }

    /// Makes the chain of a process that executes a program already.
    pub fn of_running(caller: &Caller, program: Program, loaders: &Loaders) -> Chain {
        let chain =
            Chain { main: program.clone(), others: Vec::new(), last: program, is_certain: true };
        chain.with_loaded(caller, loaders)
    }

    /// Puts what a loader loads first.
    fn with_loaded(mut self, caller: &Caller, loaders: &Loaders) -> Chain {
        let is_script = !self.others.is_empty();
        let Some(loaded) = loader::target(caller, &self.last, loaders) else { return self };
        self.is_certain = loaded.file.is_kept() && is_at_its_path(&loaded);
        if is_script {
            self.others.push(loaded);
        } else {
            self.others = vec![std::mem::replace(&mut self.main, loaded)];
        }
        self
    }
}

/// Returns whether it was called by its real path, on which there is no link.
fn is_at_its_path(program: &Program) -> bool {
    use std::os::unix::ffi::OsStrExt;
    program.file.path.as_os_str().as_bytes() == program.called
}

/// Returns the interpreter of a script, with the arguments that the kernel gives it. None: it is no script.
fn interpreter(caller: &Caller, script: &Program) -> Result<Option<Program>, i32> {
    let beginning = script.file.beginning(BEGINNING);
    let Some((path, argument)) = first_line(&beginning) else { return Ok(None) };
    let place = caller.place_at(PathBase::Directory, path)?;
    let file = Rc::new(ProgramFile::of(caller.act(|| place.open())?)?);
    let rest = script.argv.iter().skip(1).cloned();
    let argv = std::iter::once(path.to_owned())
        .chain(argument.map(<[u8]>::to_owned))
        .chain(std::iter::once(script.called.clone()))
        .chain(rest)
        .collect();
    Ok(Some(Program { file, called: path.to_owned(), argv }))
}

/// Reads `#! PATH ARGUMENT` as the kernel does. None: the file does not begin so.
fn first_line(beginning: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let rest = beginning.strip_prefix(b"#!")?;
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let end = rest.iter().position(|byte| matches!(byte, b'\n'));
    // Of a line that is longer only a whole path counts.
    let line = rest.get(..end.unwrap_or(rest.len()))?;
    let line = line.split(|byte| *byte == 0).next()?;
    let line = line.get(line.iter().position(|byte| !is_blank(byte))?..)?;
    let (path, rest) = match line.iter().position(is_blank) {
        Some(at) => line.split_at_checked(at)?,
        None => (line, &[][..]),
    };
    let from = rest.iter().position(|byte| !is_blank(byte));
    let to = rest.iter().rposition(|byte| !is_blank(byte));
    let argument = from.zip(to).and_then(|(from, to)| rest.get(from..=to));
    Some((path, argument)).filter(|(path, _)| !path.is_empty())
}

/// Returns the last name of a path.
pub fn last_name(path: &[u8]) -> &[u8] {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    Path::new(OsStr::from_bytes(path)).file_name().unwrap_or_default().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_a_script_is_read_as_by_the_kernel() {
        let of = |text: &'static str| {
            first_line(text.as_bytes()).map(|(path, argument)| {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                (text(path), argument.map(text))
            })
        };
        let line = |path: &str, argument: Option<&str>| {
            Some((path.to_owned(), argument.map(ToOwned::to_owned)))
        };
        assert_eq!(of("#!/bin/sh\necho"), line("/bin/sh", None));
        assert_eq!(of("#! /usr/bin/env  node --x \t\n"), line("/usr/bin/env", Some("node --x")));
        assert_eq!(of("#!\t/bin/sh"), line("/bin/sh", None));
        assert_eq!(of("#!/bin/a\0b\n"), line("/bin/a", None));
        for none in ["", "#", "#!", "#! \n/bin/sh", "#!\n", "echo", " #!/bin/sh"] {
            assert_eq!(of(none), None, "{none:?}");
        }
    }

    #[test]
    fn the_last_name_of_a_path_is_that_of_the_program() {
        assert_eq!(
            (last_name(b"/bin/rm"), last_name(b"rm"), last_name(b"a/")),
            (&b"rm"[..], &b"rm"[..], &b"a"[..])
        );
    }
}
