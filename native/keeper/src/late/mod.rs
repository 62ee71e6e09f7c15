//! What a command is to have, and could not get between its clone and its exec.

pub mod lowering;
pub mod victims;
