//! The keeper of a host: makes cradles, and ends with the host, after its commands.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use forkline_launch::{Attributes, Stack, Step};
use forkline_protocol::{Answer, News, Received, Status, VERSION, receive, send, take};

use crate::command::GRACE_WITHOUT_HOST;
use crate::cradle::{Cradle, ENOUGH, accept, own_attributes, take_ticket, tell};
use crate::ending::Ending;
use crate::members::{Members, kill};
use crate::pool::Pool;
use crate::signals::{self, HOST_IS_GONE};
use crate::wait::{self, Change, Ended, Family};

struct Keeper {
    pool: Pool,
    /// By process id, their places.
    cradles: HashMap<i32, usize>,
    /// None: the host is gone.
    lifeline: Option<OwnedFd>,
    /// None: the host is gone, or has another keeper.
    requests: Option<OwnedFd>,
    /// Readable once the host has ended: a fork of it may hold both of the above open.
    host: Option<OwnedFd>,
    bell: OwnedFd,
    null: OwnedFd,
    stack: Stack,
    own: Attributes,
    /// What cradles that were killed have left to us.
    adopted: Option<Adopted>,
}

struct Adopted {
    /// Those that were killed.
    cradles: Vec<i32>,
    members: Members,
    ending: Ending,
}

/// When something could not be done, or a signal may have come too early.
const AGAIN: Duration = Duration::from_millis(50);

/// The keeper's work, until the host is gone and its commands are.
pub fn keep(is_same_version: bool) -> ExitCode {
    // SAFETY: the engine puts them there, and nothing else here uses them.
    let given = unsafe { [0, 3].map(|number| OwnedFd::from_raw_fd(number)) };
    let Ok(mut keeper) = Keeper::new(given) else { return ExitCode::FAILURE };
    keeper.say(News::Hello(VERSION));
    if !is_same_version {
        return ExitCode::from(2);
    }
    while keeper.turn() {}
    ExitCode::SUCCESS
}

impl Keeper {
    fn new([lifeline, requests]: [OwnedFd; 2]) -> io::Result<Self> {
        signals::prepare();
        // SAFETY: takes numbers, and a name that ends with NUL.
        unsafe {
            libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
            libc::prctl(libc::PR_SET_NAME, c"forkline-keeper".as_ptr());
        }
        // SAFETY: takes numbers; the host is our parent, and 0 is nobody.
        let host = unsafe { libc::syscall(libc::SYS_pidfd_open, libc::getppid(), 0) } as i32;
        // SAFETY: takes numbers.
        let bell = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if bell < 0 {
            return Err(io::Error::last_os_error());
        }
        let stdout = io::stdout();
        let null = stdout.as_fd().try_clone_to_owned()?;
        Ok(Keeper {
            pool: Pool::new()?,
            cradles: HashMap::new(),
            lifeline: Some(moved_up(lifeline)?),
            requests: Some(moved_up(requests)?),
            // SAFETY: just opened, and nobody else's.
            host: (host >= 0).then(|| unsafe { OwnedFd::from_raw_fd(host) }),
            // SAFETY: just opened, and nobody else's.
            bell: unsafe { OwnedFd::from_raw_fd(bell) },
            null,
            stack: Stack::new()?,
            own: own_attributes(),
            adopted: None,
        })
    }

    /// One round; whether there is anything left to do.
    fn turn(&mut self) -> bool {
        if self.reap() && self.requests.is_none() {
            return false;
        }
        let enough = self.make_cradles();
        let time = self.act(if enough { None } else { Some(AGAIN) });
        let [lifeline, host, requests, bell] = signals::wait(
            [
                self.lifeline.as_ref().map(|lifeline| (lifeline.as_fd(), libc::POLLIN)),
                self.host.as_ref().map(|host| (host.as_fd(), libc::POLLIN)),
                // Its end alone: what it carries is for the cradles.
                self.requests.as_ref().map(|requests| (requests.as_fd(), 0)),
                Some((self.bell.as_fd(), libc::POLLIN)),
            ],
            time,
        );
        if bell != 0 {
            self.unring();
        }
        if requests != 0 {
            self.requests = None;
        }
        if lifeline != 0 && self.lifeline_has_ended() || host != 0 {
            self.host_is_gone();
        }
        true
    }

    fn lifeline_has_ended(&self) -> bool {
        let taken = self.lifeline.as_ref().map(|lifeline| take(lifeline.as_fd(), &mut [0; 16]));
        !matches!(taken, Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock)
    }

