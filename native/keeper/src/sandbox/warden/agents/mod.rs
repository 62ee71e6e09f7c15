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
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::sandbox::agents::{GpgAgent, SshAgent, inside};
pub use asker::Asker;
pub use outside::OutsideAgents;
use outside::OutsideFile;
use signer::{Signatures, Signer, Tell, Which};

/// The most callers at once.
const MOST_CALLERS: usize = 16;

/// A connection to the broker.
pub struct AgentCall {
    which: Which,
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
    callers: AtomicUsize,
    signed: Signatures,
}

impl Broker {
    /// Makes the broker in the sandbox's file system. `listeners`: the sockets made there.
    pub fn new(outside: OutsideAgents, listeners: Vec<OwnedFd>) -> Broker {
        let mut listeners = listeners.into_iter();
        let OutsideAgents { ssh, known_hosts, gpg } = outside;
        let ssh = ssh.and_then(|(agent, socket)| {
            Served::new(agent, socket, listeners.next()?, inside::SSH).ok()
        });
        let gpg = gpg.and_then(|(agent, socket)| {
            Served::new(agent, socket, listeners.next()?, inside::GPG).ok()
        });
        Broker { ssh, known_hosts, gpg, ..Broker::default() }
    }

    /// Returns the agent whose socket a file is, by the file's device and inode.
    pub fn at(&self, identity: (u64, u64)) -> Option<Which> {
        let ssh = self.ssh.as_ref().filter(|served| served.identity == identity);
        let gpg = self.gpg.as_ref().filter(|served| served.identity == identity);
        ssh.map(|_| Which::Ssh).or(gpg.map(|_| Which::Gpg))
    }

    /// AgentCalls the broker: `connect` connects the caller's socket. An error is the errno for the caller.
    pub fn call(
        &self,
        which: Which,
        connect: impl FnOnce() -> Result<(), i32>,
    ) -> Result<AgentCall, i32> {
        let listener = match which {
            Which::Ssh => self.ssh.as_ref().map(|served| &served.listener),
            Which::Gpg => self.gpg.as_ref().map(|served| &served.listener),
        };
        // Nobody else connects meanwhile: the connection that is accepted is the caller's.
        let listener = listener.ok_or(libc::ECONNREFUSED)?;
        let listener = listener.lock().unwrap_or_else(PoisonError::into_inner);
        if self.callers.load(Ordering::Acquire) >= MOST_CALLERS {
            return Err(libc::ECONNREFUSED);
        }
        connect()?;
        let (stream, _) = listener.accept().map_err(|_| libc::ECONNREFUSED)?;
        self.callers.fetch_add(1, Ordering::AcqRel);
        let call = AgentCall { which, stream };
        call.stream.set_nonblocking(false).map_err(|_| libc::ECONNREFUSED)?;
        Ok(call)
    }

    /// Serves a caller until it or the agent closes the connection.
    pub fn serve(&self, call: AgentCall, asker: Asker, tell: Tell) {
        let AgentCall { which, stream } = call;
        let signer = Signer { signed: &self.signed, which, asker, tell };
        // An end of the connection at any moment is no error.
        let _ = match (which, &self.ssh, &self.gpg) {
            (Which::Ssh, Some(ssh), _) => {
                ssh::serve(stream, &ssh.agent, &ssh.socket, &self.known_hosts, &signer)
            }
            (Which::Gpg, _, Some(gpg)) => gpg::serve(stream, &gpg.agent, &gpg.socket, &signer),
            _ => Ok(()),
        };
    }

    /// Takes note that a caller is gone.
    pub fn leave(&self) {
        self.callers.fetch_sub(1, Ordering::AcqRel);
    }
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
