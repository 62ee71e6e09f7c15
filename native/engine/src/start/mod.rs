//! The engine's interface, and the threads and processes that start commands.

pub mod detached;
pub mod engine;
pub mod launcher;
pub mod local_pipe;
mod seated;
