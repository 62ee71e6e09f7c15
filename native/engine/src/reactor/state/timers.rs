//! The deadlines of all commands, in order.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// The purpose of a timer. A command has at most one timer for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Alarm {
    /// The command's timeout.
    Deadline,
    /// An answer of the cradle is late.
    Unanswered,
    /// The command has ended; its output may be complete now.
    Quiet,
    /// Output is due for its listener.
    Flush,
    /// The disk has had its time to finish the spill file.
    Patience,
    /// The keeper has had its time to end the processes that a killed cradle has left.
    Lost,
    /// The processes of a dead keeper's group may be reaped now.
    Reap,
    /// A keeper may have more idle cradles than needed.
    Shed,
    /// A lifeline was left alone for a moment.
    Rested,
    /// The commands of a keeper's questions should be known by now.
    Unplaced,
}

/// Timers by due time. A cancelled timer leaves nothing behind.
#[derive(Debug, Default)]
pub struct Timers {
    queue: BTreeSet<(Instant, u64, Alarm)>,
    due: HashMap<(u64, Alarm), Instant>,
}

impl Timers {
    /// Sets a timer, in place of the one with the same purpose.
    pub fn set(&mut self, id: u64, alarm: Alarm, at: Instant) {
        self.cancel(id, alarm);
        self.queue.insert((at, id, alarm));
        self.due.insert((id, alarm), at);
    }

    /// Removes a timer, if it is set.
    pub fn cancel(&mut self, id: u64, alarm: Alarm) {
        if let Some(at) = self.due.remove(&(id, alarm)) {
            self.queue.remove(&(at, id, alarm));
        }
    }

    /// Removes every timer of `id`.
    pub fn cancel_all(&mut self, id: u64) {
        use Alarm::{Deadline, Flush, Lost, Patience, Quiet, Reap, Shed, Unanswered};
        for alarm in [Deadline, Unanswered, Quiet, Flush, Patience, Reap, Lost, Shed] {
            self.cancel(id, alarm);
        }
    }

    /// Returns the time until the next timer. None: no timer is set.
    pub fn wait(&self, now: Instant) -> Option<Duration> {
        self.queue.first().map(|(at, ..)| at.saturating_duration_since(now))
    }

    /// Removes the next due timer and returns it.
    pub fn pop(&mut self, now: Instant) -> Option<(u64, Alarm)> {
        let (at, id, alarm) = *self.queue.first()?;
        if at > now {
            return None;
        }
        self.cancel(id, alarm);
        Some((id, alarm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_set_again_rings_once_at_its_new_time() {
        let start = Instant::now();
        let mut timers = Timers::default();
        timers.set(1, Alarm::Quiet, start);
        timers.set(1, Alarm::Quiet, start + Duration::from_secs(2));
        assert_eq!(timers.pop(start), None);
        assert_eq!(timers.wait(start), Some(Duration::from_secs(2)));
        let later = start + Duration::from_secs(3);
        assert_eq!(timers.pop(later), Some((1, Alarm::Quiet)));
        assert_eq!(timers.pop(later), None);
        assert_eq!(timers.wait(later), None);
    }

    #[test]
    fn timers_ring_in_order_of_time_and_cancelled_ones_never() {
        let start = Instant::now();
        let mut timers = Timers::default();
        timers.set(1, Alarm::Deadline, start + Duration::from_millis(3));
        timers.set(2, Alarm::Deadline, start + Duration::from_millis(1));
        timers.set(3, Alarm::Flush, start + Duration::from_millis(2));
        timers.cancel_all(3);
        let later = start + Duration::from_secs(1);
        assert_eq!(timers.pop(later), Some((2, Alarm::Deadline)));
        assert_eq!(timers.pop(later), Some((1, Alarm::Deadline)));
        assert_eq!(timers.pop(later), None);
    }

    #[test]
    fn a_timer_rings_at_its_time_and_not_only_after_it() {
        let due = Instant::now() + Duration::from_millis(3);
        let mut timers = Timers::default();
        timers.set(1, Alarm::Quiet, due);
        assert_eq!(timers.pop(due - Duration::from_nanos(1)), None);
        assert_eq!(timers.pop(due), Some((1, Alarm::Quiet)));
    }
}
