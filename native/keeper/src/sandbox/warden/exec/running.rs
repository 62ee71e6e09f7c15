//! The program of a process that was stopped before the program's first instruction.

use std::fs;
use std::path::Path;
use std::rc::Rc;

use crate::sandbox::warden::exec::file::ProgramFile;
use crate::sandbox::warden::exec::program::Program;

/// Returns the program and its arguments as the kernel has taken them. None: the process is gone.
pub fn program(pid: i32) -> Option<Program> {
    let file = Rc::new(ProgramFile::at(Path::new(&format!("{pid}/exe")))?);
    let line = fs::read(format!("{pid}/cmdline")).ok()?;
    // Each argument ends with NUL.
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    let argv: Vec<Vec<u8>> = line.split(|byte| *byte == 0).map(<[u8]>::to_owned).collect();
    let called = argv.first().cloned().unwrap_or_default();
    Some(Program { file, called, argv })
}
