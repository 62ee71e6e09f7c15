//! A cradle: the parent, and the child subreaper, of one running command after another.

mod condition;
pub mod roster;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use forkline_launch::{Attributes, Limit, Stack};
use forkline_protocol::{Answer, Descriptors, Order, Received, Request, receive_now, take};

use crate::command::{self, Reuse};
use crate::host::{Ties, Waker, send_answer};
use crate::signals;
pub use condition::Condition;
use condition::Score;

/// The resources that a cradle has from its keeper.
pub struct CradleProcess<'keeper> {
    /// The channel to the host.
    pub channel: OwnedFd,
    /// Readable once the host is gone, even if another process holds the other end of the channel. None:
    /// the host may leave the cradle behind.
    pub host_gone: Option<BorrowedFd<'keeper>>,
    pub null: BorrowedFd<'keeper>,
    pub stack: &'keeper mut Stack,
    /// The condition in which the cradle was made.
    pub initial: Condition,
}

/// The longest message in bytes; longer requests come in a file.
const LONGEST: usize = 256 * 1024;

impl CradleProcess<'_> {
    /// Runs commands until the host is gone or no longer needs this cradle.
    pub fn serve(mut self) {
        let waker = Waker::new().ok();
        let mut buffer = vec![0; LONGEST];
        let score = Score::open();
        loop {
            let channel = (self.channel.as_fd(), libc::POLLIN);
            let host_gone = self.host_gone.map(|host_gone| (host_gone, libc::POLLIN));
            let [_, gone] = signals::wait([Some(channel), host_gone], None);
            if gone != 0 {
                return;
            }
            let received = match receive_now(self.channel.as_fd(), &mut buffer) {
                Ok(received) if received.length > 0 => received,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
                // The host is gone, or no longer needs this cradle.
                _ => return,
            };
            let message = buffer.get(..received.length).unwrap_or_default();
            // Any other message was for a command that had just ended.
            let is_request = Descriptors::are_in(message);
            if is_request
                && self.answer(message, received, waker.as_ref(), &score) == Reuse::Impossible
            {
                return;
            }
        }
    }

    /// Answers a request. Returns whether this cradle can be reused.
    fn answer(
        &mut self,
        message: &[u8],
        received: Received,
        waker: Option<&Waker>,
        score: &Score,
    ) -> Reuse {
        let ties = self.ties(waker);
        if let Some(what) = self.initial.first_change(score) {
            let why = format!("was changed from outside ({what})");
            return report_unfit(ties, libc::EAGAIN, why);
        }
        let (descriptors, mut request) = match decode_request(message, received) {
            Ok(accepted) => accepted,
            Err(errno) => {
                return report_unfit(ties, errno, "could not take the request".to_owned());
            }
        };
        if is_unwanted(self.channel.as_fd()) {
            send_answer(ties, &Answer::Unwanted);
            return Reuse::Possible;
        }
        roster::number_command();
        self.limit_processes(&request.attributes.limits);
        drop_unchanged(&mut request.attributes, &self.initial.own);
        let ties = Ties { channel: self.channel.as_fd(), host_gone: self.host_gone, waker };
        command::run(request, descriptors, ties, self.null, self.stack)
    }

    fn ties<'a>(&'a self, waker: Option<&'a Waker>) -> Ties<'a> {
        Ties { channel: self.channel.as_fd(), host_gone: self.host_gone, waker }
    }

    /// Sets the limit of processes for the cradle itself: the kernel applies it to the process that
    /// clones, not to its child.
    fn limit_processes(&mut self, limits: &[Limit]) {
        let of_processes = |limit: &&Limit| limit.resource == libc::RLIMIT_NPROC as i32;
        let Some(wanted) = limits.iter().find(of_processes) else { return };
        let Some(own) = self.initial.own.limits.iter_mut().find(|own| of_processes(&&**own)) else {
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

/// Tells the host to ask another cradle: nothing has been started here, and nothing will be.
fn report_unfit(ties: Ties, errno: i32, why: String) -> Reuse {
    send_answer(ties, &Answer::Unfit { errno, why });
    Reuse::Impossible
}

fn drop_unchanged(wanted: &mut Attributes, own: &Attributes) {
    wanted.limits.retain(|limit| !own.limits.contains(limit));
    wanted.mask = wanted.mask.filter(|mask| Some(*mask) != own.mask);
    wanted.nice = wanted.nice.filter(|nice| Some(*nice) != own.nice);
    wanted.bounding = wanted.bounding.filter(|bounding| Some(*bounding) != own.bounding);
    if wanted.affinity == own.affinity {
        wanted.affinity.clear();
    }
}

/// Decodes a request. Returns the errno of what prevents that.
fn decode_request(
    message: &[u8],
    received: Received,
) -> Result<(Descriptors<OwnedFd>, Request), i32> {
    if received.truncated {
        // This process has probably reached its limit of descriptors.
        return Err(libc::EMFILE);
    }
    let broken = libc::EBADMSG;
    let (descriptors, rest) = Descriptors::decode(message, received.descriptors).ok_or(broken)?;
    let request = match &descriptors.body {
        Some(body) => {
            let bytes = read_all(body);
            Request::decode(&bytes.map_err(|error| error.raw_os_error().unwrap_or(broken))?)
        }
        None => Request::decode(rest),
    };
    Ok((descriptors, request.ok_or(broken)?))
}

fn read_all(file: &OwnedFd) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = std::fs::File::from(file.try_clone()?);
    std::io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(bytes)
}

/// Returns whether the command's end has been ordered already, or the host is gone. No other order is
/// sent before the start is told.
fn is_unwanted(channel: BorrowedFd) -> bool {
    let mut buffer = [0; 64];
    let taken = take(channel, &mut buffer).ok();
    let order = taken.and_then(|length| buffer.get(..length)).and_then(Order::decode);
    taken == Some(0) || matches!(order, Some(Order::End(_) | Order::EndLate(_)))
}

#[cfg(test)]
mod tests;
