//! Preparation of a command's request to a cradle.

pub mod admission;
pub mod invocation;
pub mod letter;
pub mod order;
pub mod plumbing;
pub mod shell;
mod variables;
mod words;
