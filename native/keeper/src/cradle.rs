//! A cradle: the parent, and the child subreaper, of one running command after another.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use forkline_launch::{Attributes, Limit, Stack, Step, bounding_set};
use forkline_protocol::{Answer, Descriptors, Order, Received, Refusal, Request, TICKET};
use forkline_protocol::{receive, send, take};

use crate::command;
use crate::pool::Pool;
use crate::signals;

/// What a cradle has from its keeper.
pub struct Cradle<'keeper> {
    pub pool: &'keeper Pool,
    pub place: usize,
    /// The requests' socket.
    pub requests: BorrowedFd<'keeper>,
    /// Rung when too few cradles wait.
    pub bell: BorrowedFd<'keeper>,
    pub null: BorrowedFd<'keeper>,
    pub stack: &'keeper mut Stack,
    pub own: Attributes,
}

/// So many are to wait: the next command must not wait for a fork.
pub const ENOUGH: i32 = 2;
/// One more than these is not worth its memory.
const TOO_MANY: i32 = 32;
/// The longest message; what is longer comes in a file.
const LONGEST: usize = 256 * 1024;
/// Who has waited this long beside enough others is not needed.
const IDLE: Duration = Duration::from_secs(5);

impl Cradle<'_> {
    /// Runs commands for as long as it is of use.
    pub fn serve(mut self) {
        let mut buffer = vec![0; LONGEST];
        while let Some(received) = self.wait(&mut buffer) {
            if self.pool.work_at(self.place) < ENOUGH {
                ring(self.bell);
            }
            let message = buffer.get(..received.length).unwrap_or_default();
            let as_before = self.answer(message, received);
            if !as_before || signals::host_is_gone() || self.pool.idle() >= TOO_MANY {
                return;
            }
            self.pool.wait_at(self.place);
        }
    }

    /// A request; None: this one is of no use any more.
    fn wait(&self, buffer: &mut [u8]) -> Option<Received> {
        // Those who began to wait before there were enough stay, and sleep until they are needed.
        let mut is_one_too_many = self.pool.idle() > ENOUGH;
        if is_one_too_many {
            signals::remind(Some(IDLE));
        }
        let received = loop {
            match receive(self.requests, buffer) {
                Ok(received) if received.length > 0 => break Some(received),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {
                    if signals::host_is_gone() || is_one_too_many && self.goes_unmissed() {
                        return None;
                    }
                    if is_one_too_many && signals::is_reminded() {
                        is_one_too_many = false;
                        signals::remind(None);
                    }
                }
                // The host is gone, or has another keeper.
                _ => return None,
            }
        };
        if is_one_too_many {
            signals::remind(None);
        }
        received
    }

    /// Whether it has waited in vain, and leaves enough.
    fn goes_unmissed(&self) -> bool {
        if !signals::is_reminded() {
            return false;
        }
        if self.pool.work_at(self.place) >= ENOUGH {
            return true;
        }
        self.pool.wait_at(self.place);
        false
    }

    /// Whether the next one may be run here.
    fn answer(&mut self, message: &[u8], received: Received) -> bool {
        let Some((descriptors, mut request)) = accept(message, received) else { return true };
        match take_ticket(descriptors.channel.as_fd()) {
            Ticket::Valid => {}
            Ticket::Unwanted => {
                tell(descriptors.channel.as_fd(), &Answer::Unwanted);
                return true;
            }
            Ticket::None => return true,
        }
        self.keep_to_processes(&request.attributes.limits);
        only_what_differs(&mut request.attributes, &self.own);
        command::run(request, descriptors, self.null, self.stack)
    }

    /// This one counts for whoever clones, not for what is cloned.
    fn keep_to_processes(&mut self, limits: &[Limit]) {
        let of_processes = |limit: &&Limit| limit.resource == libc::RLIMIT_NPROC as i32;
        let Some(wanted) = limits.iter().find(of_processes) else { return };
        let Some(own) = self.own.limits.iter_mut().find(|own| of_processes(&&**own)) else {
            return;
        };
        let soft = wanted.soft.min(own.hard);
        if soft == own.soft {
            return;
        }
        let limit = libc::rlimit { rlim_cur: soft, rlim_max: own.hard };
        // SAFETY: only reads the limits.
        if unsafe { libc::setrlimit(libc::RLIMIT_NPROC, &limit) } == 0 {
            own.soft = soft;
        }
    }
}

