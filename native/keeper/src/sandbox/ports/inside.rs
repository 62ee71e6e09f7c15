//! The thread in the sandbox's network: it makes the listeners by which ports of the host are reached, and
//! connects what comes to published ports.

use std::collections::HashMap;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use forkline_protocol::send;
use rustix::event::{EventfdFlags, eventfd};

use crate::sandbox::kept::patiently;
use crate::sandbox::ports::ask::PortNotice;
use crate::sandbox::ports::closings::Closings;
use crate::sandbox::ports::listening;
use crate::sandbox::ports::plan::{PortPlan, Reached};
use crate::sandbox::ports::published::{Opened, Published};
use crate::sandbox::ports::record::PortRecord;
use crate::sandbox::ports::relay::Relay;
use crate::sandbox::ports::sockets::listen_on;
use crate::sandbox::privileges;

const WOKEN: u64 = 1;
const CLOSED: u64 = 2;
/// The number of the first listener.
const FIRST: u64 = 16;
/// How often listeners are looked at where the kernel does not tell that one is closed.
const LOOK: Duration = Duration::from_secs(1);

/// The listeners inside that lead to a port of the host.
pub struct ReachEntrance {
    pub reached: Reached,
    pub sockets: Vec<TcpListener>,
}

/// The thread, as the other one sees it.
pub struct InsideThread {
    pub published: Arc<Published>,
    opened: Sender<Opened>,
    wake: Arc<OwnedFd>,
}

impl InsideThread {
    /// Has the thread relay what comes to a published port.
    pub fn relay(&self, opened: Opened) {
        // The thread ends with the process.
        let _ = self.opened.send(opened);
        self.wake();
    }

    /// Has the thread notice that there is one more port to look at.
    pub fn wake(&self) {
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }
}

/// Starts the thread. Returns once it has made the listeners for `plan.reach`.
pub fn start(
    keeper: OwnedFd,
    plan: PortPlan,
    most: usize,
    news: OwnedFd,
) -> io::Result<(InsideThread, Vec<ReachEntrance>)> {
    let (made, result) = sync_channel(1);
    let (opened, to_open) = channel();
    let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let theirs = wake.clone();
    thread::Builder::new().stack_size(256 * 1024).spawn(move || {
        let begun = enter(&keeper, &plan).and_then(|entrances| {
            let record = plan.directory.as_deref().and_then(|path| PortRecord::new(path).ok());
            let published = Arc::new(Published::new(record));
            let inside = InsideRelay::new(most, published.clone(), theirs, to_open, news)?;
            Ok(((entrances, published), inside))
        });
        match begun {
            Ok((ready, mut inside)) => {
                let _ = made.send(Ok(ready));
                if plan.publishes() {
                    inside.relay();
                }
            }
            Err(error) => drop(made.send(Err(error))),
        }
    })?;
    let (entrances, published) =
        result.recv().map_err(|_| io::Error::from_raw_os_error(libc::ECHILD))??;
    Ok((InsideThread { published, opened, wake }, entrances))
}

/// Enters the sandbox's network, and makes the listeners there.
fn enter(keeper: &OwnedFd, plan: &PortPlan) -> io::Result<Vec<ReachEntrance>> {
    // SAFETY: takes numbers only, and affects the calling thread alone.
    if unsafe { libc::setns(keeper.as_raw_fd(), libc::CLONE_NEWNET) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let made = |reached: &Reached| {
        let sockets = listen_on(reached.inside)?;
        Ok(ReachEntrance { reached: *reached, sockets })
    };
    plan.reach.iter().map(made).collect()
}

/// What the thread works with.
struct InsideRelay {
    relay: Relay,
    published: Arc<Published>,
    wake: Arc<OwnedFd>,
    to_open: Receiver<Opened>,
    /// None: the kernel does not tell, so listeners are looked at now and then.
    closings: Option<Closings>,
    news: OwnedFd,
    /// The numbers of the listeners outside, by port inside.
    listeners: HashMap<u16, Vec<u64>>,
    next: u64,
}

impl InsideRelay {
    fn new(
        most: usize,
        published: Arc<Published>,
        wake: Arc<OwnedFd>,
        to_open: Receiver<Opened>,
        news: OwnedFd,
    ) -> io::Result<InsideRelay> {
        let relay = Relay::new(most)?;
        let closings = Closings::hear();
        relay.watch(WOKEN, wake.as_fd())?;
        if let Some(closings) = &closings {
            relay.watch(CLOSED, closings.descriptor())?;
        }
        privileges::drop_all()?;
        let listeners = HashMap::new();
        Ok(InsideRelay { relay, published, wake, to_open, closings, news, listeners, next: FIRST })
    }

    /// Relays until the process ends.
    fn relay(&mut self) {
        loop {
            let must_look = self.closings.is_none() && !self.published.is_empty();
            let turn = self.relay.turn(must_look.then(|| Instant::now() + LOOK));
            let mut is_gone = must_look || !turn.refused.is_empty();
            for number in turn.readable {
                match number {
                    WOKEN => self.open(),
                    _ => is_gone |= self.has_closed(),
                }
            }
            if is_gone {
                self.give_up();
            }
        }
    }

    fn has_closed(&self) -> bool {
        let is_published = |port: u16| self.published.contains(port);
        self.closings.as_ref().is_some_and(|closings| closings.concern(is_published))
    }

    fn open(&mut self) {
        let _ = rustix::io::read(&self.wake, &mut [0_u8; 8]);
        while let Ok(Opened { inside, sockets, targets }) = self.to_open.try_recv() {
            for socket in sockets {
                let number = self.next;
                self.next += 1;
                if self.relay.open(number, socket, targets.clone()).is_ok() {
                    self.listeners.entry(inside).or_default().push(number);
                }
            }
        }
    }

    fn give_up(&mut self) {
        let published = self.published.clone();
        let told = published.give_up(listening::addresses, |gone| {
            // What was opened meanwhile has to be known before it is closed.
            self.open();
            let numbers = gone.iter().filter_map(|port| self.listeners.remove(port)).flatten();
            numbers.for_each(|number| self.relay.close(number));
        });
        told.iter().for_each(|tell| self.tell(tell));
    }

    fn tell(&self, tell: &PortNotice) {
        let message = tell.encode();
        patiently(|| send(self.news.as_fd(), [message.as_bytes(), b""], &[]));
    }
}
