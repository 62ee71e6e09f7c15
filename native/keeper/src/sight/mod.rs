//! What `/proc` shows of what processes do: what their descriptors are, and which system calls they sleep in.
//! Nothing is proven by it; what is not shown is not known.

pub mod calls;
pub mod descriptors;
mod endless;
mod listening;
mod locks;
mod memory;
pub mod reason;
mod waits;