fn only_what_differs(wanted: &mut Attributes, own: &Attributes) {
    wanted.limits.retain(|limit| !own.limits.contains(limit));
    wanted.mask = wanted.mask.filter(|mask| Some(*mask) != own.mask);
    wanted.nice = wanted.nice.filter(|nice| Some(*nice) != own.nice);
    wanted.bounding = wanted.bounding.filter(|bounding| Some(*bounding) != own.bounding);
    if wanted.affinity == own.affinity {
        wanted.affinity.clear();
    }
}

/// What was asked for, in order. A refusal has been told.
pub fn accept(message: &[u8], received: Received) -> Option<(Descriptors<OwnedFd>, Request)> {
    if received.truncated {
        // This process may have no more descriptors.
        let channel = received.descriptors.into_iter().next()?;
        return refuse(&channel, Step::Descriptors, libc::EMFILE);
    }
    match Descriptors::decode(message, received.descriptors) {
        Ok((descriptors, rest)) => {
            let request = match &descriptors.body {
                Some(body) => read_all(body).as_deref().and_then(Request::decode),
                None => Request::decode(rest),
            };
            match request {
                Some(request) => Some((descriptors, request)),
                None => refuse(&descriptors.channel, Step::Keeper, libc::EBADMSG),
            }
        }
        Err((Refusal::Version(_), channel)) => refuse(&channel?, Step::Keeper, libc::EPROTO),
        Err((Refusal::Broken, channel)) => refuse(&channel?, Step::Keeper, libc::EBADMSG),
    }
}

fn refuse<T>(channel: &OwnedFd, step: Step, errno: i32) -> Option<T> {
    // The host must not take it for a request that nobody has seen.
    let _ = take_ticket(channel.as_fd());
    tell(channel.as_fd(), &Answer::Failed { step, errno });
    None
}

fn read_all(file: &OwnedFd) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = std::fs::File::from(file.try_clone().ok()?);
    std::io::Read::read_to_end(&mut file, &mut bytes).ok()?;
    Some(bytes)
}

/// What became of a request before it was taken.
pub enum Ticket {
    Valid,
    /// Its end has been ordered already.
    Unwanted,
    /// The host is gone, or has taken it back.
    None,
}

/// Takes the ticket, after which the request is ours.
pub fn take_ticket(channel: BorrowedFd) -> Ticket {
    let mut buffer = [0; 64];
    match take(channel, &mut buffer) {
        Ok(length) if buffer.get(..length) == Some(TICKET) => {}
        _ => return Ticket::None,
    }
    match take(channel, &mut buffer) {
        Ok(0) => Ticket::None,
        Ok(length) => match buffer.get(..length).and_then(Order::decode) {
            Some(Order::End(_)) => Ticket::Unwanted,
            _ => Ticket::Valid,
        },
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ticket::Valid,
        Err(_) => Ticket::None,
    }
}

/// A host that is gone need not be told anything.
pub fn tell(channel: BorrowedFd, answer: &Answer) {
    let _ = send(channel, [&answer.encode(), b""], &[]);
}

fn ring(bell: BorrowedFd) {
    use std::os::fd::AsRawFd;
    let one = 1u64.to_ne_bytes();
    // SAFETY: reads the eight bytes.
    unsafe { libc::write(bell.as_raw_fd(), one.as_ptr().cast(), one.len()) };
}

/// Resources with a limit; the kernel numbers them from 0.
const LIMITS: i32 = 16;

/// What this process has, which is what its children get unless they are told otherwise.
pub fn own_attributes() -> Attributes {
    let mut limits = Vec::new();
    for resource in 0..LIMITS {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: fills the structure.
        if unsafe { libc::getrlimit(resource as _, &mut limit) } == 0 {
            limits.push(Limit { resource, soft: limit.rlim_cur, hard: limit.rlim_max });
        }
    }
    // SAFETY: takes numbers; there is one thread, so nobody makes a file in between.
    let mask = unsafe {
        let mask = libc::umask(0o077);
        libc::umask(mask);
        mask
    };
    let mut affinity = vec![0; 128];
    // SAFETY: fills as much of the buffer as it says.
    let length = unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, 0, affinity.len(), affinity.as_mut_ptr())
    };
    affinity.truncate(usize::try_from(length).unwrap_or(0));
    // SAFETY: takes numbers; a priority of -1 can't be told from an error, of which there is none.
    let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    let bounding = Some(bounding_set());
    Attributes { limits, mask: Some(mask), nice: Some(nice), affinity, bounding }
}
