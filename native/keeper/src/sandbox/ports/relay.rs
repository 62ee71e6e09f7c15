//! Connections that are relayed: data is copied from one socket to another, both ways, by one thread.
//!
//! Data that the other side does not take yet stays in the kernel's buffer of the socket that it has arrived
//! on: it is looked at, sent, and only then taken. So a connection costs two descriptors and no memory here,
//! and a sender that is faster than its reader waits as it would without a relay.

mod leaving;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with, sockopt};

use crate::sandbox::ports::copying::{Copied, Direction, copy};
use crate::sandbox::ports::relay::leaving::LeavingPair;
use crate::sandbox::ports::sockets::{Connecting, begin, is_open, progress, reset, spare};

/// The size of the buffer, in bytes.
const BUFFER: usize = 128 * 1024;
/// The most connections that are accepted in one turn for a listener.
const ACCEPTED_AT_ONCE: usize = 64;
/// How long a connection that was made ahead of its client waits for it.
const AHEAD: Duration = Duration::from_secs(10);
/// The most connections that are made ahead, for each listener.
const MOST_AHEAD: usize = 64;
/// How often connections are looked at that are about to be closed.
const LOOK: Duration = Duration::from_millis(10);
/// Numbers from here on are those of connections.
const FIRST_PAIR: u64 = 1 << 32;

/// The addresses that a listener leads to, tried in this order.
pub type Targets = Arc<Mutex<Vec<SocketAddr>>>;

/// What a turn has come to, besides connections.
#[derive(Debug, Default)]
pub struct RelayTurn {
    /// Numbers of other descriptors that are readable.
    pub readable: Vec<u64>,
    /// Numbers of listeners with a target that has refused a connection.
    pub refused: Vec<u64>,
}

struct Entrance {
    socket: TcpListener,
    targets: Targets,
    ahead: VecDeque<(Instant, OwnedFd)>,
}

/// Two sockets, of which the first was accepted.
struct Pair {
    sockets: [OwnedFd; 2],
    /// Further addresses to try; None: the second socket is connected.
    connecting: Option<Vec<SocketAddr>>,
    listener: u64,
    /// From each of the sockets to the other one.
    directions: [Direction; 2],
}

pub struct Relay {
    epoll: OwnedFd,
    buffer: Vec<u8>,
    entrances: HashMap<u64, Entrance>,
    pairs: HashMap<u64, Pair>,
    leaving: Vec<LeavingPair>,
    next: u64,
    /// Connections that have more to copy.
    again: VecDeque<u64>,
    most: usize,
    /// Given up to accept a connection, and reset it, when there are no descriptors left.
    spare: Option<OwnedFd>,
}

impl Relay {
    /// `most`: the most connections; more are reset.
    pub fn new(most: usize) -> io::Result<Relay> {
        Ok(Relay {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            buffer: vec![0; BUFFER],
            entrances: HashMap::new(),
            pairs: HashMap::new(),
            leaving: Vec::new(),
            next: FIRST_PAIR,
            again: VecDeque::new(),
            most,
            spare: spare(),
        })
    }

