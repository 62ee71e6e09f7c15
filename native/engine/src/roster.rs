//! The groups that run now, written where the keeper can read them after the host's death.
//!
//! A memory file, since a pipe to a keeper that is stopped would fill up. One slot a group;
//! a free slot is zero.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use parking_lot::Mutex;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::Signal;

use crate::group::Group;

const SLOT: u64 = size_of::<i32>() as u64;

/// Groups whose leaders have not been reaped.
#[derive(Debug)]
pub struct Roster {
    memory: OwnedFd,
    slots: Mutex<Vec<Option<Group>>>,
}

impl Roster {
    /// An empty roster.
    pub fn new() -> std::io::Result<Self> {
        let memory = memfd_create("forkline-roster", MemfdFlags::CLOEXEC)?;
        Ok(Roster { memory, slots: Mutex::new(Vec::new()) })
    }

    /// The memory file.
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.memory.as_fd()
    }

    /// Enters a group.
    pub fn add(&self, group: Group) {
        let mut slots = self.slots.lock();
        let free = slots.iter().position(Option::is_none);
        let index = free.unwrap_or(slots.len());
        match slots.get_mut(index) {
            Some(slot) => *slot = Some(group),
            None => slots.push(Some(group)),
        }
        self.write(index, group.number());
    }

    /// Strikes a group out; before its leader is reaped.
    pub fn remove(&self, group: Group) {
        let mut slots = self.slots.lock();
        if let Some(index) = slots.iter().position(|slot| *slot == Some(group)) {
            if let Some(slot) = slots.get_mut(index) {
                *slot = None;
            }
            self.write(index, 0);
        }
    }

    /// Whether no command runs.
    pub fn is_empty(&self) -> bool {
        self.slots.lock().iter().all(Option::is_none)
    }

    /// Signals every group in it. The lock keeps their numbers from being reused meanwhile.
    pub fn signal_all(&self, signal: Signal) -> usize {
        let slots = self.slots.lock();
        let groups = slots.iter().flatten();
        groups.map(|group| group.signal(signal)).filter(Result::is_ok).count()
    }

    fn write(&self, index: usize, number: i32) {
        let _ = rustix::io::pwrite(&self.memory, &number.to_ne_bytes(), index as u64 * SLOT);
    }
}

/// The groups in a roster's memory file, as its keeper reads it.
pub fn read(mut memory: File) -> Vec<Group> {
    let mut bytes = Vec::new();
    let _ = std::io::Seek::rewind(&mut memory);
    let _ = memory.read_to_end(&mut bytes);
    let numbers = bytes.chunks_exact(SLOT as usize).filter_map(|slot| slot.try_into().ok());
    numbers.map(i32::from_ne_bytes).filter_map(Group::led_by).collect()
}
