//! The broker between commands and the user's agents. It passes on what a signature takes, and nothing
//! else, and tells each signature before the command has it.
//!
//! A command calls it by a socket in the sandbox. Each caller has a connection of its own to the agent.

mod asker;
mod gpg;
mod outside;
mod signer;
mod ssh;

use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sandbox::agents::{GpgAgent, SshAgent, inside};
use asker::Asker;
pub use outside::OutsideAgents;
use outside::OutsideFile;
use signer::{Signatures, Signer, Tell, Which, refusal};

/// The most connections of one command at once, as the words in src/engine/agents/agent-news.ts say; and of all.
const MOST_OF_ONE: usize = 16;
const MOST_OF_ALL: usize = 256;

/// A connection to the broker.
pub struct AgentCall {
    which: Which,
    stream: UnixStream,
    asker: Asker,
    /// Its number among all that there have been.
    pub number: u64,
}

/// An open connection, as the broker knows it besides.
struct OpenCall {
    number: u64,
    asker: Asker,
    stream: UnixStream,
}

/// An agent, and where it is called.
struct Served<Agent> {
    agent: Agent,
    socket: OutsideFile,
    listener: Mutex<UnixListener>,
    /// Device and inode of the socket that commands see.
    identity: (u64, u64),
}

/// The broker's state, which all callers share.
#[derive(Default)]
pub struct Broker {
    ssh: Option<Served<SshAgent>>,
    known_hosts: Vec<OutsideFile>,
    gpg: Option<Served<GpgAgent>>,
    /// The parent of all cradles, by its process id outside.
    keeper: i32,
    open: Mutex<Vec<OpenCall>>,
    /// How many connections there have been.
    calls: AtomicU64,
    signed: Signatures,
}

impl Broker {
    /// Makes the broker in the sandbox's file system. `listeners`: the sockets made there. `keeper`: the process id
    /// outside of the keeper.
    pub fn new(outside: OutsideAgents, listeners: Vec<OwnedFd>, keeper: i32) -> Broker {
        let mut listeners = listeners.into_iter();
        let OutsideAgents { ssh, known_hosts, gpg } = outside;
        let ssh = ssh.and_then(|(agent, socket)| {
            Served::new(agent, socket, listeners.next()?, inside::SSH).ok()
        });
        let gpg = gpg.and_then(|(agent, socket)| {
            Served::new(agent, socket, listeners.next()?, inside::GPG).ok()
        });
        Broker { ssh, known_hosts, gpg, keeper, ..Broker::default() }
    }

    /// Returns the agent whose socket a file is, by the file's device and inode.
    pub fn at(&self, identity: (u64, u64)) -> Option<Which> {
        let ssh = self.ssh.as_ref().filter(|served| served.identity == identity);
        let gpg = self.gpg.as_ref().filter(|served| served.identity == identity);
        ssh.map(|_| Which::Ssh).or(gpg.map(|_| Which::Gpg))
    }

    /// Calls the broker: `connect` connects the caller's socket, once the command is known that the caller is of. An
    /// error is the errno for the caller. `tell`: tells the command of a refusal.
    pub fn call(
        &self,
        which: Which,
        pid: i32,
        connect: impl FnOnce() -> Result<(), i32>,
        tell: &dyn Fn(i32, String),
    ) -> Result<AgentCall, i32> {
        let asker = Asker::of(pid, self.keeper).ok_or(libc::ECONNREFUSED)?;
        let listener = match which {
            Which::Ssh => self.ssh.as_ref().map(|served| &served.listener),
            Which::Gpg => self.gpg.as_ref().map(|served| &served.listener),
        };
        // Nobody else connects meanwhile.
        let listener = listener.ok_or(libc::ECONNREFUSED)?;
        let listener = listener.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_full(asker) {
            tell(pid, refusal(which, "full", ""));
            return Err(libc::ECONNREFUSED);
        }
        let stream = accept_alone(&listener, connect)?;
        let refused = |_| libc::ECONNREFUSED;
        let number = self.calls.fetch_add(1, Ordering::AcqRel);
        let known = OpenCall { number, asker, stream: stream.try_clone().map_err(refused)? };
        self.open().push(known);
        Ok(AgentCall { which, stream, asker, number })
    }

    /// Returns whether a command has all connections that it may have. Ends those of commands that have ended, which
    /// get nothing any more.
    fn is_full(&self, asker: Asker) -> bool {
        let mut open = self.open();
        open.retain(|call| {
            let still_runs = call.asker.still_runs();
            if !still_runs {
                let _ = call.stream.shutdown(Shutdown::Both);
            }
            still_runs
        });
        let own = open.iter().filter(|call| call.asker == asker).count();
        own >= MOST_OF_ONE || open.len() >= MOST_OF_ALL
    }

    fn open(&self) -> MutexGuard<'_, Vec<OpenCall>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves a caller until it or the agent closes the connection.
    pub fn serve(&self, call: AgentCall, tell: Tell) {
        let AgentCall { which, stream, asker, number } = call;
        let signer = Signer { signed: &self.signed, which, asker, tell };
        // An end of the connection at any moment is no error.
        let _ = match (which, &self.ssh, &self.gpg) {
            (Which::Ssh, Some(ssh), _) => {
                ssh::serve(stream, &ssh.agent, &ssh.socket, &self.known_hosts, &signer)
            }
            (Which::Gpg, _, Some(gpg)) => gpg::serve(stream, &gpg.agent, &gpg.socket, &signer),
            _ => Ok(()),
        };
        self.leave(number);
    }

    /// Takes note that a caller is gone.
    pub fn leave(&self, number: u64) {
        self.open().retain(|call| call.number != number);
    }
}

/// Accepts the connection that `connect` makes, while nobody else makes one. One from before, which could not be
/// accepted then, is another caller's: that is ended.
fn accept_alone(
    listener: &UnixListener,
    connect: impl FnOnce() -> Result<(), i32>,
) -> Result<UnixStream, i32> {
    let refused = |_| libc::ECONNREFUSED;
    loop {
        match listener.accept() {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(refused(error)),
        }
    }
    connect()?;
    let (stream, _) = listener.accept().map_err(refused)?;
    stream.set_nonblocking(false).map_err(refused)?;
    Ok(stream)
}

impl<Agent> Served<Agent> {
    fn new(
        agent: Agent,
        socket: OutsideFile,
        listener: OwnedFd,
        path: &str,
    ) -> io::Result<Served<Agent>> {
        let found = std::fs::symlink_metadata(path)?;
        let listener = Mutex::new(UnixListener::from(listener));
        Ok(Served { agent, socket, listener, identity: (found.dev(), found.ino()) })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn a_connection_that_was_left_is_not_taken_for_the_next_one() {
        let path = std::env::temp_dir().join(format!("broker-{}", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        let mut left = UnixStream::connect(&path).unwrap();
        let mut own = None;
        let accepted = accept_alone(&listener, || {
            own = UnixStream::connect(&path).ok();
            Ok(())
        });
        std::fs::remove_file(&path).unwrap();
        own.unwrap().write_all(b"own").unwrap();
        let mut text = String::new();
        accepted.unwrap().read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), left.read(&mut [0]).unwrap()), ("own", 0));
    }
}
