//! A command that is to come after its host, where the kernel shares out processors by session: an
//! ordinary user may change ten sessions a second, all of his machine's together.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant};

use crate::proc;

/// When it may be somebody else's turn no longer. Several that wait spread out over as long again.
const AGAIN: Duration = Duration::from_millis(110);

/// A session whose turn has not come.
pub struct NiceRetry {
    nice: i32,
    due: Instant,
}

impl NiceRetry {
    /// Of a launch that ended with this `share`; None: there is nothing to be tried again.
    pub fn after(share: i32, nice: Option<i32>) -> Option<NiceRetry> {
        if share != libc::EAGAIN {
            return None;
        }
        Some(NiceRetry { nice: nice?, due: Instant::now() + AGAIN })
    }

    /// When it is to be tried.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// Tries again for the leader of the session. Returns the errno, 0 if it is done, and itself if it is
    /// to be tried once more.
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
