//! A command made ready for a cradle.

pub mod invocation;
pub mod letter;
pub mod order;
pub mod plumbing;
pub mod shell;
mod variables;
mod words;
