//! Process groups that are to be reaped.

use std::time::Duration;

/// The shortest and the longest time from one try to reap a group to the next.
const FIRST: Duration = Duration::from_millis(10);
const LAST: Duration = Duration::from_secs(1);

/// A process group that has ended, or whose processes have lost their parent. If the host is the first
/// process of a container or a subreaper, orphans become its children, and it has to reap them.
pub struct Group {
    /// The group's id, which is not reused as long as a child of the host is in the group.
    pub number: i32,
    interval: Duration,
}

impl Group {
    /// Makes a group for which there was no try yet.
    pub fn new(number: i32) -> Self {
        Group { number, interval: FIRST }
    }

    /// Returns the time until the next try, twice as long each time.
    pub fn next_interval(&mut self) -> Duration {
        let interval = self.interval;
        self.interval = (interval * 2).min(LAST);
        interval
    }
}
