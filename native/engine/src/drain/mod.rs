//! Output on its way from a pipe to the capture, the listener and the spill file.

pub mod spill;
pub mod stream;
