//! Process groups that are to be reaped.

use std::time::Duration;

/// From one try to reap a group to the next.
const FIRST: Duration = Duration::from_millis(10);
const LAST: Duration = Duration::from_secs(1);

/// A group of ours that has ended, or whose processes have lost their parent: where orphans fall to
/// this host (it is the first process of a container, or a subreaper), it has to reap them.
pub struct Group {
    /// Its number, which is not given away as long as a child of ours is in it.
    pub number: i32,
    interval: Duration,
}

impl Group {
    /// One that has not been looked at yet.
    pub fn new(number: i32) -> Self {
        Group { number, interval: FIRST }
    }

    /// The time until the next try, twice as long each time.
    pub fn next_interval(&mut self) -> Duration {
        let interval = self.interval;
        self.interval = (interval * 2).min(LAST);
        interval
    }
}
