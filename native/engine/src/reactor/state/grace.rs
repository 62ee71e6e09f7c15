//! The time from SIGTERM to SIGKILL.

use std::time::Duration;

/// Returns the time in the unit of cradles' orders: milliseconds, rounded up.
pub fn milliseconds(time: Duration) -> u64 {
    // A little more does no harm, but zero means SIGKILL at once.
    u64::try_from(time.as_micros().div_ceil(1000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grace_below_a_millisecond_is_rounded_up_to_one() {
        assert_eq!(milliseconds(Duration::from_micros(1)), 1);
        assert_eq!(milliseconds(Duration::from_micros(1001)), 2);
        assert_eq!(milliseconds(Duration::ZERO), 0);
        assert_eq!(milliseconds(Duration::MAX), u64::MAX);
    }
}
