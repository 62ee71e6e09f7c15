//! Connects a socket of a caller in the sandbox.
//!
//! The address is copied, the socket is the caller's own, and a path is opened once: what is checked is
//! what is connected to, whatever the caller changes meanwhile.

use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::sandbox::denied;
use crate::sandbox::notices::{Listener, Notice};
use crate::sandbox::plan::{Access, Plan};
use crate::sandbox::warden::agents::{AgentCall, Broker};
use crate::sandbox::warden::caller::{Caller, path_of};
use crate::sandbox::warden::owners;
use crate::sandbox::warden::ports::RelayedPorts;

/// The most bytes of an address.
const LONGEST: usize = 128;
const FAMILY: usize = 2;
/// The port of DNS servers.
const NAMES: u16 = 53;

/// The rules for connections, which are the same for all callers.
pub struct ConnectPolicy {
    /// The devices of the sandbox's own file systems.
    own_devices: Vec<u64>,
    /// Sockets outside that may be connected to.
    allowed: Vec<PathBuf>,
    /// Whether abstract sockets are the sandbox's own.
    has_own_network: bool,
    /// Whether nothing but the loopback interface is reachable, and there is no proxy.
    has_no_network: bool,
}

/// A function that tells of a process's denial.
type TellDenied<'a> = &'a dyn Fn(i32, String);

impl ConnectPolicy {
    /// Returns the rules of a resolved plan.
    pub fn of(plan: &Plan) -> ConnectPolicy {
        ConnectPolicy {
            own_devices: own_devices(plan),
            allowed: plan.paths(Access::Socket).map(Path::to_owned).collect(),
            has_own_network: !plan.network,
            has_no_network: !plan.network && plan.proxy.is_none(),
        }
    }

    /// Connects the caller's socket as asked, unless it is to a socket outside. Returns a connection to the
    /// broker of the user's agents, if it is one. An error is the errno for the caller.
    pub fn connect(
        &self,
        listener: &Listener,
        notice: &Notice,
        ports: Option<&RelayedPorts>,
        broker: &Broker,
        tell_denied: TellDenied,
    ) -> Result<Option<AgentCall>, i32> {
        let [socket, address, length, ..] = notice.arguments;
        let caller = Caller::of(notice.pid as i32)?;
        let address = caller.read(address, (length as u32 as usize).min(LONGEST))?;
        let socket = caller.descriptor(socket as i32)?;
        if !listener.stands(notice) {
            return Err(libc::EINTR);
        }
        let is_unix = option(&socket, libc::SO_DOMAIN)? == libc::AF_UNIX;
        match address.split_at_checked(FAMILY) {
            Some((family, name)) if is_unix && family == (libc::AF_UNIX as u16).to_ne_bytes() => {
                let stands = || listener.stands(notice);
                self.connect_by_name(&caller, &socket, name, (broker, &stands), tell_denied)
            }
            _ => {
                if let Some(ports) = ports {
                    ports.reach(&socket, internet(&address))?;
                }
                let result = caller.act(|| connect_to(&socket, &address));
                if result == Err(libc::ENETUNREACH) && self.has_no_network {
                    tell_unreachable(&caller, &socket, &address, tell_denied);
                }
                result.map(|()| None)
            }
        }
    }

    fn connect_by_name(
        &self,
        caller: &Caller,
        socket: &OwnedFd,
        name: &[u8],
        (broker, stands): (&Broker, &dyn Fn() -> bool),
        tell_denied: TellDenied,
    ) -> Result<Option<AgentCall>, i32> {
        let path = name.split(|byte| *byte == 0).next().unwrap_or_default();
        if path.is_empty() {
            let is_own = self.has_own_network || owners::have_bound_name(name);
            // As for a name without a socket.
            return if is_own {
                caller.act(|| connect_to(socket, &unix(name))).map(|()| None)
            } else {
                Err(libc::ECONNREFUSED)
            };
        }
        let place = caller.place(path)?;
        let file = caller.act(|| place.open())?;
        let opened = format!("self/fd/{}\0", file.as_raw_fd());
        let connect = || caller.act(|| connect_to(socket, &unix(opened.as_bytes())));
        let status = owners::status(&file).map_err(|error| errno(&error))?;
        if let Some(which) = broker.at((status.st_dev, status.st_ino)) {
            // Whoever has this number now is the caller, as long as it waits.
            let connect = || if stands() { connect() } else { Err(libc::EINTR) };
            return broker.call(which, caller.pid, connect, tell_denied).map(Some);
        }
        if !self.may_connect(&file)? {
            let told = path_of(&file).unwrap_or_default();
            tell_denied(caller.pid, denied::connection(&told.to_string_lossy()));
            return Err(libc::EACCES);
        }
        connect().map(|()| None)
    }

