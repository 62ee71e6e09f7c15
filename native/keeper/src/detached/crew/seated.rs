//! A command whose members are descendants of a cradle in a sandbox. The sandbox stands for as long as
//! they live.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use forkline_launch::Step;
use forkline_protocol::{Answer, Descriptors, Exit, Member, Order, Request, receive, send, take};

use super::{Crew, Event};
use crate::detached::denials::{DenialSource, Denials, Report};
use crate::detached::failure::DetachedFailure;
use crate::signals;
use crate::wait::EndedChild;

pub struct CradleCrew {
    /// The channel to the cradle, which ends all members when the channel is closed.
    channel: OwnedFd,
    leader: i32,
    has_ended: bool,
    denials: Denials,
    /// Events that `act` has not returned yet.
    events: Vec<Event>,
    /// The members told so far; more follow.
    seen: Vec<Member>,
    is_asked: bool,
    signalled: Option<bool>,
    is_forced: bool,
    reason: Option<String>,
    share: i32,
    is_over: bool,
}

/// Longer than any answer, in bytes.
const LONGEST_ANSWER: usize = 96 * 1024;
/// The longest time that a cradle takes to signal a group.
const PATIENCE: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(1);

impl CradleCrew {
    /// Has a cradle launch a command. `host`: shows when the host has ended. `output`: the file of its output.
    pub fn start(
        channel: OwnedFd,
        host: Option<OwnedFd>,
        request: &Request,
        descriptors: Descriptors<BorrowedFd>,
        output: &Path,
    ) -> Result<CradleCrew, DetachedFailure> {
        let failed = |error: io::Error| {
            (Step::Keeper, error.raw_os_error().unwrap_or(0), "forkline-keeper".to_owned())
        };
        let (body, file) = request.packed().map_err(|error| {
            let errno = error.raw_os_error().unwrap_or(0);
            (Step::Descriptors, errno, "the request's file in memory (memfd_create)".to_owned())
        })?;
        let descriptors = Descriptors { body: file.as_ref().map(AsFd::as_fd), ..descriptors };
        let (head, sent) = descriptors.encode();
        while let Err(error) = send(channel.as_fd(), [&head, &body], &sent) {
            match error.raw_os_error() {
                // The processes of this user have too many descriptors in flight.
                Some(libc::ETOOMANYREFS | libc::ENOBUFS | libc::ENOMEM) => {
                    std::thread::sleep(AGAIN);
                }
                _ => return Err(failed(error)),
            }
        }
        let gone = || failed(io::Error::from_raw_os_error(libc::ESRCH));
        let lost = || {
            let whose = "the command, whose parent was killed,".to_owned();
            (Step::Lost, libc::ECONNABORTED, whose)
        };
        let mut buffer = vec![0; LONGEST_ANSWER];
        let mut next = || {
            // An error means that the request was not read.
            let received = receive(channel.as_fd(), &mut buffer).map_err(|_| gone())?;
            let answer = buffer.get(..received.length).and_then(Answer::decode);
            Ok((answer, received.descriptors))
        };
        let (enforced, line) = match next()? {
            (Some(Answer::Stands(enforced)), line) => (enforced, line.into_iter().next()),
            (Some(Answer::Failed { step, errno }), _) => return Err((step, errno, String::new())),
            _ => return Err(gone()),
        };
        let mut denials = Denials::new(enforced, line, host, output);
        match next()?.0 {
            Some(Answer::Started(start)) => Ok(CradleCrew {
                channel,
                leader: start.pid,
                has_ended: false,
                denials,
                events: Vec::new(),
                seen: Vec::new(),
                is_asked: false,
                signalled: None,
                is_forced: false,
                reason: None,
                share: start.share,
                is_over: false,
            }),
            // What the rules deny has been told before.
            Some(Answer::Failed { step, errno }) => Err((step, errno, denials.denied_program())),
            Some(Answer::Unfit { errno, why }) => {
                Err((Step::Keeper, errno, format!("the command, whose parent {why}")))
            }
            _ => Err(lost()),
        }
    }

