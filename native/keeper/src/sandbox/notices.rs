//! Questions of the kernel about system calls that the filter does not decide on, and the answers.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::signals;

/// A call that waits for an answer.
pub struct Notice {
    pub id: u64,
    /// The calling thread's id in the PID namespace of the receiver.
    pub pid: u32,
    pub number: i32,
    pub architecture: u32,
    pub arguments: [u64; 6],
}

/// Runs the receiver at once on the processor of the caller, which waits anyway.
const SYNC_WAKE_UP: u64 = 1;
/// Passing a descriptor answers the call as well.
const AND_SEND: u32 = libc::SECCOMP_ADDFD_FLAG_SEND as u32;

/// The descriptor on which the kernel asks.
pub struct Listener(OwnedFd);

impl Listener {
    pub fn new(descriptor: OwnedFd) -> Listener {
        // Needs Linux 6.6; without it an answer takes some 40 microseconds.
        // SAFETY: takes a number in place of a structure.
        unsafe {
            libc::ioctl(descriptor.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP)
        };
        Listener(descriptor)
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Waits for the next question. An error may mean that the caller is gone again.
    pub fn receive(&self) -> io::Result<Notice> {
        // SAFETY: valid as zeros, which the kernel requires.
        let mut notice: libc::seccomp_notif = unsafe { MaybeUninit::zeroed().assume_init() };
        self.control(libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notice)?;
        let libc::seccomp_notif { id, pid, data, .. } = notice;
        let libc::seccomp_data { nr: number, arch: architecture, args: arguments, .. } = data;
        Ok(Notice { id, pid, number, architecture, arguments })
    }

    /// Returns whether no process is left that could ask.
    pub fn is_over(&self) -> bool {
        let [ready] = signals::wait([Some((self.0.as_fd(), 0))], Some(Duration::ZERO));
        ready & libc::POLLHUP != 0
    }

    /// Waits until no process is left that could ask.
    pub fn wait_for_end(&self) {
        while !self.is_over() {
            signals::wait([Some((self.0.as_fd(), 0))], None);
        }
    }

    /// Ends the call with success or an errno. A caller that is gone needs no answer.
    pub fn answer(&self, notice: &Notice, result: Result<(), i32>) {
        let error = result.err().map_or(0, |errno| -errno);
        self.reply(notice, error, 0);
    }

    /// Lets the call continue, with the arguments that are in the caller's memory by then.
    pub fn go_on(&self, notice: &Notice) {
        self.reply(notice, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32);
    }

    /// Has the caller run the handler of a signal, and make the call again.
    pub fn restart(&self, notice: &Notice) {
        const ERESTARTNOINTR: i32 = 513;
        self.reply(notice, -ERESTARTNOINTR, 0);
    }

    fn reply(&self, notice: &Notice, error: i32, flags: u32) {
        let mut reply = libc::seccomp_notif_resp { id: notice.id, val: 0, error, flags };
        let _ = self.control(libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut reply);
    }

    /// Ends the call with a copy of this descriptor in the caller.
    pub fn give(&self, notice: &Notice, given: BorrowedFd, is_closed_by_exec: bool) {
        let mut gift = libc::seccomp_notif_addfd {
            id: notice.id,
            flags: AND_SEND,
            srcfd: given.as_raw_fd() as u32,
            newfd: 0,
            newfd_flags: if is_closed_by_exec { libc::O_CLOEXEC as u32 } else { 0 },
        };
        if self.control(libc::SECCOMP_IOCTL_NOTIF_ADDFD, &raw mut gift).is_err() {
            self.answer(notice, Err(libc::EMFILE));
        }
    }

    /// Returns whether the caller still waits, so that its thread id has not been reused.
    pub fn stands(&self, notice: &Notice) -> bool {
        let mut id = notice.id;
        self.control(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw mut id).is_ok()
    }

    fn control<T>(&self, request: libc::Ioctl, structure: *mut T) -> io::Result<()> {
        // SAFETY: each request is made with its structure, whose size is in the number.
        let result = unsafe { libc::ioctl(self.0.as_raw_fd(), request, structure) };
        if result >= 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}
