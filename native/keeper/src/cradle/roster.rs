//! The cradles of a sandbox, and which command each one runs, for the processes beside the sandbox. Only the
//! keeper gives seats, and only a cradle takes one: an orphan of a killed cradle becomes the keeper's child as
//! well, and may call itself anything.
//!
//! It is memory that those processes share. Commands have other memory from their `exec` on.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use forkline_protocol::memory_file;
use rustix::fs::Timespec;
use rustix::fs::ftruncate;
use rustix::thread::futex;

use crate::outside::HiddenProcess;
use crate::{outside, proc};

/// The most cradles at once. Pages that are not used take no memory.
const MOST: usize = 64 * 1024;
/// The room before the seats.
const HEADER: usize = 64;
const SIZE: usize = HEADER + MOST * size_of::<RosterEntry>();
/// What is in the place of a process id: nothing yet, a cradle that is to come, or one that has ended.
const UNUSED: i32 = 0;
const GIVEN: i32 = -1;
const LEFT: i32 = -2;

/// What lies before the seats.
struct CommandEnds {
    /// How many commands have ended, up to an overflow.
    count: AtomicU32,
    /// Whether somebody waits for the next one: others need not be woken.
    is_awaited: AtomicU32,
}

/// One seat. The keeper gives the first that is free, so all seats after an unused one are unused.
#[derive(Default)]
struct RosterEntry {
    /// The cradle's process id outside.
    cradle: AtomicI32,
    /// The number of the cradle's command, which no other command of this cradle has; zero: none.
    command: AtomicU64,
}

/// A cradle's seat.
#[derive(Clone, Copy)]
pub struct CradleSeat(&'static RosterEntry);

/// The seats of this process's sandbox.
static ROSTER: OnceLock<&'static [RosterEntry]> = OnceLock::new();
static ENDS: OnceLock<&'static CommandEnds> = OnceLock::new();
/// The seat of this cradle.
static OWN: OnceLock<CradleSeat> = OnceLock::new();

/// Makes the roster, before the keeper and the processes beside the sandbox part. Returns its file, by which another
/// image of this process maps it again.
pub fn open() -> io::Result<OwnedFd> {
    let file = memory_file(c"roster", b"")?;
    ftruncate(&file, SIZE as u64)?;
    map(&file)?;
    Ok(file)
}

/// Maps the roster.
pub fn map(file: &OwnedFd) -> io::Result<()> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let (none, kind) = (std::ptr::null_mut(), libc::MAP_SHARED | libc::MAP_NORESERVE);
    // SAFETY: a new mapping, at a place that the kernel chooses.
    let memory = unsafe { libc::mmap(none, SIZE, access, kind, file.as_raw_fd(), 0) };
    if memory == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping is larger, aligned to a page, never unmapped, and zeros are valid.
    let (ends, seats) = unsafe {
        let seats = memory.byte_add(HEADER).cast::<RosterEntry>();
        (&*memory.cast::<CommandEnds>(), std::slice::from_raw_parts(seats, MOST))
    };
    let _ = (ROSTER.set(seats), ENDS.set(ends));
    Ok(())
}

fn seats() -> &'static [RosterEntry] {
    ROSTER.get().copied().unwrap_or_default()
}

/// Called in the keeper: gives a seat to the next cradle. None: there is no roster, or it is full.
pub fn give_seat() -> Option<CradleSeat> {
    let is_free =
        |seat: &&RosterEntry| matches!(seat.cradle.load(Ordering::Acquire), UNUSED | LEFT);
    let seat = seats().iter().find(is_free)?;
    seat.cradle.store(GIVEN, Ordering::Release);
    Some(CradleSeat(seat))
}

/// Returns whether no seat was given yet, so that there has been no command.
pub fn is_unused() -> bool {
    seats().first().is_some_and(|seat| seat.cradle.load(Ordering::Acquire) == UNUSED)
}

impl CradleSeat {
    /// Called in the cradle, before it runs a command.
    pub fn take(self) {
        self.0.cradle.store(outside::own_pid(), Ordering::Release);
        let _ = OWN.set(self);
    }

    /// Called in the keeper once the cradle has ended, before it is reaped: then its number may be another
    /// process's.
    pub fn leave(self) {
        self.0.command.store(0, Ordering::Release);
        self.0.cradle.store(LEFT, Ordering::Release);
        count_end();
    }
}