    fn unring(&self) {
        use std::os::fd::AsRawFd;
        let mut count = [0u8; 8];
        // SAFETY: fills the eight bytes.
        unsafe { libc::read(self.bell.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    }

    fn host_is_gone(&mut self) {
        (self.lifeline, self.requests, self.host) = (None, None, None);
    }

    /// Reaps whoever has ended; whether nobody is left.
    fn reap(&mut self) -> bool {
        loop {
            match wait::next_or_stopped() {
                Family::Change(Change::Ended(ended)) => self.ended(&ended),
                Family::Change(Change::Stopped(pid)) if self.cradles.contains_key(&pid) => {
                    // It is to look after its command, whoever meant it to stop.
                    kill(pid, libc::SIGCONT);
                }
                Family::Change(Change::Stopped(_)) => {}
                Family::Lives => return false,
                Family::Empty => {
                    self.nobody_is_adopted();
                    return true;
                }
            }
        }
    }

    fn ended(&mut self, ended: &Ended) {
        let now = Instant::now();
        let Some(place) = self.cradles.remove(&ended.pid) else {
            if let Some(adopted) = &mut self.adopted {
                adopted.ending.somebody_ended(&adopted.members, now);
            }
            return;
        };
        self.pool.leave(place);
        if matches!(ended.status, Status::Exited(0)) {
            return;
        }
        // It was killed, and what it looked after is ours.
        let adopted = self.adopted.get_or_insert_with(|| Adopted {
            cradles: Vec::new(),
            members: Members::new(2),
            ending: Ending::new(GRACE_WITHOUT_HOST, now),
        });
        adopted.cradles.push(ended.pid);
    }

    fn nobody_is_adopted(&mut self) {
        for cradle in self.adopted.take().into_iter().flat_map(|adopted| adopted.cradles) {
            self.say(News::Cleared(cradle));
        }
    }

    /// Whether there are enough, or none are needed.
    fn make_cradles(&mut self) -> bool {
        while self.requests.is_some() && self.pool.idle() < ENOUGH {
            if let Err(error) = self.make_cradle() {
                if self.pool.idle() <= 0 {
                    self.refuse_one(error.raw_os_error().unwrap_or(0));
                }
                return false;
            }
        }
        true
    }

    fn make_cradle(&mut self) -> io::Result<()> {
        let Some(requests) = &self.requests else { return Ok(()) };
        let place = self.pool.join().ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: there is one thread, so the child has everything that its parent had.
        match unsafe { libc::fork() } {
            -1 => {
                let error = io::Error::last_os_error();
                self.pool.leave(place);
                Err(error)
            }
            0 => {
                // Their ends are to be the keeper's.
                (self.lifeline, self.host) = (None, None);
                // SAFETY: takes numbers, and a name that ends with NUL.
                unsafe {
                    libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
                    libc::prctl(libc::PR_SET_NAME, c"forkline-cradle".as_ptr());
                }
                let cradle = Cradle {
                    pool: &self.pool,
                    place,
                    requests: requests.as_fd(),
                    bell: self.bell.as_fd(),
                    null: self.null.as_fd(),
                    stack: &mut self.stack,
                    own: self.own.clone(),
                };
                cradle.serve();
                // SAFETY: ends this process, which has nothing to write or to tidy.
                unsafe { libc::_exit(0) }
            }
            pid => {
                self.cradles.insert(pid, place);
                Ok(())
            }
        }
    }

    /// No cradle can be made, and none is there: whoever waits is told so.
    fn refuse_one(&self, errno: i32) {
        let Some(requests) = &self.requests else { return };
        let mut buffer = vec![0; 256 * 1024];
        let [_, ready] =
            signals::wait([None, Some((requests.as_fd(), libc::POLLIN))], Some(Duration::ZERO));
        if ready & libc::POLLIN == 0 {
            return;
        }
        let Ok(received) = receive(requests.as_fd(), &mut buffer) else { return };
        let message = buffer.get(..received.length).unwrap_or_default().to_vec();
        let received = Received { ..received };
        if let Some((descriptors, _)) = accept(&message, received) {
            take_ticket(descriptors.channel.as_fd());
            tell(descriptors.channel.as_fd(), &Answer::Failed { step: Step::Clone, errno });
        }
    }

    /// Does what is due; when to come again.
    fn act(&mut self, time: Option<Duration>) -> Option<Duration> {
        let mut again = time;
        if self.lifeline.is_none() {
            // Each time: the signal may come when a cradle is just about to wait.
            for pid in self.cradles.keys() {
                kill(*pid, HOST_IS_GONE);
            }
            again = Some(AGAIN);
        }
        let now = Instant::now();
        let Some(adopted) = &mut self.adopted else { return again };
        adopted.members.set_apart(self.cradles.keys().copied());
        let gone = adopted.members.children().is_empty();
        if gone {
            self.nobody_is_adopted();
            return again;
        }
        if adopted.ending.act(&adopted.members, None, now) {
            for cradle in self.adopted.take().into_iter().flat_map(|adopted| adopted.cradles) {
                self.say(News::GivenUp(cradle));
            }
            return again;
        }
        let due = adopted.ending.due().saturating_duration_since(Instant::now());
        Some(again.map_or(due, |again| again.min(due)))
    }

    fn say(&self, news: News) {
        if let Some(lifeline) = &self.lifeline {
            let _ = send(lifeline.as_fd(), [&news.encode(), b""], &[]);
        }
    }
}

/// Away from the numbers that commands have, and closed when one is executed.
fn moved_up(descriptor: OwnedFd) -> io::Result<OwnedFd> {
    descriptor.try_clone()
}
