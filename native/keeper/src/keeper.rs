//! The keeper of a host: makes cradles, and ends after the host and its commands.

mod adopted;
mod making;

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use forkline_launch::Stack;
use forkline_protocol::{Call, News, Status, VERSION, receive_now, send};

use crate::cradle::Condition;
use crate::host::{self, HostGone};
use crate::members::kill;
use crate::proc;
use crate::sandbox::kept::SandboxHandle;
use crate::signals;
use crate::wait::{self, ChildChange, EndedChild, Family, Remaining};
use adopted::{Adopted, Adoption};

struct HostKeeper {
    /// The process ids of the cradles, and the host's numbers for them.
    cradles: HashMap<i32, i32>,
    /// The cradles that the host may leave behind.
    task_cradles: HashSet<i32>,
    /// None: the host is gone.
    lifeline: Option<OwnedFd>,
    /// Readable once the host has ended; a fork of the host may hold the lifeline open.
    host: Option<OwnedFd>,
    /// Tells cradles that the host is gone.
    host_gone: HostGone,
    /// Whether the host has another keeper.
    retired: bool,
    null: OwnedFd,
    stack: Stack,
    /// The condition in which the keeper was started.
    initial: Condition,
    /// Members that killed cradles have left to this process.
    adopted: Option<Adopted>,
    /// The sandbox around this process.
    sandbox: Option<SandboxHandle>,
}

/// The process at the other end of a cradle's channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CradleUser {
    /// The host, with which the cradle's command ends.
    Host,
    /// The keeper of a detached command, which the host may leave behind.
    TaskKeeper,
}

/// Does the keeper's work until the host and its commands are gone. `version`: the host's.
pub fn keep(version: &str) -> ExitCode {
    // SAFETY: the engine puts it there, and nothing else here uses it.
    let lifeline = unsafe { OwnedFd::from_raw_fd(0) };
    if version != VERSION.to_string() {
        let _ = send(lifeline.as_fd(), [&News::Hello(VERSION).encode(), b""], &[]);
        return ExitCode::from(2);
    }
    keep_for(lifeline, host::parent_pidfd(), None)
}

/// Does the work for a host whose end shows on one of these. `sandbox`: the one around this process.
pub fn keep_for(
    lifeline: OwnedFd,
    host: Option<OwnedFd>,
    sandbox: Option<SandboxHandle>,
) -> ExitCode {
    sandbox.iter().for_each(|sandbox| sandbox.hand_out_terminals(lifeline.as_fd()));
    let mut keeper = match HostKeeper::new(&lifeline, host) {
        Ok(keeper) => keeper,
        Err((errno, call)) => {
            let refused = News::Refused(errno, call.to_owned()).encode();
            let _ = send(lifeline.as_fd(), [&refused, b""], &[]);
            return ExitCode::FAILURE;
        }
    };
    // The keeper has a duplicate of this descriptor.
    drop(lifeline);
    keeper.sandbox = sandbox;
    keeper.send_news(News::Hello(VERSION));
    // SAFETY: takes numbers only. 1 is the null device: from here on nothing reads stderr.
    unsafe { libc::dup2(1, 2) };
    while keeper.turn().is_continue() {}
    ExitCode::SUCCESS
}

impl HostKeeper {
    /// Makes a keeper. The error is the errno, and the call that was denied.
    fn new(lifeline: &OwnedFd, host: Option<OwnedFd>) -> Result<Self, (i32, &'static str)> {
        signals::prepare();
        host::continue_at_parent_death();
        host::continue_on_input(lifeline.as_fd());
        signals::check()?;
        wait::check()?;
        wait::adopt_orphans()?;
        proc::pid_limit();
        proc::set_own_name(c"forkline-keeper");
        let failed = |call| move |error: io::Error| (error.raw_os_error().unwrap_or(0), call);
        let stdout = io::stdout();
        let null = stdout.as_fd().try_clone_to_owned().map_err(failed("fcntl"))?;
        Ok(HostKeeper {
            cradles: HashMap::new(),
            task_cradles: HashSet::new(),
            // A duplicate away from the standard descriptors, and close-on-exec.
            lifeline: Some(lifeline.try_clone().map_err(failed("fcntl"))?),
            host,
            host_gone: HostGone::new().map_err(failed("eventfd"))?,
            retired: false,
            null,
            stack: Stack::new().map_err(failed("mmap"))?,
            initial: Condition::now(),
            adopted: None,
            sandbox: None,
        })
    }