    /// Watches another descriptor; `number` is below 2^32 and no listener's.
    pub fn watch(&self, number: u64, descriptor: BorrowedFd) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, descriptor, EventData::new_u64(number), EventFlags::IN)?)
    }

    /// Relays what connects to this listener. `number`: below 2^32.
    pub fn open(&mut self, number: u64, socket: TcpListener, targets: Targets) -> io::Result<()> {
        socket.set_nonblocking(true)?;
        epoll::add(&self.epoll, &socket, EventData::new_u64(number), EventFlags::IN)?;
        self.entrances.insert(number, Entrance { socket, targets, ahead: VecDeque::new() });
        Ok(())
    }

    /// Closes a listener. Its connections go on.
    pub fn close(&mut self, number: u64) {
        self.entrances.remove(&number);
    }

    /// Keeps a connection to the target of this listener for the next client.
    pub fn add_ahead(&mut self, number: u64, connected: OwnedFd) {
        if let Some(entrance) = self.entrances.get_mut(&number)
            && entrance.ahead.len() < MOST_AHEAD
        {
            entrance.ahead.push_back((Instant::now(), connected));
        }
    }

    /// Waits for events, at most until `until`, and does what they ask for.
    pub fn turn(&mut self, until: Option<Instant>) -> RelayTurn {
        self.forget_ahead();
        let waits_for_client = self.entrances.values().any(|entrance| !entrance.ahead.is_empty());
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let look = (!self.leaving.is_empty()).then_some(LOOK);
        let longest = [left, waits_for_client.then_some(AHEAD), look].into_iter().flatten().min();
        let longest = if self.again.is_empty() { longest } else { Some(Duration::ZERO) };
        let time = longest.and_then(|time| Timespec::try_from(time).ok());
        let mut events = [Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; 256];
        let mut turn = RelayTurn::default();
        let count = epoll::wait(&self.epoll, &mut events, time.as_ref()).unwrap_or(0);
        let due = self.again.len();
        for event in events.iter().take(count) {
            match event.data.u64() {
                number if self.entrances.contains_key(&number) => self.accept(number, &mut turn),
                number if number >= FIRST_PAIR => self.serve(number, &mut turn),
                number => turn.readable.push(number),
            }
        }
        for _ in 0..due {
            if let Some(number) = self.again.pop_front() {
                self.serve(number, &mut turn);
            }
        }
        self.leaving.retain(|pair| !pair.is_due());
        turn
    }

    fn forget_ahead(&mut self) {
        for entrance in self.entrances.values_mut() {
            entrance.ahead.retain(|(since, _)| since.elapsed() < AHEAD);
        }
    }

    fn accept(&mut self, number: u64, turn: &mut RelayTurn) {
        const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);
        for _ in 0..ACCEPTED_AT_ONCE {
            let Some(entrance) = self.entrances.get_mut(&number) else { return };
            let accepted = match accept_with(&entrance.socket, FLAGS) {
                Ok(accepted) => accepted,
                Err(Errno::MFILE | Errno::NFILE) => {
                    self.spare = None;
                    if let Ok(accepted) = accept_with(&entrance.socket, FLAGS) {
                        reset(&accepted);
                    }
                    self.spare = spare();
                    return;
                }
                Err(_) => return,
            };
            if self.pairs.len() + self.leaving.len() >= self.most {
                reset(&accepted);
                continue;
            }
            // One that the other side has closed meanwhile is of no use.
            let mut ahead = std::iter::from_fn(|| entrance.ahead.pop_front());
            if let Some((_, connected)) = ahead.find(|(_, socket)| is_open(socket)) {
                self.pair(accepted, connected, None, number, turn);
                continue;
            }
            let targets = entrance.targets.lock().unwrap_or_else(PoisonError::into_inner).clone();
            self.connect(accepted, targets, number, turn);
        }
    }

    /// Connects to the first address that does not refuse at once.
    fn connect(
        &mut self,
        accepted: OwnedFd,
        mut targets: Vec<SocketAddr>,
        listener: u64,
        turn: &mut RelayTurn,
    ) {
        while !targets.is_empty() {
            let target = targets.remove(0);
            match begin(&target) {
                Ok((connected, state)) => {
                    let rest = (state == Connecting::Pending).then_some(targets);
                    return self.pair(accepted, connected, rest, listener, turn);
                }
                Err(_) => continue,
            }
        }
        reset(&accepted);
        turn.refused.push(listener);
    }

    fn pair(
        &mut self,
        accepted: OwnedFd,
        connected: OwnedFd,
        connecting: Option<Vec<SocketAddr>>,
        listener: u64,
        turn: &mut RelayTurn,
    ) {
        let number = self.next;
        self.next += 2;
        let sockets = [accepted, connected];
        for socket in &sockets {
            let _ = sockopt::set_tcp_nodelay(socket, true);
        }
        let is_watched = self.watch_socket(number, &sockets[0]).is_ok()
            && self.watch_socket(number + 1, &sockets[1]).is_ok();
        if !is_watched {
            return sockets.iter().for_each(reset);
        }
        self.pairs.insert(
            number,
            Pair { sockets, connecting, listener, directions: [Direction::Open; 2] },
        );
        self.serve(number, turn);
    }

    fn watch_socket(&self, number: u64, socket: &OwnedFd) -> io::Result<()> {
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(number), flags)?)
    }

    /// Copies what there is, both ways. `number`: of one of the two sockets.
    fn serve(&mut self, number: u64, turn: &mut RelayTurn) {
        let number = number & !1;
        let Some(mut pair) = self.pairs.remove(&number) else { return };
        if let Some(rest) = pair.connecting.take() {
            let [accepted, connected] = &pair.sockets;
            match progress(connected) {
                Ok(Connecting::Done) => {}
                Ok(Connecting::Pending) => {
                    pair.connecting = Some(rest);
                    self.pairs.insert(number, pair);
                    return;
                }
                Err(_) => {
                    let _ = epoll::delete(&self.epoll, accepted);
                    let [accepted, _] = pair.sockets;
                    return self.connect(accepted, rest, pair.listener, turn);
                }
            }
        }
        match copy(&pair.sockets, &mut pair.directions, &mut self.buffer) {
            Copied::Broken => self.leave(pair.sockets, true),
            Copied::Left => self.leave(pair.sockets, false),
            Copied::Ended => {}
            Copied::More => {
                self.again.push_back(number);
                self.pairs.insert(number, pair);
            }
            Copied::Blocked => drop(self.pairs.insert(number, pair)),
        }
    }

    /// Closes sockets of which one has data that is not read any more, or is to be reset.
    fn leave(&mut self, sockets: [OwnedFd; 2], is_broken: bool) {
        let pair = LeavingPair::new(sockets, is_broken);
        if !pair.is_due() {
            self.leaving.push(pair);
        }
    }
}

#[cfg(test)]
mod tests;
