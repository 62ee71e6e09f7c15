//! Calls that were denied a moment ago and are made again: who searches in `PATH` tries the next directory, in which
//! the same program is found by another path.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::sandbox::warden::exec::program::Program;

/// How long a denial holds for the same call.
const FRESH: Duration = Duration::from_secs(2);
const MOST: usize = 256;

/// What was denied lately.
#[derive(Default)]
pub struct LateDenials(Mutex<VecDeque<LateDenial>>);

struct LateDenial {
    at: Instant,
    thread: i32,
    file: (u64, u64),
    argv: Vec<Vec<u8>>,
}

impl LateDenials {
    /// Notes that a thread was denied a program.
    pub fn note(&self, thread: i32, program: &Program) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.pop_front();
        }
        let (file, argv) = (identity(program), program.argv.clone());
        all.push_back(LateDenial { at: Instant::now(), thread, file, argv });
    }

    /// Returns whether the same thread was just denied the same program with the same arguments.
    pub fn has(&self, thread: i32, program: &Program) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while all.front().is_some_and(|denial| denial.at.elapsed() > FRESH) {
            all.pop_front();
        }
        let file = identity(program);
        all.iter().any(|denial| {
            denial.thread == thread && denial.file == file && denial.argv == program.argv
        })
    }
}

fn identity(program: &Program) -> (u64, u64) {
    (program.file.stamp.device, program.file.stamp.inode)
}