    /// Reads all answers of the cradle.
    fn read_answers(&mut self) {
        let mut buffer = vec![0; LONGEST_ANSWER];
        while !self.is_over {
            match take(self.channel.as_fd(), &mut buffer) {
                Ok(length) if length > 0 => {
                    if let Some(answer) = buffer.get(..length).and_then(Answer::decode) {
                        self.answered(answer);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The cradle is gone without having read all orders; end of file follows.
                Err(error) if error.raw_os_error() == Some(libc::ECONNRESET) => {}
                _ => self.over(Event::Lost),
            }
        }
    }

    fn answered(&mut self, answer: Answer) {
        match answer {
            Answer::Exit(Exit { start, status, user, system, peak, empty, .. }) => {
                self.share = start.share;
                let ended = EndedChild { pid: self.leader, status, cpu: [user, system], peak };
                self.events.push(Event::Ended(ended));
                self.has_ended = true;
                if empty {
                    self.over(Event::Empty);
                }
            }
            Answer::Empty => self.over(Event::Empty),
            Answer::Reason(reason) => self.reason = Some(reason),
            Answer::Signalled(sent) => self.signalled = Some(sent),
            Answer::Left { members, more } => {
                self.seen.extend(members);
                if !more {
                    self.is_asked = false;
                    self.events.push(Event::Seen(std::mem::take(&mut self.seen)));
                }
            }
            Answer::Over { forced, cleared } => {
                self.is_forced = forced;
                if cleared {
                    self.over(Event::Empty);
                } else {
                    self.events.push(Event::GivenUp);
                }
            }
            Answer::Stands(_)
            | Answer::Started(_)
            | Answer::Failed { .. }
            | Answer::Unwanted
            | Answer::Unfit { .. } => {}
        }
    }

    /// Reads the denials. All denials of a command are sent before the last answer about its members.
    fn read_denials(&mut self) {
        if self.denials.descriptor().is_none() || self.denials.read() == DenialSource::Open {
            return;
        }
        // The process that sends denials ends after the members.
        self.read_answers();
        if !self.has_ended && !self.is_over {
            self.denials.mark_incomplete();
        }
    }

    fn over(&mut self, event: Event) {
        self.is_over = true;
        self.events.push(event);
    }

    fn send_order(&self, order: Order) {
        // A cradle that is gone needs no orders.
        let _ = send(self.channel.as_fd(), [&order.encode(), b""], &[]);
    }
}

impl Crew for CradleCrew {
    fn leader(&self) -> i32 {
        self.leader
    }

    fn act(&mut self, _: Instant) -> Vec<Event> {
        self.read_answers();
        self.read_denials();
        std::mem::take(&mut self.events)
    }

    fn end(&mut self, grace: Duration, _: Instant) {
        self.send_order(Order::End(milliseconds(grace)));
    }

    fn end_late(&mut self, grace: Duration, _: Instant) {
        self.send_order(Order::EndLate(milliseconds(grace)));
    }

    fn take_reason(&mut self) -> Option<String> {
        self.reason.take()
    }

    fn is_forced(&self) -> bool {
        self.is_forced
    }

    fn share(&self) -> i32 {
        self.share
    }

    fn ask_for_members(&mut self, _: Instant) {
        if !std::mem::replace(&mut self.is_asked, true) {
            self.send_order(Order::Who);
        }
    }

    fn signal(&mut self, signal: i32) -> bool {
        self.signalled = None;
        self.send_order(Order::Signal(signal));
        let until = Instant::now() + PATIENCE;
        while self.signalled.is_none() && !self.is_over {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            signals::wait([Some((self.channel.as_fd(), libc::POLLIN))], Some(left));
            self.read_answers();
        }
        self.signalled.unwrap_or(false)
    }

    fn due(&self) -> Option<Instant> {
        // Events that were read while the answer to another order was awaited.
        (!self.events.is_empty()).then(Instant::now)
    }

    fn sandbox(&mut self) -> Report {
        self.read_denials();
        self.denials.report()
    }

    fn descriptors(&self) -> [Option<i32>; 2] {
        [Some(self.channel.as_raw_fd()), self.denials.descriptor()]
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
