//! The limit on a command's output on the disk.
//!
//! The command writes to the file itself, so that it does not depend on another process; bytes above the
//! limit are cut off repeatedly.

use std::fs::File;
use std::time::Duration;

/// The time between two checks of a growing file that is close to its limit.
const SHORTEST: Duration = Duration::from_millis(100);
/// The time between two checks of any other file.
const LONGEST: Duration = Duration::from_secs(1);
/// Bytes that a fast disk can take in a second.
const RATE: u64 = 1 << 30;

/// A limit on a file, and the bytes that it has cost.
pub struct Quota {
    limit: u64,
    /// The size at the last check; None: there was none.
    seen: Option<u64>,
    cut: u64,
    /// Bytes that could not be written.
    lost: u64,
}

impl Quota {
    /// Makes a limit in bytes.
    pub fn new(limit: u64) -> Quota {
        Quota { limit, seen: None, cut: 0, lost: 0 }
    }

    /// Cuts off bytes above the limit. Returns the time until the next check.
    pub fn hold(&mut self, file: &File) -> Duration {
        let Ok(size) = file.metadata().map(|metadata| metadata.len()) else { return LONGEST };
        let may_grow = self.seen.is_none_or(|seen| size > seen);
        self.seen = Some(size);
        if size > self.limit && file.set_len(self.limit).is_ok() {
            self.cut += size - self.limit;
            self.seen = Some(self.limit);
        }
        if may_grow { time_to_fill(self.limit.saturating_sub(size)) } else { LONGEST }
    }

    /// Adds bytes that could not be written, for example because the disk is full.
    pub fn lose(&mut self, bytes: u64) {
        self.lost += bytes;
    }

    /// Returns how many bytes were cut off or could not be written, at least.
    pub fn cut(&self) -> u64 {
        self.cut + self.lost
    }

    /// Raises the limit for bytes that are not the command's.
    pub fn allow(&mut self, bytes: u64) {
        self.limit = self.limit.saturating_add(bytes);
    }

    /// Returns a line about missing output. None: nothing is missing.
    pub fn line(&self) -> Option<String> {
        let Quota { limit, cut, lost, .. } = self;
        if *lost > 0 {
            let missing = self.cut();
            return Some(format!("[output not written, at least {missing} bytes are left out]"));
        }
        // Bytes written between the check and the cut are not counted.
        (*cut > 0).then(|| {
            format!("[output cut off after {limit} bytes, at least {cut} bytes are left out]")
        })
    }
}

fn time_to_fill(bytes: u64) -> Duration {
    Duration::from_millis(bytes / (RATE / 1000)).clamp(SHORTEST, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_near_its_limit_is_checked_sooner() {
        assert_eq!(time_to_fill(0), SHORTEST);
        assert_eq!(time_to_fill(RATE / 2).as_millis(), 500);
        assert_eq!(time_to_fill(u64::MAX), LONGEST);
    }
}
