//! Programs that were denied a moment ago. Whoever searches `PATH` for a program goes on after a denial, and finds the
//! same file by another path: `/usr/bin/rm`, and then `/bin/rm`. That is one program, told and asked about once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::sandbox::warden::exec::program::Program;
use crate::sandbox::warden::exec::program::file::FileStamp;

/// How long a search goes on.
const RECENT: Duration = Duration::from_secs(1);
const MOST: usize = 256;

struct RecentDenial {
    at: Instant,
    stamp: FileStamp,
    argv: Vec<Vec<u8>>,
}

/// The last denial of each thread.
#[derive(Default)]
pub struct RecentDenials(Mutex<HashMap<u32, RecentDenial>>);

impl RecentDenials {
    /// Notes that a thread was denied a program.
    pub fn note(&self, thread: u32, program: &Program) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.retain(|_, denial| denial.at.elapsed() < RECENT);
        }
        if all.len() >= MOST {
            return;
        }
        let (stamp, argv) = (program.file.stamp, program.argv.clone());
        all.insert(thread, RecentDenial { at: Instant::now(), stamp, argv });
    }

    /// Returns whether a thread was just denied the same. A path may come again: `PATH` can name a directory twice.
    pub fn has(&self, thread: u32, program: &Program) -> bool {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Program { file, argv, .. } = program;
        all.get(&thread).is_some_and(|denial| {
            denial.at.elapsed() < RECENT && denial.stamp == file.stamp && denial.argv == *argv
        })
    }
}
