//! A command, from its launch until no member of it is left.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use forkline_launch::{Image, Launch, Launched, Place, Stack, Step, launch_and_tell};
use forkline_protocol::{Answer, Descriptors, Exit, Order, Request, Start, members_in_parts, take};

use crate::cradle::roster;
use crate::ending::{Effort, Ending};
use crate::host::{Ties, send_answer};
use crate::late::oom_score;
use crate::late::session_nice::NiceRetry;
use crate::member_query::{MemberQuery, launch_lines, members_now};
use crate::members::{Members, kill};
use crate::wait::{self, ChildChange, EndedChild, Family, Remaining};
use crate::{outside, proc, signals};

/// The time from SIGTERM to SIGKILL for the commands of a host that is gone.
pub const GRACE_WITHOUT_HOST: Duration = Duration::from_secs(2);

/// The start and the end of a command that is shorter than this are told together.
const SHORT: Duration = Duration::from_millis(4);

struct RunningCommand<'cradle> {
    /// None: the host is gone.
    host: Option<Ties<'cradle>>,
    start: Start,
    /// When to tell the start, unless the end is told with it before.
    to_announce: Option<Instant>,
    /// None: the leader has been reaped.
    leader: Option<i32>,
    /// The shells that were launched: forks of them are recognized by their arguments.
    images: Vec<Image>,
    follow: bool,
    members: Members,
    ending: Option<Ending>,
    member_query: Option<MemberQuery>,
    nice_retry: Option<NiceRetry>,
}

/// Whether a cradle that has run a command can run another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    Possible,
    /// The cradle is not as it was before, or its host is gone.
    Impossible,
}

/// Runs the command. Returns whether this cradle can be reused.
pub fn run(
    request: Request,
    descriptors: Descriptors<OwnedFd>,
    ties: Ties,
    null: BorrowedFd,
    stack: &mut Stack,
) -> Reuse {
    // The cradle shares its directory with such a command.
    let unless_followed = if request.follow { Reuse::Impossible } else { Reuse::Possible };
    if let Err(errno) = oom_score::check(request.attributes.oom_score) {
        send_answer(ties, &Answer::Failed { step: Step::Limits, errno });
        return Reuse::Possible;
    }
    let at = proc::monotonic();
    let launched = {
        let held = descriptors.directory.as_ref().map(|held| Place::Open(held.as_fd()));
        let launch_request = Launch {
            images: &request.images,
            environment: &request.environment,
            directory: request.path().map(Place::Path).or(held),
            stdio: descriptors.stdio(null),
            script: descriptors.script.as_ref().map(AsFd::as_fd),
            groups: descriptors.groups(),
            // No other process would end the command if this process and the keeper were killed.
            parent_death: Some(libc::SIGTERM),
            terminal: request.terminal,
            share_directory: request.follow,
            attributes: Some(&request.attributes),
            outer_proc: outside::proc(),
            reset: signals::NOT_DEFAULT,
        };
        launch_and_tell(&launch_request, stack)
    };
    // Closes the other descriptors: whoever reads the command's pipes waits for their end of file.
    drop(descriptors);
    let Launched { pid, outer_pid, share, oom_score } = match launched {
        Ok(launched) => launched,
        Err(failure) => {
            let errno = failure.error.raw_os_error().unwrap_or(0);
            send_answer(ties, &Answer::Failed { step: failure.step, errno });
            return unless_followed;
        }
    };
    ties.waker.into_iter().for_each(|waker| waker.wakes(pid));
    if let Err(errno) = oom_score::mark(pid, oom_score, request.attributes.oom_score) {
        send_answer(ties, &Answer::Failed { step: Step::Limits, errno });
        return unless_followed;
    }
    let start = Start { pid: outer_pid, cradle: outside::own_pid(), at, share };
    if request.announce {
        send_answer(ties, &Answer::Started(start));
    }
    let command = RunningCommand {
        host: Some(ties),
        start,
        to_announce: (!request.announce).then(|| Instant::now() + SHORT),
        leader: Some(pid),
        images: request.images,
        follow: request.follow,
        members: Members::new(pid),
        ending: None,
        member_query: None,
        nice_retry: NiceRetry::after(share, request.attributes.session_nice),
    };
    // Frees memory: a command may run for a long time.
    drop(request.environment);
    command.keep()
}

