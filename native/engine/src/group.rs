//! A process group that is ours to signal.

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpgrp, kill_process_group, test_kill_process_group};

/// A group led by a command of ours.
///
/// Valid while its leader has not been reaped: until then the kernel can't give the number away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Group(Pid);

impl Group {
    /// None for numbers that `kill` takes for something else (0: our own group, 1 and -1:
    /// everybody) and for the host's own group.
    pub fn led_by(pid: i32) -> Option<Group> {
        if pid <= 1 {
            return None;
        }
        let leader = Pid::from_raw(pid)?;
        (leader != getpgrp()).then_some(Group(leader))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_mean_everybody_or_the_host_are_refused() {
        for number in [i32::MIN, -2, -1, 0, 1, getpgrp().as_raw_nonzero().get()] {
            assert_eq!(Group::led_by(number), None, "{number}");
        }
    }
}
