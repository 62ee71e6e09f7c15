//! A request to run a command.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use forkline_launch::{Attributes, Image, Limit};

use crate::fields::{Reader, Writer};
use crate::memory::memory_file;

/// A request to a cradle to launch a command. The descriptors that it needs come as [`Descriptors`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The programs, tried in order: the next one only when this one does not exist.
    pub images: Vec<Image>,
    /// The environment: entries each ended by NUL.
    pub environment: Vec<u8>,
    /// The working directory. None: the one among the descriptors, or else the cradle's.
    pub directory: Option<CString>,
    /// The command's attributes, which are the host's unless it has asked for others.
    pub attributes: Attributes,
    /// Whether descriptor 0 is a terminal that becomes the controlling one.
    pub terminal: bool,
    /// Whether the cradle tells the command's working directory at its end.
    pub follow: bool,
    /// Whether the host waits for the start. If not, the start of a short command is told with its end.
    pub announce: bool,
}

/// The descriptors that a request brings along.
#[derive(Debug)]
pub struct Descriptors<Descriptor> {
    /// Becomes 0. None: `/dev/null`.
    pub stdin: Option<Descriptor>,
    /// Becomes 1.
    pub stdout: Descriptor,
    /// Becomes 2. None: the same as 1.
    pub stderr: Option<Descriptor>,
    /// The working directory.
    pub directory: Option<Descriptor>,
    /// Becomes 3.
    pub script: Option<Descriptor>,
    /// The encoded request, when it is too long for a message.
    pub body: Option<Descriptor>,
    /// `cgroup.procs` of a control group that the command enters.
    pub group: Option<Descriptor>,
    /// `cgroup.procs` of a second control group.
    pub other_group: Option<Descriptor>,
}

/// The first field of a request, which no order begins with.
const REQUEST: u64 = 16;

/// The longest encoded request that is sent in a message, in bytes; a longer one goes into a file. A
/// message takes some 200 KB, and the bytes that wait in a socket are limited.
const LONGEST: usize = 48 * 1024;

const STDIN: u64 = 1;
const STDERR: u64 = 2;
const DIRECTORY: u64 = 4;
const SCRIPT: u64 = 8;
const BODY: u64 = 16;
const GROUP: u64 = 32;
const OTHER_GROUP: u64 = 64;

impl Request {
    /// Encodes the request, to follow the head in a message, or to be the contents of a file.
    pub fn encode(&self) -> Vec<u8> {
        // The environment is the largest part of a request.
        let mut fields = Writer::with_room(self.environment.len() + 2048);
        let Attributes { limits, mask, nice, session_nice, affinity, oom_score, bounding } =
            &self.attributes;
        fields.number(self.terminal.into()).number(self.follow.into());
        fields.number(self.announce.into());
        fields.number(mask.map_or(u64::MAX, u64::from));
        for number in [nice, session_nice, oom_score] {
            fields.number(number.map_or(i64::MIN, i64::from) as u64);
        }
        fields.number(bounding.is_some().into()).number(bounding.unwrap_or(0));
        fields.bytes(affinity).number(limits.len() as u64);
        for limit in limits {
            fields.number(limit.resource as u64).number(limit.soft).number(limit.hard);
        }
        fields.bytes(self.directory.as_deref().unwrap_or_default().to_bytes());
        fields.bytes(&self.environment).number(self.images.len() as u64);
        for image in &self.images {
            fields.bytes(image.path.as_bytes()).number(image.argv.len() as u64);
            for argument in &image.argv {
                fields.bytes(argument.as_bytes());
            }
        }
        fields.finish()
    }

