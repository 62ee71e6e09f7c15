//! Wrappers of what the kernel provides: threads, memory, files, terminals, and one epoll for all
//! descriptors.

pub mod beneath;
pub mod load;
pub mod page;
pub mod pty;
pub mod threads;
pub mod watch;
