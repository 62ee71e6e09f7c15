//! What the kernel asks about system calls that the filter leaves to somebody's judgement, and the answers.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::signals;

/// A call that waits for its answer, as the kernel has it.
#[repr(C)]
pub struct Notice {
    pub id: u64,
    /// The thread that calls, by its number where the notice was received.
    pub pid: u32,
    flags: u32,
    pub number: i32,
    pub architecture: u32,
    instruction: u64,
    pub arguments: [u64; 6],
}

#[repr(C)]
struct Reply {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

#[repr(C)]
struct Gift {
    id: u64,
    flags: u32,
    given: u32,
    wanted: u32,
    descriptor_flags: u32,
}

const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
const STANDS: libc::c_ulong = 0x4008_2102;
const GIVE: libc::c_ulong = 0x4018_2103;
const SET_FLAGS: libc::c_ulong = 0x4008_2104;
/// Who is asked runs at once, on the processor of who asks, which waits for him anyhow.
const SYNC_WAKE_UP: u64 = 1;
/// Giving is the answer, too.
const AND_SEND: u32 = 1 << 1;

/// Where the kernel asks.
pub struct Listener(OwnedFd);

impl Listener {
    pub fn new(descriptor: OwnedFd) -> Listener {
        // Not before Linux 6.6: an answer takes some 40 microseconds then.
        // SAFETY: takes a number in place of a structure.
        unsafe { libc::ioctl(descriptor.as_raw_fd(), SET_FLAGS as _, SYNC_WAKE_UP) };
        Listener(descriptor)
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Waits for the next one. An error may be that of a caller who is gone again.
    pub fn receive(&self) -> io::Result<Notice> {
        // SAFETY: valid as zeros, as the kernel wants it.
        let mut notice: Notice = unsafe { MaybeUninit::zeroed().assume_init() };
        self.control(RECEIVE, &raw mut notice)?;
        Ok(notice)
    }

    /// Whether there is nobody left who could ask.
    pub fn is_over(&self) -> bool {
        let [ready] = signals::wait([Some((self.0.as_fd(), 0))], Some(Duration::ZERO));
        ready & libc::POLLHUP != 0
    }

    /// What the call comes to: nothing, or an errno. Who is gone needs no answer.
    pub fn answer(&self, notice: &Notice, result: Result<(), i32>) {
        let error = result.err().map_or(0, |errno| -errno);
        let mut reply = Reply { id: notice.id, value: 0, error, flags: 0 };
        let _ = self.control(SEND, &raw mut reply);
    }

    /// The call goes on, as the caller has it in his memory by then.
    pub fn go_on(&self, notice: &Notice) {
        const CONTINUE: u32 = 1;
        let mut reply = Reply { id: notice.id, value: 0, error: 0, flags: CONTINUE };
        let _ = self.control(SEND, &raw mut reply);
    }

    /// The call comes to a descriptor of the caller's own: a copy of this one.
    pub fn give(&self, notice: &Notice, given: BorrowedFd, is_closed_by_exec: bool) {
        let descriptor_flags = if is_closed_by_exec { libc::O_CLOEXEC as u32 } else { 0 };
        let given = given.as_raw_fd() as u32;
        let mut gift = Gift { id: notice.id, flags: AND_SEND, given, wanted: 0, descriptor_flags };
        if self.control(GIVE, &raw mut gift).is_err() {
            self.answer(notice, Err(libc::EMFILE));
        }
    }

    /// Whether the caller waits still, so that its number is still its own.
    pub fn stands(&self, notice: &Notice) -> bool {
        let mut id = notice.id;
        self.control(STANDS, &raw mut id).is_ok()
    }

    fn control<T>(&self, request: libc::c_ulong, structure: *mut T) -> io::Result<()> {
        // SAFETY: each request is made with its structure, whose size is in the number.
        let result = unsafe { libc::ioctl(self.0.as_raw_fd(), request as _, structure) };
        if result >= 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}
