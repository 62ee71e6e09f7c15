//! A request on its way to a cradle. The request is kept until a cradle has answered, and is sent again if
//! none has taken it.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use forkline_launch::Attributes;
use forkline_protocol::{Descriptors, Order, Request, send};
use parking_lot::Mutex;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use crate::command::directory::Directory;
use crate::command::errors::{LaunchError, Step};
use crate::command::{Command, Stdin, Streams};
use crate::keeper::identity::StartsIn;
use crate::request::invocation::Invocation;
use crate::request::plumbing::descriptors;

/// A request and its descriptors.
pub struct Letter {
    /// The encoded request; empty when it is in the file.
    body: Vec<u8>,
    file: Option<OwnedFd>,
    stdin: Option<OwnedFd>,
    outputs: Vec<OwnedFd>,
    directory: Option<Arc<OwnedFd>>,
    groups: Vec<OwnedFd>,
    /// Needed to explain a failure.
    pub invocation: Invocation,
    /// Needed to explain a failure.
    pub directory_name: Option<CString>,
    delivery: Mutex<Delivery>,
}

/// The delivery of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// The request is to be sent.
    Waiting,
    /// The request will not be sent.
    Withdrawn,
    /// A cradle has the request, or it is on its way there.
    Sent,
}

impl Letter {
    /// Makes the request of a command. `stdin` and `outputs`: the command's ends of its pipes.
    pub fn new(
        command: &Command,
        mut invocation: Invocation,
        stdin: Option<OwnedFd>,
        outputs: Vec<OwnedFd>,
        attributes: Attributes,
        starts_in: StartsIn,
    ) -> Result<Letter, LaunchError> {
        let (path, held) = match &command.directory {
            Some(Directory::Path(path)) => (Some(path.clone()), None),
            Some(Directory::Held(descriptor)) => (None, Some(descriptor.clone())),
            None if starts_in == StartsIn::HostDirectory => (None, None),
            None => (None, Some(Arc::new(current_directory()?))),
        };
        let groups = command.groups.iter().map(|path| open_group(path));
        let groups = groups.collect::<Result<_, _>>()?;
        let mut request = Request {
            images: std::mem::take(&mut invocation.images),
            environment: std::mem::take(&mut invocation.environment),
            directory: path,
            attributes,
            terminal: matches!(command.streams, Streams::Terminal(_)),
            follow: command.follow,
            // Input and delivery of output begin with the start.
            announce: command.announce
                || command.listen.is_some()
                || !matches!(command.stdin, Stdin::Null),
        };
        let packed = request.packed();
        invocation.images = std::mem::take(&mut request.images);
        invocation.environment = std::mem::take(&mut request.environment);
        let (body, file) =
            packed.map_err(descriptors("the request's file in memory (memfd_create)"))?;
        let directory_name = command.directory.as_ref().map(|directory| directory.name().into());
        Ok(Letter {
            body,
            file,
            stdin,
            outputs,
            directory: held,
            groups,
            invocation,
            directory_name,
            delivery: Mutex::new(Delivery::Waiting),
        })
    }

    /// Sends the request, unless it has been withdrawn. The error is that of the socket.
    pub fn send(&self, channel: BorrowedFd) -> io::Result<Delivery> {
        let mut outputs = self.outputs.iter().map(AsFd::as_fd);
        let Some(stdout) = outputs.next() else { return Err(io::ErrorKind::InvalidInput.into()) };
        let mut groups = self.groups.iter().map(AsFd::as_fd);
        let descriptors = Descriptors {
            stdin: self.stdin.as_ref().map(AsFd::as_fd),
            stdout,
            stderr: outputs.next(),
            directory: self.directory.as_ref().map(|directory| directory.as_fd()),
            script: self.invocation.script.as_ref().map(AsFd::as_fd),
            body: self.file.as_ref().map(AsFd::as_fd),
            group: groups.next(),
            other_group: groups.next(),
        };
        let (head, sent) = descriptors.encode();
        let mut delivery = self.delivery.lock();
        if *delivery == Delivery::Waiting {
            send(channel, [&head, &self.body], &sent)?;
            *delivery = Delivery::Sent;
        }
        Ok(*delivery)
    }

    /// Withdraws the request, unless it has been sent. Returns its delivery.
    pub fn withdraw(&self) -> Delivery {
        let mut delivery = self.delivery.lock();
        if *delivery == Delivery::Waiting {
            *delivery = Delivery::Withdrawn;
        }
        *delivery
    }

    /// Returns whether the request has been sent.
    pub fn is_sent(&self) -> bool {
        *self.delivery.lock() == Delivery::Sent
    }

    /// Makes the request ready to be sent again: no cradle has taken it.
    pub fn reset(&self) {
        *self.delivery.lock() = Delivery::Waiting;
    }
}

/// Sends an order to a cradle. Errors are ignored, since a cradle that is gone needs no orders.
pub fn tell(channel: &OwnedFd, order: Order) {
    let _ = send(channel.as_fd(), [&order.encode(), b""], &[]);
}

/// Opens `cgroup.procs`, to which a process that enters the group writes.
fn open_group(path: &Path) -> Result<OwnedFd, LaunchError> {
    let subject = || format!("control group '{}'", path.display());
    let error = |error: Errno| LaunchError::new(Step::Limits, &error.into(), subject());
    open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()).map_err(error)
}

/// Opens the host's current directory.
fn current_directory() -> Result<OwnedFd, LaunchError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let error = |error: Errno| LaunchError::new(Step::Directory, &error.into(), ".");
    open(c".", flags, Mode::empty()).map_err(error)
}
