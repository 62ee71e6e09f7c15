//! A request on its way to a cradle. It is kept until a cradle has answered: if none has taken it, it
//! is sent again.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use forkline_launch::Attributes;
use forkline_protocol::{Descriptors, Order as ToCradle, Request, TICKET, pair, send};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use crate::command::{Command, Stdin, Streams};
use crate::directory::Directory;
use crate::errors::{LaunchError, Step};
use crate::invocation::Invocation;
use crate::plumbing::{descriptors, memory_file};

/// What a cradle is told, and what it is to have.
pub struct Letter {
    /// Empty when it is in the file.
    body: Vec<u8>,
    file: Option<OwnedFd>,
    stdin: Option<OwnedFd>,
    outputs: Vec<OwnedFd>,
    directory: Option<Arc<OwnedFd>>,
    /// For the words of a failure.
    pub invocation: Invocation,
    /// The same.
    pub directory_name: Option<CString>,
}

/// More goes into a file: a message takes some 200 KB, and what waits in a socket is limited.
const LONGEST: usize = 48 * 1024;

impl Letter {
    /// Of a command with its ends of its pipes.
    pub fn new(
        command: &Command,
        mut invocation: Invocation,
        stdin: Option<OwnedFd>,
        outputs: Vec<OwnedFd>,
        attributes: Attributes,
        is_born_here: bool,
    ) -> Result<Letter, LaunchError> {
        let (path, held) = match &command.directory {
            Some(Directory::Path(path)) => (Some(path.clone()), None),
            Some(Directory::Held(descriptor)) => (None, Some(descriptor.clone())),
            None if is_born_here => (None, None),
            None => (None, Some(Arc::new(current_directory()?))),
        };
        let mut request = Request {
            images: std::mem::take(&mut invocation.images),
            environment: std::mem::take(&mut invocation.environment),
            directory: path,
            attributes,
            terminal: matches!(command.streams, Streams::Terminal(_)),
            follow: command.follow,
            // Input and delivery begin with the start.
            announce: command.announce
                || command.listen.is_some()
                || !matches!(command.stdin, Stdin::Null),
        };
        let mut body = request.encode();
        invocation.images = std::mem::take(&mut request.images);
        invocation.environment = std::mem::take(&mut request.environment);
        let mut file = None;
        if body.len() > LONGEST {
            let written = memory_file("forkline-request", &body);
            file = Some(written.map_err(descriptors("the request's file"))?);
            body = Vec::new();
        }
        let directory_name = command.directory.as_ref().map(|directory| directory.name().into());
        Ok(Letter { body, file, stdin, outputs, directory: held, invocation, directory_name })
    }

    /// Sends it with a channel of its own; the error is that of the socket.
    pub fn send(&self, socket: BorrowedFd, channel: BorrowedFd) -> io::Result<()> {
        let mut outputs = self.outputs.iter().map(AsFd::as_fd);
        let Some(stdout) = outputs.next() else { return Err(io::ErrorKind::InvalidInput.into()) };
        let descriptors = Descriptors {
            channel,
            stdin: self.stdin.as_ref().map(AsFd::as_fd),
            stdout,
            stderr: outputs.next(),
            directory: self.directory.as_ref().map(|directory| directory.as_fd()),
            script: self.invocation.script.as_ref().map(AsFd::as_fd),
            body: self.file.as_ref().map(AsFd::as_fd),
        };
        let (head, sent) = descriptors.encode();
        send(socket, [&head, &self.body], &sent)
    }
}

/// Both ends of a channel, with the ticket in it.
pub fn channel() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) = pair()?;
    send(ours.as_fd(), [TICKET, b""], &[])?;
    Ok((ours, theirs))
}

/// Tells a cradle something; one that is gone need not know.
pub fn tell(channel: &OwnedFd, order: ToCradle) {
    let _ = send(channel.as_fd(), [&order.encode(), b""], &[]);
}

/// The one that the host is in.
fn current_directory() -> Result<OwnedFd, LaunchError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let error = |error: Errno| LaunchError::new(Step::Directory, &error.into(), ".");
    open(c".", flags, Mode::empty()).map_err(error)
}
