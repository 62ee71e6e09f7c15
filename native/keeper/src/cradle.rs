//! A cradle: the parent, and the child subreaper, of one running command after another.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use forkline_launch::{Attributes, Limit, Stack, Step, bounding_set, limits, processors};
use forkline_protocol::{Answer, Descriptors, Order, Received, Request, receive_now, send, take};

use crate::command;
use crate::host::{Ties, Waker};
use crate::signals;

/// What a cradle has from its keeper.
pub struct Cradle<'keeper> {
    /// The way to the host.
    pub channel: OwnedFd,
    /// Readable once the host is gone, whoever may hold the other end of that. None: it may be left behind.
    pub parting: Option<BorrowedFd<'keeper>>,
    pub null: BorrowedFd<'keeper>,
    pub stack: &'keeper mut Stack,
    pub own: Attributes,
}

/// The longest message; what is longer comes in a file.
const LONGEST: usize = 256 * 1024;

impl Cradle<'_> {
    /// Runs commands for as long as the host may want it to.
    pub fn serve(mut self) {
        let waker = Waker::new().ok();
        let mut buffer = vec![0; LONGEST];
        loop {
            let channel = (self.channel.as_fd(), libc::POLLIN);
            let parting = self.parting.map(|parting| (parting, libc::POLLIN));
            let [_, gone] = signals::wait([Some(channel), parting], None);
            if gone != 0 {
                return;
            }
            let received = match receive_now(self.channel.as_fd(), &mut buffer) {
                Ok(received) if received.length > 0 => received,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
                // The host is gone, or has no more use for it.
                _ => return,
            };
            let message = buffer.get(..received.length).unwrap_or_default();
            // What is not was for a command that had just ended.
            if Descriptors::are_in(message) && !self.answer(message, received, waker.as_ref()) {
                return;
            }
        }
    }

    /// Whether the next one may be run here.
    fn answer(&mut self, message: &[u8], received: Received, waker: Option<&Waker>) -> bool {
        let (descriptors, mut request) = match accept(message, received) {
            Ok(accepted) => accepted,
            Err((step, errno)) => {
                tell(self.channel.as_fd(), &Answer::Failed { step, errno });
                return true;
            }
        };
        if is_unwanted(self.channel.as_fd()) {
            tell(self.channel.as_fd(), &Answer::Unwanted);
            return true;
        }
        self.keep_to_processes(&request.attributes.limits);
        only_what_differs(&mut request.attributes, &self.own);
        let ties = Ties { channel: self.channel.as_fd(), parting: self.parting, waker };
        command::run(request, descriptors, ties, self.null, self.stack)
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

/// What was asked for, in order; or the step and the errno of why it was not understood.
fn accept(
    message: &[u8],
    received: Received,
) -> Result<(Descriptors<OwnedFd>, Request), (Step, i32)> {
    if received.truncated {
        // This process may have no more descriptors.
        return Err((Step::Descriptors, libc::EMFILE));
    }
    let broken = (Step::Keeper, libc::EBADMSG);
    let (descriptors, rest) = Descriptors::decode(message, received.descriptors).ok_or(broken)?;
    let request = match &descriptors.body {
        Some(body) => read_all(body).as_deref().and_then(Request::decode),
        None => Request::decode(rest),
    };
    Ok((descriptors, request.ok_or(broken)?))
}

fn read_all(file: &OwnedFd) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = std::fs::File::from(file.try_clone().ok()?);
    std::io::Read::read_to_end(&mut file, &mut bytes).ok()?;
    Some(bytes)
}

/// Whether its end has been ordered already. Nothing else is said before the command has started.
fn is_unwanted(channel: BorrowedFd) -> bool {
    let mut buffer = [0; 64];
    let taken = take(channel, &mut buffer).ok();
    let order = taken.and_then(|length| buffer.get(..length)).and_then(Order::decode);
    matches!(order, Some(Order::End(_)))
}

/// A host that is gone need not be told anything.
pub fn tell(channel: BorrowedFd, answer: &Answer) {
    let _ = send(channel, [&answer.encode(), b""], &[]);
}

/// What this process has, which is what its children get unless they are told otherwise.
pub fn own_attributes() -> Attributes {
    // SAFETY: takes numbers; there is one thread, so nobody makes a file in between.
    let mask = unsafe {
        let mask = libc::umask(0o077);
        libc::umask(mask);
        mask
    };
    // SAFETY: takes numbers; a priority of -1 can't be told from an error, of which there is none.
    let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    Attributes {
        limits: limits(),
        mask: Some(mask),
        nice: Some(nice),
        session_nice: None,
        affinity: processors(0),
        oom_score: None,
        bounding: Some(bounding_set()),
    }
}

#[cfg(test)]
mod tests;
