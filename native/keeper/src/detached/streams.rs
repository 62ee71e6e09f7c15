//! What a detached command prints to and reads from, as its keeper has it.

use super::input::StdinPipe;
use super::output::OutputFile;
use super::terminal::KeptTerminal;

pub struct CommandStreams {
    pub output: OutputFile,
    pub input: Option<StdinPipe>,
    pub terminal: Option<KeptTerminal>,
}
