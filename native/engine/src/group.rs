//! A process group that is ours to signal.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// A group led by a command of ours.
///
/// Valid while its leader has not been reaped: until then the kernel can't give the number away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Group(Pid);

impl Group {
    /// None for numbers that `kill` takes for something else (0: our own group, 1 and -1:
    /// everybody) and for the host's own group.
    pub fn led_by(pid: i32) -> Option<Group> {
        if pid <= 1 || pid == own_group() {
            return None;
        }
        Pid::from_raw(pid).map(Group)
    }

    /// Its number, which is its leader's pid.
    pub fn number(self) -> i32 {
        self.0.as_raw_nonzero().get()
    }

    /// Signals every member; an empty group is no error.
    pub fn signal(self, signal: Signal) -> Result<(), Errno> {
        match kill_process_group(self.0, signal) {
            Err(Errno::SRCH) => Ok(()),
            result => result,
        }
    }

    /// Whether nobody is in it. A zombie still is.
    pub fn is_empty(self) -> bool {
        test_kill_process_group(self.0) == Err(Errno::SRCH)
    }
}

/// The host's own group; 0 when its leader lives outside of our PID namespace, as that of a
/// container's first process may (rustix takes a 0 for impossible).
fn own_group() -> i32 {
    // SAFETY: only asks; it can't fail.
    unsafe { libc::getpgrp() }
}

/// The host's own session; 0 when its leader lives outside of our PID namespace.
pub fn own_session() -> i32 {
    // SAFETY: only asks; our own session is always there to be told.
    unsafe { libc::getsid(0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_mean_everybody_or_the_host_are_refused() {
        for number in [i32::MIN, -2, -1, 0, 1, own_group()] {
            assert_eq!(Group::led_by(number), None, "{number}");
        }
    }
}
