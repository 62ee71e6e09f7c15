//! The nice value of a command's session, for kernels that distribute processors by session (autogroup).
//! An ordinary user may change ten sessions a second, counted over all processes of the machine.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant};

use crate::proc;

/// The time to the next attempt. Processes that wait at the same time spread over twice this time.
const AGAIN: Duration = Duration::from_millis(110);

/// A session whose nice value is still to be set.
pub struct NiceRetry {
    nice: i32,
    due: Instant,
}

impl NiceRetry {
    /// Makes a retry for a launch that ended with this `share`. None: no retry is needed.
    pub fn after(share: i32, nice: Option<i32>) -> Option<NiceRetry> {
        if share != libc::EAGAIN {
            return None;
        }
        Some(NiceRetry { nice: nice?, due: Instant::now() + AGAIN })
    }

    /// Returns when to try again.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// Tries again for the session of this leader. Returns the errno, 0 if it succeeded, and the next
    /// retry if one is needed.
    pub fn again(self, leader: i32, now: Instant) -> (i32, Option<NiceRetry>) {
        if !proc::shows_own_pids() {
            return (libc::EAGAIN, None);
        }
        let file = OpenOptions::new().write(true).open(format!("/proc/{leader}/autogroup"));
        let nice = self.nice.to_string();
        let result = file.and_then(|mut file| file.write_all(nice.as_bytes()));
        let errno = result.err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
        let later = AGAIN + Duration::from_millis(leader as u64 % AGAIN.as_millis() as u64);
        let next = NiceRetry { due: now + later, ..self };
        (errno, (errno == libc::EAGAIN).then_some(next))
    }
}
