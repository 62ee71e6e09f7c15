//! A process beside the sandbox that connects the sockets of those in it, so that it is sure whom they
//! reach: an address that is only looked at could be another one by the time the kernel reads it.
//!
//! It is in the namespaces of the sandbox but for that of processes, and under none of its rules. A
//! socket may wait for long to be connected, so each caller has a thread to himself.

mod caller;
mod connecting;
mod gate;
mod lines;
mod owners;
mod person;

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use forkline_protocol::{News, send};

use crate::outside;
use crate::sandbox::calls::Asked;
use crate::sandbox::denied;
use crate::sandbox::namespaces::Given;
use crate::sandbox::notices::{Listener, Notice};
use crate::sandbox::plan::Plan;
use crate::sandbox::privileges;
use connecting::ConnectPolicy;
use gate::Gate;
use lines::Lines;

/// Threads that wait for the next one who asks; more end.
const MOST_IDLE: usize = 4;
/// Callers who wait at once.
const MOST: usize = 512;

/// What is the same for all who ask.
struct Warden {
    listener: Listener,
    /// By its number outside.
    keeper: i32,
    reach: ConnectPolicy,
    gate: Gate,
    lifeline: OwnedFd,
    /// To whom else something is told.
    lines: Lines,
    idle: AtomicUsize,
    all: AtomicUsize,
}

/// Whom it is for.
pub struct Charge<'a> {
    pub plan: &'a Plan,
    /// The first in the sandbox.
    pub keeper: i32,
    pub has_user_namespace: bool,
    /// What can be given to programs at most, outside.
    pub rights: u64,
    pub lifeline: BorrowedFd<'a>,
}

impl Charge<'_> {
    /// The calling process is in these namespaces of the sandbox, and in that of its users.
    pub fn enter(&self, namespaces: i32) -> io::Result<()> {
        let users = if self.has_user_namespace { libc::CLONE_NEWUSER } else { 0 };
        // SAFETY: takes numbers only.
        let keeper = unsafe { libc::syscall(libc::SYS_pidfd_open, self.keeper, 0) } as i32;
        if keeper < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened, and nobody else's.
        let keeper = unsafe { OwnedFd::from_raw_fd(keeper) };
        // SAFETY: takes numbers only.
        match unsafe { libc::setns(keeper.as_raw_fd(), namespaces | users) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Starts it as a child of this process, and ends with it.
///
/// `given`: what the sandbox has handed out.
pub fn start(charge: &Charge, given: Given) -> io::Result<i32> {
    let lifeline = charge.lifeline.try_clone_to_owned()?;
    // SAFETY: there is one thread, so the child has everything that its parent had.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // Who asks is told that there is nobody by the end of the listener.
            if join(charge).is_ok() {
                Arc::new(Warden::new(charge, lifeline, given)).watch();
            }
            exit(1)
        }
        pid => Ok(pid),
    }
}

/// Ends it, which is our child.
pub fn end(pid: i32) {
    // SAFETY: takes numbers; it has not been waited for, so the number is its own.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
        libc::waitpid(pid, std::ptr::null_mut(), 0);
    }
}

/// Enters the namespaces, keeps what rights are needed there, and stands in the host's `/proc`, from
/// where processes and our own descriptors are to be reached.
fn join(charge: &Charge) -> io::Result<()> {
    let done = |result: i64| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) };
    let network = if charge.plan.network { 0 } else { libc::CLONE_NEWNET };
    let proc = outside::proc().ok_or(io::ErrorKind::NotFound)?;
    charge.enter(libc::CLONE_NEWNS | network)?;
    // SAFETY: takes numbers only.
    unsafe { done(libc::fchdir(proc.as_raw_fd()).into())? };
    privileges::drop_to_warden(charge.rights)?;
    privileges::close_to_others()?;
    // SAFETY: takes numbers only. Rights that change would have undone it.
    unsafe { done(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL).into())? };
    Ok(())
}

impl Warden {
    fn new(charge: &Charge, lifeline: OwnedFd, given: Given) -> Warden {
        Warden {
            listener: Listener::new(given.listener),
            gate: Gate::new(given.git),
            keeper: charge.keeper,
            reach: ConnectPolicy::of(&charge.plan.resolved()),
            lifeline,
            lines: Lines::new(given.lines),
            idle: AtomicUsize::new(0),
            all: AtomicUsize::new(0),
        }
    }

    /// Has others hear who asks, as many as it takes.
    fn watch(self: Arc<Self>) {
        if self.start_another() {
            self.lines.watch();
            loop {
                thread::park();
            }
        }
    }

    /// Hears who asks, until nobody needs this thread.
    fn serve(self: Arc<Self>) {
        loop {
            let Ok(notice) = self.listener.receive() else {
                if self.listener.is_over() {
                    exit(0);
                }
                continue;
            };
            if self.idle.fetch_sub(1, Ordering::AcqRel) == 1 {
                self.start_another();
            }
            self.hear(&notice);
            if self.idle.fetch_add(1, Ordering::AcqRel) >= MOST_IDLE {
                self.idle.fetch_sub(1, Ordering::AcqRel);
                self.all.fetch_sub(1, Ordering::AcqRel);
                return;
            }
        }
    }

    /// Whether there is one more; else who asks waits until somebody has time.
    fn start_another(self: &Arc<Self>) -> bool {
        let another = Arc::clone(self);
        if self.all.fetch_add(1, Ordering::AcqRel) < MOST {
            self.idle.fetch_add(1, Ordering::AcqRel);
            let stack = thread::Builder::new().stack_size(128 * 1024);
            if stack.spawn(move || another.serve()).is_ok() {
                return true;
            }
            self.idle.fetch_sub(1, Ordering::AcqRel);
        }
        self.all.fetch_sub(1, Ordering::AcqRel);
        false
    }

    fn hear(&self, notice: &Notice) {
        let [first, second, ..] = notice.arguments;
        match Asked::of(notice.architecture, notice.number) {
            Asked::Connect => {
                let tell_denied = |pid, what| self.tell_denied(pid, what);
                let result = self.reach.connect(&self.listener, notice, &tell_denied);
                self.listener.answer(notice, result);
            }
            Asked::Name(naming) => self.gate.answer(&self.listener, notice, naming),
            Asked::Socket if first as i32 == libc::AF_UNIX => {
                self.give_muted(notice, second as i32)
            }
            Asked::Socket => {
                self.tell_denied(notice.pid as i32, denied::family(first as u32));
                self.listener.answer(notice, Err(libc::EAFNOSUPPORT));
            }
        }
    }

    /// A socket for datagrams could send them to any path, and by calls that name it in memory. So it
    /// sends nothing; that it is there is enough for those who ask about networks by one.
    fn give_muted(&self, notice: &Notice, kind: i32) {
        match connecting::muted(kind, notice.arguments[2] as i32) {
            Ok(socket) => {
                self.listener.give(notice, socket.as_fd(), kind & libc::SOCK_CLOEXEC != 0)
            }
            Err(errno) => self.listener.answer(notice, Err(errno)),
        }
    }

    /// Tells the host, or whoever it may leave the command of this process to, what that was denied.
    fn tell_denied(&self, pid: i32, what: String) {
        let Some(cradle) = outside::child_above(pid, self.keeper) else { return };
        if !self.lines.tell(cradle, &what) {
            let news = News::Denied(cradle, what);
            let _ = send(self.lifeline.as_fd(), [&news.encode(), b""], &[]);
        }
    }
}
