//! The sandbox that a process beside it looks after.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::sandbox::plan::Plan;

/// The sandbox that a process beside it looks after.
pub struct GuardedSandbox<'a> {
    pub plan: &'a Plan,
    /// The process id of the keeper, which is the first process inside.
    pub keeper: i32,
    pub has_user_namespace: bool,
    /// The bounding set of capabilities outside.
    pub rights: u64,
    pub lifeline: BorrowedFd<'a>,
}

impl GuardedSandbox<'_> {
    /// Moves the calling process to these namespaces of the sandbox, and to its user namespace.
    pub fn enter(&self, namespaces: i32) -> io::Result<()> {
        let users = if self.has_user_namespace { libc::CLONE_NEWUSER } else { 0 };
        // SAFETY: takes numbers only.
        let keeper = unsafe { libc::syscall(libc::SYS_pidfd_open, self.keeper, 0) } as i32;
        if keeper < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just opened; nothing else owns it.
        let keeper = unsafe { OwnedFd::from_raw_fd(keeper) };
        // SAFETY: takes numbers only.
        match unsafe { libc::setns(keeper.as_raw_fd(), namespaces | users) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
