//! The most that a command's output may take of the disk.
//!
//! The command writes to the file itself, so that it needs nobody in order to go on; what is over the
//! limit is cut off again and again.

use std::fs::File;
use std::time::Duration;

/// From one look to the next at a file that grows, if the limit is near.
const SHORTEST: Duration = Duration::from_millis(100);
/// At any other.
const LONGEST: Duration = Duration::from_secs(1);
/// What a fast disk takes in a second.
const RATE: u64 = 1 << 30;

/// A limit on a file, and what it has cost.
pub struct Quota {
    limit: u64,
    /// The size at the last look; None: there was none.
    seen: Option<u64>,
    cut: u64,
    /// What could not be written.
    lost: u64,
}

impl Quota {
    /// In bytes.
    pub fn new(limit: u64) -> Quota {
        Quota { limit, seen: None, cut: 0, lost: 0 }
    }

    /// Cuts off what is over the limit; returns when to look again.
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

    /// So many bytes could not be written, since the disk is full for instance.
    pub fn lose(&mut self, bytes: u64) {
        self.lost += bytes;
    }

    /// Bytes that were cut off or could not be written, at least.
    pub fn cut(&self) -> u64 {
        self.cut + self.lost
    }

    /// So many more bytes, which are not the command's, may stay.
    pub fn allow(&mut self, bytes: u64) {
        self.limit = self.limit.saturating_add(bytes);
    }

    /// What to tell of it; None: all that was written is there.
    pub fn line(&self) -> Option<String> {
        let Quota { limit, cut, lost, .. } = self;
        if *lost > 0 {
            let missing = self.cut();
            return Some(format!("[output not written, at least {missing} bytes are left out]"));
        }
        // What comes between the look and the cut is not counted.
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
    fn the_nearer_the_limit_the_sooner_is_the_next_look() {
        assert_eq!(time_to_fill(0), SHORTEST);
        assert_eq!(time_to_fill(RATE / 2).as_millis(), 500);
        assert_eq!(time_to_fill(u64::MAX), LONGEST);
    }
}