impl RunningCommand<'_> {
    /// Runs until no member is left; its end interrupts the wait. Returns whether this cradle can be reused.
    fn keep(mut self) -> Reuse {
        loop {
            let now = Instant::now();
            if self.act(now) == Effort::GivenUp && self.host.is_none() {
                // No host is there to be told of the members that can't be ended.
                return Reuse::Impossible;
            }
            let due = [
                self.to_announce,
                self.ending.as_ref().map(Ending::due),
                self.member_query.as_ref().map(MemberQuery::due),
                self.nice_retry.as_ref().map(NiceRetry::due),
            ];
            let time = due.into_iter().flatten().min();
            let time = time.map(|due| due.saturating_duration_since(Instant::now()));
            let channel = self.host.map(|host| (host.channel, libc::POLLIN));
            let host_gone = self.host.and_then(|host| Some((host.host_gone?, libc::POLLIN)));
            let [ready, gone] = signals::wait([channel, host_gone], time);
            if ready != 0 {
                self.read_orders();
            }
            if gone != 0 {
                self.host_is_gone();
            }
            if self.reap() == Remaining::None {
                let is_reusable = self.host.is_some() && !self.follow;
                return if is_reusable { Reuse::Possible } else { Reuse::Impossible };
            }
        }
    }

    /// Reaps the children that have ended, and tells the host. Returns whether any member is left.
    fn reap(&mut self) -> Remaining {
        let (mut exit, mut ended_one) = (None, false);
        let empty = loop {
            match wait::reap() {
                Family::Change(ChildChange::Ended(ended)) => {
                    if self.leader == Some(ended.pid) {
                        (self.leader, self.to_announce, self.nice_retry) = (None, None, None);
                        exit = Some(self.exit(&ended));
                    }
                    ended_one = true;
                }
                Family::Change(ChildChange::Stopped(_)) => {}
                Family::Lives => break false,
                Family::Empty => break true,
            }
        };
        if ended_one && !empty {
            self.member_ended();
        }
        let told = exit.is_some();
        if let Some(mut exit) = exit {
            roster::forget_command();
            exit.empty = empty && self.ending.is_none();
            self.answer(&Answer::Exit(exit));
        }
        match &self.ending {
            _ if !empty => {}
            Some(ending) => {
                self.answer(&Answer::Over { forced: ending.is_forced(), cleared: true });
            }
            None if told => {}
            None => self.answer(&Answer::Empty),
        }
        if empty { Remaining::None } else { Remaining::Some }
    }

    fn member_ended(&mut self) {
        if let Some(ending) = &mut self.ending {
            ending.member_ended(&self.members, Instant::now());
        }
        if let Some(member_query) = &mut self.member_query {
            member_query.member_ended(Instant::now());
        }
    }

    fn exit(&self, ended: &EndedChild) -> Exit {
        Exit {
            start: self.start,
            status: ended.status,
            user: ended.cpu[0],
            system: ended.cpu[1],
            peak: ended.peak,
            at: proc::monotonic(),
            empty: false,
            directory: if self.follow { proc::own_directory() } else { Vec::new() },
        }
    }

    /// Does overdue work. Returns whether members that can't be ended were given up.
    fn act(&mut self, now: Instant) -> Effort {
        if self.to_announce.is_some_and(|due| due <= now) {
            self.to_announce = None;
            self.answer(&Answer::Started(self.start));
        }
        let nice_retry = self.nice_retry.take_if(|nice_retry| nice_retry.due() <= now);
        if let (Some(nice_retry), Some(leader)) = (nice_retry, self.leader) {
            (self.start.share, self.nice_retry) = nice_retry.again(leader, now);
        }
        let ending = self.ending.as_mut();
        let (effort, reason) = ending.map_or((Effort::Continues, None), |ending| {
            (ending.act(&self.members, self.leader, now), ending.take_reason())
        });
        reason.into_iter().for_each(|reason| self.answer(&Answer::Reason(reason)));
        if effort == Effort::GivenUp {
            let left = members_now(&self.members, &launch_lines(&self.images));
            members_in_parts(&left).iter().for_each(|part| self.answer(part));
            self.answer(&Answer::Over { forced: true, cleared: false });
            self.ending = None;
        }
        let due = self.member_query.as_mut().filter(|member_query| member_query.due() <= now);
        let Some(member_query) = due else { return effort };
        if let Some(left) = member_query.poll(&self.members, &launch_lines(&self.images), now) {
            // A member is there, shown or not, since this process still has a child.
            self.member_query = None;
            if left.is_empty() {
                self.answer(&Answer::Left { members: Vec::new(), more: false });
            }
            members_in_parts(&left).iter().for_each(|part| self.answer(part));
        }
        effort
    }

    fn read_orders(&mut self) {
        let mut buffer = [0; 64];
        while let Some(host) = self.host {
            match take(host.channel, &mut buffer) {
                Ok(0) => self.host_is_gone(),
                Ok(length) => {
                    if let Some(order) = buffer.get(..length).and_then(Order::decode) {
                        self.carry_out(order);
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                // The host is gone without having read all messages; end of file follows.
                Err(_) => {}
            }
        }
    }

    fn carry_out(&mut self, order: Order) {
        let now = Instant::now();
        match order {
            Order::Signal(signal) => {
                let sent = self.leader.is_some_and(|leader| kill(-leader, signal));
                self.answer(&Answer::Signalled(sent));
            }
            Order::End(grace) => self.end(Duration::from_millis(grace), now),
            Order::EndLate(grace) => {
                let grace = Duration::from_millis(grace);
                let late = || Ending::of_late(grace, launch_lines(&self.images), now);
                self.ending.get_or_insert_with(late);
                self.end(grace, now);
            }
            Order::Who => self.member_query = Some(MemberQuery::new(now)),
        }
    }

    fn end(&mut self, grace: Duration, now: Instant) {
        match &mut self.ending {
            Some(ending) => ending.set_grace(grace, now),
            None => self.ending = Some(Ending::new(grace, now)),
        }
        self.member_query = None;
    }

    fn host_is_gone(&mut self) {
        if self.host.take().is_some() {
            self.end(GRACE_WITHOUT_HOST, Instant::now());
        }
    }

    fn answer(&self, answer: &Answer) {
        if let Some(host) = self.host {
            send_answer(host, answer);
        }
    }
}
