//! What the kernel gives: threads, memory, files, terminals, and one wait for all descriptors.

pub mod beneath;
pub mod page;
pub mod pty;
pub mod queue;
pub mod threads;
pub mod watch;