    /// Encodes the request for a message. Returns the bytes that follow the head, or the file that holds
    /// them when they are too long for a message.
    pub fn packed(&self) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
        let body = self.encode();
        if body.len() <= LONGEST {
            return Ok((body, None));
        }
        Ok((Vec::new(), Some(memory_file(c"forkline-request", &body)?)))
    }

    /// Decodes a request. None: it was not written by [`Request::encode`].
    pub fn decode(body: &[u8]) -> Option<Request> {
        let fields = &mut Reader(body);
        let (terminal, follow) = (fields.number()? != 0, fields.number()? != 0);
        let announce = fields.number()? != 0;
        let mask = u32::try_from(fields.number()?).ok();
        let mut number = || Some(i32::try_from(fields.number()? as i64).ok());
        let (nice, session_nice, oom_score) = (number()?, number()?, number()?);
        let (is_bounded, bounding) = (fields.number()? != 0, fields.number()?);
        let bounding = is_bounded.then_some(bounding);
        let affinity = fields.bytes()?.to_vec();
        let mut limits = Vec::new();
        for _ in 0..fields.number()? {
            let resource = fields.small()?;
            limits.push(Limit { resource, soft: fields.number()?, hard: fields.number()? });
        }
        let directory = Some(CString::new(fields.bytes()?).ok()?).filter(|path| !path.is_empty());
        let environment = fields.bytes()?.to_vec();
        let mut images = Vec::new();
        for _ in 0..fields.number()? {
            images.push(image(fields)?);
        }
        let attributes =
            Attributes { limits, mask, nice, session_nice, affinity, oom_score, bounding };
        Some(Request { images, environment, directory, attributes, terminal, follow, announce })
    }
}

fn image(fields: &mut Reader) -> Option<Image> {
    let path = CString::new(fields.bytes()?).ok()?;
    let mut argv = Vec::new();
    for _ in 0..fields.number()? {
        argv.push(CString::new(fields.bytes()?).ok()?);
    }
    Some(Image { path, argv })
}

impl<'a> Descriptors<BorrowedFd<'a>> {
    /// Returns the head of the message, and the descriptors that are sent along with it.
    pub fn encode(&self) -> (Vec<u8>, Vec<BorrowedFd<'a>>) {
        let optional = [
            (STDIN, self.stdin),
            (STDERR, self.stderr),
            (DIRECTORY, self.directory),
            (SCRIPT, self.script),
            (BODY, self.body),
            (GROUP, self.group),
            (OTHER_GROUP, self.other_group),
        ];
        let present = optional.iter().filter(|(_, descriptor)| descriptor.is_some());
        let flags = present.fold(0, |flags, (flag, _)| flags | flag);
        let sent = [Some(self.stdout)].into_iter();
        let sent = sent.chain(optional.map(|(_, descriptor)| descriptor)).flatten().collect();
        (Writer::default().number(REQUEST).number(flags).finish(), sent)
    }
}

impl Descriptors<OwnedFd> {
    /// Returns whether the message is a request, complete or not.
    pub fn are_in(message: &[u8]) -> bool {
        Reader(message).number() == Some(REQUEST)
    }

    /// Decodes the head of a request and takes the received descriptors. Also returns the rest of the
    /// message. None: the message is no request, or has other descriptors than it says.
    pub fn decode(message: &[u8], received: Vec<OwnedFd>) -> Option<(Self, &[u8])> {
        let fields = &mut Reader(message);
        let (kind, flags) = (fields.number()?, fields.number()?);
        if kind != REQUEST || received.len() != 1 + flags.count_ones() as usize {
            return None;
        }
        let mut received = received.into_iter();
        let stdout = received.next()?;
        let mut next = |flag| if flags & flag != 0 { received.next() } else { None };
        let descriptors = Descriptors {
            stdout,
            stdin: next(STDIN),
            stderr: next(STDERR),
            directory: next(DIRECTORY),
            script: next(SCRIPT),
            body: next(BODY),
            group: next(GROUP),
            other_group: next(OTHER_GROUP),
        };
        Some((descriptors, fields.0))
    }

    /// Returns the control groups that the command enters.
    pub fn groups(&self) -> [Option<BorrowedFd<'_>>; 2] {
        [&self.group, &self.other_group].map(|group| group.as_ref().map(AsFd::as_fd))
    }

    /// Returns the descriptors that become 0, 1 and 2.
    pub fn stdio<'a>(&'a self, null: BorrowedFd<'a>) -> [BorrowedFd<'a>; 3] {
        let stdout = self.stdout.as_fd();
        let stdin = self.stdin.as_ref().map_or(null, AsFd::as_fd);
        [stdin, stdout, self.stderr.as_ref().map_or(stdout, AsFd::as_fd)]
    }
}

impl Request {
    /// Returns the working directory, if the request names it by path.
    pub fn path(&self) -> Option<&CStr> {
        self.directory.as_deref()
    }
}

#[cfg(test)]
mod tests;
