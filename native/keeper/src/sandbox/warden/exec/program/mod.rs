//! Programs, and what the kernel or a loader executes in their place.

pub mod attempt;
pub mod catalogue;
pub mod chain;
pub mod face;
pub mod file;
mod loader;
pub mod running;
mod script;

use std::rc::Rc;
use std::sync::Arc;

use crate::sandbox::warden::caller::{Caller, PathBase};
use catalogue::{Catalogue, ProgramFacts};
use file::ProgramFile;

/// A program with its arguments.
#[derive(Clone)]
pub struct Program {
    pub file: Rc<ProgramFile>,
    pub facts: Arc<ProgramFacts>,
    /// The path by which it was called; may be a link.
    pub called: Vec<u8>,
    pub argv: Vec<Vec<u8>>,
}

impl Program {
    pub fn new(
        catalogue: &Catalogue,
        file: ProgramFile,
        called: Vec<u8>,
        argv: Vec<Vec<u8>>,
    ) -> Program {
        let facts = catalogue.facts(&file);
        Program { file: Rc::new(file), facts, called, argv }
    }

    /// Opens a path of the caller. The error is the errno for the caller.
    pub fn open(caller: &Caller, path: &[u8]) -> Result<ProgramFile, i32> {
        let place = caller.place_at(PathBase::Directory, path)?;
        ProgramFile::of(caller.act(|| place.open())?)
    }
}
