//! The socket of a detached command, and the clients that have connected.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use forkline_protocol::task::{TaskState, TerminalSize};

use super::client::Client;
use super::input::StdinPipe;
use super::terminal::KeptTerminal;
use crate::signals;

/// The most clients; further ones are disconnected. A process that shows a terminal is two.
const MOST: usize = 64;

/// How long to accept no client after an error, for example at the limit of descriptors.
const PAUSE: Duration = Duration::from_millis(200);

pub struct Clients {
    acceptor: Option<Acceptor>,
    connected: Vec<Client>,
}

struct Acceptor {
    listener: UnixListener,
    path: PathBuf,
    closed_until: Option<Instant>,
}

impl Clients {
    /// Makes a socket beside `output`, if the file system allows it.
    pub fn listen(output: &Path) -> Clients {
        let path = output.with_extension("socket");
        let acceptor =
            bind(&path).ok().map(|listener| Acceptor { listener, path, closed_until: None });
        Clients { acceptor, connected: Vec::new() }
    }

    /// Removes the socket's file, so that no client can connect any more.
    pub fn unlink(&self) {
        if let Some(acceptor) = &self.acceptor {
            let _ = std::fs::remove_file(&acceptor.path);
        }
    }

    pub fn connected(&self) -> &[Client] {
        &self.connected
    }

    pub fn get(&mut self, index: usize) -> Option<&mut Client> {
        self.connected.get_mut(index)
    }

    pub fn each(&mut self, act: impl FnMut(&mut Client)) {
        self.connected.iter_mut().for_each(act);
    }

    pub fn drop_gone(&mut self) {
        self.connected.retain(|client| !client.is_gone());
    }

    /// Sends what is due to all clients. Returns whether any client was sent all of it, and so may call
    /// again.
    pub fn send_state(&mut self, state: &TaskState, terminal: Option<&KeptTerminal>) -> bool {
        self.connected.iter_mut().fold(false, |any, client| client.send(state, terminal) | any)
    }

    /// Returns the smallest of the clients' windows; None: no client has one.
    pub fn smallest_window(&self) -> Option<TerminalSize> {
        let windows = self.connected.iter().filter_map(Client::window);
        windows.map(|(_, size)| size).reduce(|one, other| TerminalSize {
            columns: one.columns.min(other.columns),
            rows: one.rows.min(other.rows),
        })
    }

    /// Returns whether the client with this index has the oldest window, or none has one.
    pub fn is_first(&self, index: usize) -> bool {
        let since = |client: &Client| client.window().map(|(since, _)| since);
        let oldest = self.connected.iter().filter_map(since).min();
        oldest.is_none() || self.connected.get(index).and_then(since) == oldest
    }

    /// Writes to the command's stdin, one client's write after another, so that none is split by another
    /// one. Returns whether a write was finished.
    pub fn write_input(&mut self, input: &mut Option<StdinPipe>) -> bool {
        let waiting = |all: &[Client]| all.iter().filter(|client| client.is_writing()).count();
        let before = waiting(&self.connected);
        let first = self.connected.iter().position(Client::is_half_written).unwrap_or(0);
        self.connected.rotate_left(first);
        for client in &mut self.connected {
            client.write_input(input);
            if client.is_writing() {
                break;
            }
        }
        waiting(&self.connected) < before
    }

    /// Returns when to accept clients again.
    pub fn due(&mut self, now: Instant) -> Option<Instant> {
        let acceptor = self.acceptor.as_mut()?;
        acceptor.closed_until = acceptor.closed_until.filter(|until| *until > now);
        acceptor.closed_until
    }

    /// Waits until a client connects or sends something, another descriptor is ready, there is a signal,
    /// or the time is over. Reads what has arrived.
    pub fn wait<const N: usize>(
        &mut self,
        others: [(Option<i32>, i16); N],
        time: Option<Duration>,
    ) {
        // Numbers below 0 are ignored.
        let watch =
            |fd: Option<i32>, events| libc::pollfd { fd: fd.unwrap_or(-1), events, revents: 0 };
        let acceptor = self.acceptor.as_ref().filter(|acceptor| acceptor.closed_until.is_none());
        let acceptor = acceptor.map(|acceptor| acceptor.listener.as_raw_fd());
        let mut watched = vec![watch(acceptor, libc::POLLIN)];
        watched.extend(others.map(|(fd, events)| watch(fd, events)));
        watched.extend(self.connected.iter().map(Client::watched));
        signals::wait_for(&mut watched, time);
        for (client, seen) in self.connected.iter_mut().zip(watched.iter().skip(1 + N)) {
            if seen.revents & !libc::POLLOUT != 0 {
                client.receive();
            }
        }
        if watched.first().is_some_and(|acceptor| acceptor.revents != 0) {
            self.accept_clients(Instant::now());
        }
    }

    /// Accepts the clients that want to connect.
    fn accept_clients(&mut self, now: Instant) {
        let Some(acceptor) = &mut self.acceptor else { return };
        loop {
            match acceptor.listener.accept() {
                Ok((socket, _)) if self.connected.len() < MOST && is_allowed(&socket) => {
                    self.connected.push(Client::new(socket));
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    acceptor.closed_until = Some(now + PAUSE);
                    return;
                }
            }
        }
    }
}

/// Makes a socket of mode 0600. It is bound by its name in its directory, since the kernel takes short
/// paths only.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    std::env::set_current_dir(path.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
    // SAFETY: takes a number, and there is one thread.
    let mask = unsafe { libc::umask(0o177) };
    let listener = UnixListener::bind(name);
    // SAFETY: takes a number, and there is one thread.
    unsafe { libc::umask(mask) };
    // A directory in which this process keeps nothing busy.
    std::env::set_current_dir("/")?;
    let listener = listener?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Returns whether the client is of the same user, or root's. Makes its socket non-blocking.
fn is_allowed(socket: &UnixStream) -> bool {
    let mut peer = MaybeUninit::<libc::ucred>::zeroed();
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: fills the structure, which has the given size and is valid as zeros.
    let (told, peer) = unsafe {
        let told = libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            peer.as_mut_ptr().cast(),
            &mut size,
        );
        (told == 0, peer.assume_init())
    };
    // SAFETY: takes nothing.
    let own = unsafe { libc::geteuid() };
    told && (peer.uid == own || peer.uid == 0) && socket.set_nonblocking(true).is_ok()
}