    /// Does one round of the keeper's work; breaks when nothing is left to do.
    fn turn(&mut self) -> ControlFlow<()> {
        if self.reap() == Remaining::None && (self.retired || self.lifeline.is_none()) {
            return ControlFlow::Break(());
        }
        let time = self.act();
        let denied = self.sandbox.as_ref().and_then(|sandbox| sandbox.denied.as_ref());
        let [lifeline, host, denied] = signals::wait(
            [
                self.lifeline.as_ref().map(|lifeline| (lifeline.as_fd(), libc::POLLIN)),
                self.host.as_ref().map(|host| (host.as_fd(), libc::POLLIN)),
                denied.map(|denied| (denied.descriptor(), libc::POLLIN)),
            ],
            time,
        );
        if lifeline != 0 {
            self.read_lifeline();
        }
        if host != 0 {
            self.host_is_gone();
        }
        if let Some(sandbox) = self.sandbox.as_ref().filter(|_| denied & libc::POLLIN != 0) {
            sandbox.take_denied(&self.cradles, |news| self.send_news(news));
        }
        ControlFlow::Continue(())
    }

    fn read_lifeline(&mut self) {
        let mut buffer = [0; 64];
        while let Some(lifeline) = &self.lifeline {
            match receive_now(lifeline.as_fd(), &mut buffer) {
                Ok(received) if received.length == 0 => self.host_is_gone(),
                Ok(received) => match buffer.get(..received.length).and_then(Call::decode) {
                    Some(Call::Make(number)) => {
                        self.make_each(number, received.descriptors, CradleUser::Host);
                    }
                    Some(Call::Keep(number)) => {
                        self.make_each(number, received.descriptors, CradleUser::TaskKeeper);
                    }
                    Some(Call::Retire) => self.retired = true,
                    Some(Call::Decide(number, answer)) => {
                        self.sandbox.iter().for_each(|sandbox| sandbox.decide(number, answer));
                    }
                    None => {}
                },
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // The host is gone without having read all messages; end of file follows.
                Err(_) => {}
            }
        }
    }

    fn host_is_gone(&mut self) {
        (self.lifeline, self.host) = (None, None);
        self.host_gone.announce();
        self.sandbox.iter().for_each(SandboxHandle::host_is_gone);
    }

    /// Reaps the children that have ended. Returns whether any is left.
    fn reap(&mut self) -> Remaining {
        loop {
            let sandbox = &mut self.sandbox;
            match wait::reap_or_stopped(|pid| sandbox.iter_mut().for_each(|it| it.ended(pid))) {
                Family::Change(ChildChange::Ended(ended)) => self.ended(&ended),
                Family::Change(ChildChange::Stopped(pid)) if self.cradles.contains_key(&pid) => {
                    // The cradle looks after its command, so it must not stay stopped.
                    kill(pid, libc::SIGCONT);
                }
                Family::Change(ChildChange::Stopped(_)) => {}
                Family::Lives => return Remaining::Some,
                Family::Empty => {
                    self.report_adopted(News::Cleared);
                    return Remaining::None;
                }
            }
        }
    }

    fn ended(&mut self, ended: &EndedChild) {
        let now = Instant::now();
        if self.task_cradles.remove(&ended.pid) {
            self.send_news(News::Left(self.number_of(ended.pid)));
        }
        self.sandbox.iter_mut().for_each(|sandbox| sandbox.ended(ended.pid));
        let Some(number) = self.cradles.remove(&ended.pid) else {
            if let Some(adopted) = &mut self.adopted {
                adopted.member_ended(now);
            }
            return;
        };
        if matches!(ended.status, Status::Exited(0)) {
            return;
        }
        // The cradle was killed, and its command's members are now children of this process.
        let has_keys = self.sandbox.as_ref().is_some_and(|sandbox| sandbox.has_keys);
        self.adopted.get_or_insert_with(|| Adopted::new(has_keys, now)).cradles.push(number);
    }

    /// Tells the host what has become of all that was adopted.
    fn report_adopted(&mut self, news: impl Fn(i32) -> News) {
        for cradle in self.adopted.take().into_iter().flat_map(|adopted| adopted.cradles) {
            self.send_news(news(cradle));
        }
    }

    /// Does overdue work. Returns the time until the next deadline.
    fn act(&mut self) -> Option<Duration> {
        let adopted = self.adopted.as_mut()?;
        match adopted.act(self.cradles.keys().copied(), Instant::now()) {
            Adoption::Continues(time) => return Some(time),
            Adoption::Cleared => self.report_adopted(News::Cleared),
            Adoption::GivenUp => self.report_adopted(News::GivenUp),
        }
        None
    }

    fn send_news(&self, news: News) {
        if let Some(lifeline) = &self.lifeline {
            let _ = send(lifeline.as_fd(), [&news.encode(), b""], &[]);
        }
    }
}
