//! Files outside of the sandbox that the broker uses: found by a directory that was opened there, so that a
//! file which is replaced is found again.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use crate::sandbox::agents::{Agents, GpgAgent, LoginServers, SshAgent};
use crate::sandbox::place;

/// The most bytes of a file.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// A file by the directory that contains it.
pub struct OutsideFile {
    /// None: it did not exist.
    directory: Option<OwnedFd>,
    name: CString,
}

/// The agents of a plan, with what the broker needs of the outside.
#[derive(Default)]
pub struct OutsideAgents {
    pub ssh: Option<(SshAgent, OutsideFile)>,
    pub known_hosts: Vec<OutsideFile>,
    pub gpg: Option<(GpgAgent, OutsideFile)>,
}

impl OutsideAgents {
    /// Opens the directories, before the sandbox is entered.
    pub fn open(agents: &Agents) -> OutsideAgents {
        let ssh = agents.ssh.as_ref().map(|ssh| (ssh.clone(), OutsideFile::new(&ssh.socket)));
        let gpg = agents.gpg.as_ref().map(|gpg| (gpg.clone(), OutsideFile::new(&gpg.socket)));
        let files: &[PathBuf] = match agents.ssh.as_ref().map(|ssh| &ssh.servers) {
            Some(LoginServers::Known(files)) => files,
            _ => &[],
        };
        let known_hosts = files.iter().map(|path| OutsideFile::new(path)).collect();
        OutsideAgents { ssh, known_hosts, gpg }
    }
}

impl OutsideFile {
    /// Opens the directory of a file, to which no link may lead.
    fn new(path: &Path) -> OutsideFile {
        let name = path.file_name().map(OsStrExt::as_bytes).unwrap_or_default();
        OutsideFile {
            directory: path.parent().and_then(|parent| place::open(parent).ok()),
            name: CString::new(name).unwrap_or_default(),
        }
    }

    fn open(&self, kind: libc::mode_t) -> io::Result<OwnedFd> {
        let directory = self.directory.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        // SAFETY: a path that ends with NUL.
        let file = unsafe { libc::openat(directory.as_raw_fd(), self.name.as_ptr(), flags) };
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just opened; nothing else owns it.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        match place::status(&file)?.st_mode & libc::S_IFMT == kind {
            true => Ok(file),
            false => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Connects to a socket. The working directory is the host's `/proc`.
    pub fn connect(&self) -> io::Result<UnixStream> {
        let socket = self.open(libc::S_IFSOCK)?;
        UnixStream::connect(format!("self/fd/{}", socket.as_raw_fd()))
    }

    /// Reads a file as text. The working directory is the host's `/proc`.
    pub fn read(&self) -> io::Result<String> {
        let found = self.open(libc::S_IFREG)?;
        let file = File::open(format!("self/fd/{}", found.as_raw_fd()))?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
