//! Output on its way from a pipe to where it is kept.

pub mod spill;
pub mod stream;
