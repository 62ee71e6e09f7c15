//! What a call would execute: the file, and whatever the kernel or a loader executes in its place.

use std::os::unix::ffi::OsStrExt;

use crate::sandbox::warden::caller::Caller;
use crate::sandbox::warden::exec::program::Program;
use crate::sandbox::warden::exec::program::attempt::Attempt;
use crate::sandbox::warden::exec::program::catalogue::Catalogue;
use crate::sandbox::warden::exec::program::file::ProgramFile;
use crate::sandbox::warden::exec::program::loader;

/// The most interpreters of interpreters; the kernel follows no more.
const MOST_SCRIPTS: usize = 5;

/// All that one call executes.
pub struct Chain {
    /// What the call is about: a script, what a loader loads, or the program itself.
    pub main: Program,
    /// What runs it: interpreters, or the loader.
    pub others: Vec<Program>,
    /// The program as the kernel starts it.
    pub last: Program,
    /// Whether that is what is executed. An interpreter and a loader open what they run by themselves, afterwards.
    pub is_certain: bool,
}

impl Chain {
    /// Finds out what an attempt would execute. The error is the errno for the caller.
    pub fn of(caller: &Caller, attempt: Attempt, catalogue: &Catalogue) -> Result<Chain, i32> {
        let Attempt { file, called, argv } = attempt;
        let first = Program::new(catalogue, ProgramFile::of(file)?, called, argv);
        let mut last = first.clone();
        let mut others = Vec::new();
        let mut is_certain = true;
        while let Some(next) = interpreter(caller, &last, catalogue)? {
            if others.len() == MOST_SCRIPTS {
                return Err(libc::ELOOP);
            }
            is_certain &= is_kept(&last);
            others.push(next.clone());
            last = next;
        }
        let chain = Chain { main: first, others, last, is_certain };
        Ok(chain.with_loaded(caller, catalogue))
    }

    /// Makes the chain of a process that executes a program already.
    pub fn of_running(caller: &Caller, program: Program, catalogue: &Catalogue) -> Chain {
        let others = Vec::new();
        let chain = Chain { main: program.clone(), others, last: program, is_certain: true };
        chain.with_loaded(caller, catalogue)
    }

    /// Puts what a loader loads first.
    fn with_loaded(mut self, caller: &Caller, catalogue: &Catalogue) -> Chain {
        let Some(loaded) = loader::target(caller, &self.last, catalogue) else { return self };
        self.is_certain &= is_kept(&loaded);
        if self.others.is_empty() {
            self.others = vec![std::mem::replace(&mut self.main, loaded)];
        } else {
            self.others.push(loaded);
        }
        self
    }
}

/// Returns whether whoever opens it again opens the same: it was called by its real path, on which there is no link, and
/// nothing can be written there.
fn is_kept(program: &Program) -> bool {
    program.file.is_kept() && program.file.path.as_os_str().as_bytes() == program.called
}

/// Returns the interpreter of a script, with the arguments that the kernel gives it. None: it is no script.
fn interpreter(
    caller: &Caller,
    script: &Program,
    catalogue: &Catalogue,
) -> Result<Option<Program>, i32> {
    let Some(line) = &script.facts.script else { return Ok(None) };
    let path = line.interpreter.clone();
    let file = Program::open(caller, &path)?;
    let argv = std::iter::once(path.clone())
        .chain(line.argument.clone())
        .chain(std::iter::once(script.called.clone()))
        .chain(script.argv.iter().skip(1).cloned())
        .collect();
    Ok(Some(Program::new(catalogue, file, path, argv)))
}
