//! What keeper and cradles know of each other, in memory that they share.

use std::io;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};

/// As many cradles can be told apart.
const PLACES: usize = 60 * 1024;

#[repr(C)]
struct Board {
    /// How many wait for a request. What a cradle says is written before it is counted, and the other
    /// way round when it stops: one that is killed in between makes this too small, never too large.
    idle: AtomicI32,
    places: [AtomicU8; PLACES],
}

const FREE: u8 = 0;
const IDLE: u8 = 1;
const BUSY: u8 = 2;

/// The cradles of one keeper.
pub struct Pool(NonNull<Board>);

impl Pool {
    pub fn new() -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: a fresh mapping of zeros, which are valid for atomics; it is never unmapped.
        let memory = unsafe { libc::mmap(null_mut(), size_of::<Board>(), access, kind, -1, 0) };
        match NonNull::new(memory.cast()) {
            Some(board) if memory != libc::MAP_FAILED => Ok(Pool(board)),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn board(&self) -> &Board {
        // SAFETY: mapped for ever, and made of atomics alone.
        unsafe { self.0.as_ref() }
    }

    fn place(&self, number: usize) -> Option<&AtomicU8> {
        self.board().places.get(number)
    }

    /// How many wait.
    pub fn idle(&self) -> i32 {
        self.board().idle.load(Ordering::Acquire)
    }

    /// Takes a place for a cradle that will wait; None: there is none.
    pub fn join(&self) -> Option<usize> {
        let free = |place: &AtomicU8| place.load(Ordering::Acquire) == FREE;
        let number = self.board().places.iter().position(free)?;
        self.wait_at(number);
        Some(number)
    }

    /// The cradle waits.
    pub fn wait_at(&self, number: usize) {
        if let Some(place) = self.place(number) {
            place.store(IDLE, Ordering::Release);
        }
        self.board().idle.fetch_add(1, Ordering::AcqRel);
    }

    /// The cradle has something to do; returns how many still wait.
    pub fn work_at(&self, number: usize) -> i32 {
        let left = self.board().idle.fetch_sub(1, Ordering::AcqRel) - 1;
        if let Some(place) = self.place(number) {
            place.store(BUSY, Ordering::Release);
        }
        left
    }

    /// The cradle is gone; whether it had something to do.
    pub fn leave(&self, number: usize) -> bool {
        let was = self.place(number).map_or(FREE, |place| place.swap(FREE, Ordering::AcqRel));
        if was == IDLE {
            self.board().idle.fetch_sub(1, Ordering::AcqRel);
        }
        was == BUSY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_counted() {
        let pool = Pool::new().unwrap();
        let (first, second) = (pool.join().unwrap(), pool.join().unwrap());
        assert_eq!((pool.idle(), first == second), (2, false));
        assert_eq!(pool.work_at(first), 1);
        assert!(!pool.leave(second));
        assert_eq!(pool.idle(), 0);
        assert!(pool.leave(first));
        assert_eq!((pool.idle(), pool.join()), (0, Some(0)));
    }
}
