//! The thread in the host's network: it connects what comes to ports that lead to the host, and opens
//! published ports. It answers the warden.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forkline_protocol::{receive_now, send};

use crate::sandbox::kept::patiently;
use crate::sandbox::ports::ask::Ask;
use crate::sandbox::ports::inside::{InsideThread, ReachEntrance};
use crate::sandbox::ports::plan::PortPlan;
use crate::sandbox::ports::published::Publishing;
use crate::sandbox::ports::relay::Relay;
use crate::sandbox::ports::sockets::{Connecting, LOOPBACK, begin, progress};
use crate::signals;

const ASKED: u64 = 1;
/// The number of the first listener.
const FIRST: u64 = 16;
/// How long a server of the host may take to accept before its client is let in without it.
const PATIENCE: Duration = Duration::from_millis(50);
/// The longest question, in bytes.
const LONGEST: usize = 512;

/// A listener inside that leads to the host.
struct ReachWay {
    number: u64,
    address: SocketAddr,
    targets: Vec<SocketAddr>,
}

pub struct HostRelay {
    relay: Relay,
    plan: PortPlan,
    asks: OwnedFd,
    inside: InsideThread,
    ways: Vec<ReachWay>,
}

impl HostRelay {
    pub fn new(
        plan: PortPlan,
        most: usize,
        asks: OwnedFd,
        inside: InsideThread,
        entrances: Vec<ReachEntrance>,
    ) -> io::Result<HostRelay> {
        let mut relay = Relay::new(most)?;
        relay.watch(ASKED, asks.as_fd())?;
        let mut ways = Vec::new();
        for ReachEntrance { reached, sockets } in entrances {
            let targets = LOOPBACK.map(|ip| SocketAddr::new(ip, reached.host)).to_vec();
            for socket in sockets {
                let number = FIRST + ways.len() as u64;
                let address = socket.local_addr()?;
                relay.open(number, socket, Arc::new(Mutex::new(targets.clone())))?;
                ways.push(ReachWay { number, address, targets: targets.clone() });
            }
        }
        Ok(HostRelay { relay, plan, asks, inside, ways })
    }

    /// Relays, and answers, until the warden is gone.
    pub fn relay(mut self) -> io::Result<()> {
        loop {
            let turn = self.relay.turn(None);
            if turn.readable.contains(&ASKED) {
                self.answer_all()?;
            }
        }
    }

    fn answer_all(&mut self) -> io::Result<()> {
        let mut message = [0; LONGEST];
        loop {
            match receive_now(self.asks.as_fd(), &mut message) {
                Ok(received) if received.length == 0 => {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                Ok(received) => {
                    let asked = message.get(..received.length).and_then(Ask::decode);
                    let answer = asked.map_or_else(String::new, |asked| self.answer(asked));
                    patiently(|| send(self.asks.as_fd(), [b"=", answer.as_bytes()], &[]));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn answer(&mut self, asked: Ask) -> String {
        match asked {
            Ask::Reach(address) => self.reach(address).to_string(),
            Ask::Listens(listening) => {
                let relay = |opened| self.inside.relay(opened);
                match self.inside.published.publish(&self.plan, &listening, relay) {
                    Publishing::Private => String::new(),
                    Publishing::Open(tell) => tell.word,
                    Publishing::Refused(tell) => {
                        self.inside.wake();
                        tell.word
                    }
                }
            }
        }
    }

    /// Connects to the port of the host ahead of the client inside, so that a refusal is one for the client,
    /// too. Returns an errno, or 0.
    fn reach(&mut self, address: SocketAddr) -> i32 {
        let Some(way) = self.ways.iter().find(|way| way.address == address) else { return 0 };
        for target in &way.targets {
            match begin(target) {
                Ok((socket, Connecting::Done)) => {
                    self.relay.add_ahead(way.number, socket);
                    return 0;
                }
                Ok((socket, Connecting::Pending)) => {
                    signals::wait([Some((socket.as_fd(), libc::POLLOUT))], Some(PATIENCE));
                    match progress(&socket) {
                        Ok(Connecting::Done) => {
                            self.relay.add_ahead(way.number, socket);
                            return 0;
                        }
                        Ok(Connecting::Pending) => return 0,
                        Err(_) => {}
                    }
                }
                Err(rustix::io::Errno::CONNREFUSED | rustix::io::Errno::ADDRNOTAVAIL) => {}
                // The connection is reset later.
                Err(_) => return 0,
            }
        }
        libc::ECONNREFUSED
    }
}
