//! What the kernel gives: threads, memory, terminals, and one wait for all descriptors.

pub mod page;
pub mod pty;
pub mod queue;
pub mod threads;
pub mod watch;