/// Called in a cradle before it runs a command.
pub fn number_command() {
    if let Some(CradleSeat(seat)) = OWN.get() {
        seat.command.store(proc::monotonic().max(1), Ordering::Release);
    }
}

/// Called in a cradle before it tells the end of its command. What the command leaves running gets no
/// signatures: the result, which would have them, is made.
pub fn forget_command() {
    if let Some(CradleSeat(seat)) = OWN.get() {
        seat.command.store(0, Ordering::Release);
        count_end();
    }
}

fn count_end() {
    if let Some(ends) = ENDS.get() {
        ends.count.fetch_add(1, Ordering::SeqCst);
        if ends.is_awaited.load(Ordering::SeqCst) != 0 {
            // Not of this process alone.
            let _ = futex::wake(&ends.count, futex::Flags::empty(), i32::MAX as u32);
        }
    }
}

/// Returns how many commands have ended, up to an overflow.
pub fn ends() -> u32 {
    ENDS.get().map_or(0, |ends| ends.count.load(Ordering::SeqCst))
}

/// Waits until more commands have ended than `seen`, at most for this time, which is shorter than a second. For one
/// process beside the sandbox.
pub fn wait_for_end(seen: u32, most: Duration) {
    let most = Timespec { tv_sec: 0, tv_nsec: most.subsec_nanos().into() };
    if let Some(ends) = ENDS.get() {
        ends.is_awaited.store(1, Ordering::SeqCst);
        let _ = futex::wait(&ends.count, futex::Flags::empty(), seen, Some(&most));
        ends.is_awaited.store(0, Ordering::SeqCst);
    }
}

/// Returns the cradle of a process's command. None: it is of no command, or of one whose cradle was killed.
/// `keeper`: the parent of all cradles. All ids are the host's.
pub fn cradle_above(pid: i32, keeper: i32) -> Option<i32> {
    seen_cradle_above(pid, keeper).ok().flatten()
}

/// The same.
///
/// # Errors
/// It can't be seen whose a process is.
pub fn seen_cradle_above(pid: i32, keeper: i32) -> Result<Option<i32>, HiddenProcess> {
    // Not by what is above a cradle, which may be hidden itself (hidepid).
    outside::first_above(pid, keeper, is_cradle)
}

/// Returns whether a process is a cradle. The id is the host's.
pub fn is_cradle(pid: i32) -> bool {
    seat_of(seats(), pid).is_some()
}

/// Returns the number of the command that a cradle runs.
pub fn command_of(cradle: i32) -> Option<u64> {
    let seat = seat_of(seats(), cradle)?;
    Some(seat.command.load(Ordering::Acquire)).filter(|command| *command != 0)
}

fn seat_of(seats: &[RosterEntry], cradle: i32) -> Option<&RosterEntry> {
    let all = seats.iter().map(|seat| (seat, seat.cradle.load(Ordering::Acquire)));
    let mut used = all.take_while(|(_, taker)| *taker != UNUSED);
    used.find(|(_, taker)| *taker == cradle && cradle > 0).map(|(seat, _)| seat)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cradle_is_found_from_its_arrival_to_its_end() {
        drop(open().unwrap());
        assert!(is_unused());
        let [first, second] = [give_seat().unwrap(), give_seat().unwrap()];
        let own = std::process::id() as i32;
        assert!(!is_unused());
        let parent = proc::stat(own).unwrap().parent;
        outside::open_proc();
        // Neither a number that was not given a seat, nor what stands there before and after.
        for none in [UNUSED, GIVEN, LEFT, own, 1] {
            assert_eq!(command_of(none), None);
        }
        assert_eq!(cradle_above(own, parent), None);
        second.take();
        assert_eq!((cradle_above(own, parent), command_of(own)), (Some(own), None));
        number_command();
        let one = command_of(own);
        number_command();
        assert!(one.is_some() && command_of(own) > one);
        forget_command();
        assert_eq!((cradle_above(own, parent), command_of(own)), (Some(own), None));
        number_command();
        first.leave();
        assert!(command_of(own).is_some());
        second.leave();
        assert_eq!((cradle_above(own, parent), command_of(own)), (None, None));
        assert!(std::ptr::eq(give_seat().unwrap().0, first.0));
    }
}