    fn may_connect(&self, file: &OwnedFd) -> Result<bool, i32> {
        let status = owners::status(file).map_err(|error| errno(&error))?;
        if status.st_mode & libc::S_IFMT != libc::S_IFSOCK {
            return Err(libc::ECONNREFUSED);
        }
        Ok(self.own_devices.contains(&status.st_dev)
            || path_of(file).is_ok_and(|path| self.allowed.contains(&path))
            || owners::have_bound_file(&status))
    }
}

/// Returns the devices of the sandbox's own directories, except those that the plan replaces by the
/// host's.
fn own_devices(plan: &Plan) -> Vec<u64> {
    let is_own = |path: &PathBuf| !plan.rules.iter().any(|rule| path.starts_with(&rule.path));
    let paths =
        plan.own_directories().iter().filter_map(|path| fs::canonicalize(path).ok()).filter(is_own);
    let places = paths.filter_map(|path| fs::metadata(path).ok()).filter(fs::Metadata::is_dir);
    places.map(|place| place.dev()).collect()
}

/// Tells of a connection to an unreachable address. For datagram sockets only DNS servers count: programs
/// connect others to find out which local address they would use.
fn tell_unreachable(caller: &Caller, socket: &OwnedFd, address: &[u8], tell_denied: TellDenied) {
    let is_stream = option(socket, libc::SO_TYPE) == Ok(libc::SOCK_STREAM);
    let target = internet(address).filter(|target| is_stream || target.port() == NAMES);
    if let Some(target) = target {
        tell_denied(caller.pid, denied::connection(&target.to_string()));
    }
}

/// Parses an internet address in the kernel's format.
fn internet(address: &[u8]) -> Option<SocketAddr> {
    let (family, rest) = address.split_first_chunk::<FAMILY>()?;
    let (port, rest) = rest.split_first_chunk::<2>()?;
    let ip: IpAddr = match i32::from(u16::from_ne_bytes(*family)) {
        libc::AF_INET => (*rest.first_chunk::<4>()?).into(),
        // The address follows the flow label.
        libc::AF_INET6 => (*rest.get(4..)?.first_chunk::<16>()?).into(),
        _ => return None,
    };
    Some((ip, u16::from_be_bytes(*port)).into())
}

/// Makes a datagram socket that can't send.
pub fn muted(kind: i32, protocol: i32) -> Result<OwnedFd, i32> {
    // SAFETY: take numbers only; nothing else owns the socket.
    unsafe {
        let socket = done(libc::socket(libc::AF_UNIX, kind | libc::SOCK_CLOEXEC, protocol))?;
        let socket = OwnedFd::from_raw_fd(socket);
        done(libc::shutdown(socket.as_raw_fd(), libc::SHUT_WR))?;
        Ok(socket)
    }
}

fn unix(name: &[u8]) -> Vec<u8> {
    [&(libc::AF_UNIX as u16).to_ne_bytes(), name].concat()
}

fn connect_to(socket: &OwnedFd, address: &[u8]) -> Result<(), i32> {
    // SAFETY: reads as many bytes as it is told.
    let result = unsafe {
        libc::connect(socket.as_raw_fd(), address.as_ptr().cast(), address.len() as libc::socklen_t)
    };
    done(result).map(drop)
}

fn option(socket: &OwnedFd, name: i32) -> Result<i32, i32> {
    let (mut value, mut size) = (0_i32, size_of::<i32>() as libc::socklen_t);
    // SAFETY: fills the integer, whose size it is told.
    let result = unsafe {
        let value = (&raw mut value).cast();
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, name, value, &mut size)
    };
    done(result).map(|_| value)
}

fn done(result: i32) -> Result<i32, i32> {
    if result >= 0 { Ok(result) } else { Err(errno(&io::Error::last_os_error())) }
}

fn errno(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EACCES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_the_internet_is_read() {
        let family = |family: i32| (family as u16).to_ne_bytes();
        let four = [&family(libc::AF_INET)[..], &[0, 53, 10, 0, 0, 2], &[0; 8]].concat();
        assert_eq!(internet(&four).map(|it| it.to_string()), Some("10.0.0.2:53".into()));
        let six = [&family(libc::AF_INET6)[..], &[1, 187, 0, 0, 0, 0], &[0; 15], &[1; 5]].concat();
        assert_eq!(internet(&six).map(|it| it.to_string()), Some("[::1]:443".into()));
        assert_eq!((internet(&four[..7]), internet(&[])), (None, None));
    }
}
