//! The program of a process that was stopped before the program's first instruction.

use std::fs;
use std::path::Path;

use crate::sandbox::warden::exec::program::Program;
use crate::sandbox::warden::exec::program::catalogue::Catalogue;
use crate::sandbox::warden::exec::program::file::{FileStamp, ProgramFile};

/// Returns whether a process executes exactly this.
pub fn is(pid: i32, expected: &Program) -> bool {
    FileStamp::at(&format!("{pid}/exe")) == Some(expected.file.stamp)
        && arguments(pid).is_some_and(|argv| argv == expected.argv)
}

/// Returns the program and its arguments as the kernel has taken them. None: the process is gone.
pub fn program(pid: i32, catalogue: &Catalogue) -> Option<Program> {
    let file = ProgramFile::at(Path::new(&format!("{pid}/exe")))?;
    let argv = arguments(pid)?;
    let called = argv.first().cloned().unwrap_or_default();
    Some(Program::new(catalogue, file, called, argv))
}

fn arguments(pid: i32) -> Option<Vec<Vec<u8>>> {
    let line = fs::read(format!("{pid}/cmdline")).ok()?;
    // Each argument ends with NUL.
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    Some(line.split(|byte| *byte == 0).map(<[u8]>::to_owned).collect())
}
