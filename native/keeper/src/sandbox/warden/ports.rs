//! What the warden does for ports that are relayed: it has the relay connect ahead to a port of the host, and
//! tells it who listens.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use forkline_protocol::{receive, receive_now, send};
use rustix::net::{AddressFamily, SocketType, getsockname, sockopt};

use crate::cradle::roster;
use crate::sandbox::notices::{Listener, Notice};
use crate::sandbox::ports::ask::{Ask, Listening, PortNotice, RelayLine};
use crate::sandbox::ports::plan::PortPlan;
use crate::sandbox::warden::caller::Caller;
use crate::signals;

/// The longest time that the relay takes to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest answer, in bytes.
const LONGEST: usize = 512;

/// The relay, as the warden sees it.
pub struct RelayedPorts {
    /// None: the relay is gone.
    asks: Mutex<Option<OwnedFd>>,
    news: OwnedFd,
    /// The ports inside that lead to the host.
    reach: Vec<u16>,
}

impl RelayedPorts {
    pub fn new(plan: &PortPlan, line: RelayLine) -> RelayedPorts {
        let reach = plan.reach.iter().map(|reached| reached.inside).collect();
        RelayedPorts { asks: Mutex::new(Some(line.asks)), news: line.news, reach }
    }

    /// Decides on a connection, before it is made. The error is ECONNREFUSED where no server of the host
    /// listens on the port that this one leads to.
    pub fn reach(&self, socket: &OwnedFd, target: Option<SocketAddr>) -> Result<(), i32> {
        let Some(target) = target.map(loopback) else { return Ok(()) };
        let is_stream = sockopt::socket_type(socket) == Ok(SocketType::STREAM);
        if !is_stream || !target.ip().is_loopback() || !self.reach.contains(&target.port()) {
            return Ok(());
        }
        match self.ask(&Ask::Reach(target)).map(|answer| answer.parse()) {
            Some(Ok(errno @ 1..)) => Err(errno),
            _ => Ok(()),
        }
    }

    /// Listens in place of the caller, and has the port published before the caller goes on. Returns the news
    /// for the caller's command. The error is the errno for the caller; None: the call is none of the relay's.
    pub fn listen(
        &self,
        listener: &Listener,
        notice: &Notice,
        keeper: i32,
    ) -> Result<Option<PortNotice>, Option<i32>> {
        let [number, backlog, ..] = notice.arguments;
        let pid = notice.pid as i32;
        let socket = Caller::unknown(pid).descriptor(number as i32).map_err(|_| None)?;
        if !listener.stands(notice) {
            return Err(None);
        }
        let family = sockopt::socket_domain(&socket);
        if !matches!(family, Ok(AddressFamily::INET | AddressFamily::INET6)) {
            return Err(None);
        }
        // SAFETY: takes numbers only.
        if unsafe { libc::listen(socket.as_raw_fd(), backlog as i32) } != 0 {
            return Err(io::Error::last_os_error().raw_os_error());
        }
        Ok(self.publish(&socket, pid, keeper))
    }

    fn publish(&self, socket: &OwnedFd, pid: i32, keeper: i32) -> Option<PortNotice> {
        let address = SocketAddr::try_from(getsockname(socket).ok()?).ok()?;
        let cradle = roster::cradle_above(pid, keeper)?;
        let pid = Caller::unknown(pid).leader().unwrap_or(pid);
        let ask = Ask::Listens(Listening { address, cradle, pid, name: name(pid) });
        let word = self.ask(&ask).filter(|word| !word.is_empty())?;
        Some(PortNotice { cradle, word })
    }

    /// Calls `tell` with news of the relay, until it is gone.
    pub fn watch(&self, tell: impl Fn(PortNotice)) {
        let mut message = [0; LONGEST];
        loop {
            match receive(self.news.as_fd(), &mut message) {
                Ok(received) if received.length == 0 => return,
                Ok(received) => {
                    message
                        .get(..received.length)
                        .and_then(PortNotice::decode)
                        .into_iter()
                        .for_each(&tell);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    fn ask(&self, ask: &Ask) -> Option<String> {
        let mut asks = self.asks.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = asks.as_ref().and_then(|socket| exchange(socket, &ask.encode()));
        if answer.is_none() {
            // A late answer must not be taken for that to another question.
            *asks = None;
        }
        answer
    }
}

fn exchange(socket: &OwnedFd, question: &str) -> Option<String> {
    send(socket.as_fd(), [question.as_bytes(), b""], &[]).ok()?;
    signals::wait([Some((socket.as_fd(), libc::POLLIN))], Some(PATIENCE));
    let mut message = [0; LONGEST];
    let received = receive_now(socket.as_fd(), &mut message).ok()?;
    let answer = message.get(..received.length)?.strip_prefix(b"=")?;
    String::from_utf8(answer.to_vec()).ok()
}

/// Returns the address that a connection arrives at: the unspecified one stands for the loopback.
fn loopback(target: SocketAddr) -> SocketAddr {
    let ip = match target.ip().to_canonical() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, target.port())
}

/// Returns the name of a process, which can choose it: other signs than these would end the word.
fn name(pid: i32) -> String {
    let name = std::fs::read_to_string(format!("{pid}/comm")).unwrap_or_default();
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "._-+:/()".contains(sign);
    let name: String =
        name.trim().chars().map(|sign| if is_plain(sign) { sign } else { '_' }).collect();
    if name.is_empty() { "?".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unspecified_address_arrives_at_the_loopback() {
        let at = |text: &str| loopback(text.parse().unwrap()).to_string();
        assert_eq!(at("0.0.0.0:1"), "127.0.0.1:1");
        assert_eq!(at("[::]:2"), "[::1]:2");
        assert_eq!(at("[::ffff:127.0.0.1]:3"), "127.0.0.1:3");
        assert_eq!(at("127.0.0.2:4"), "127.0.0.2:4");
    }
}
