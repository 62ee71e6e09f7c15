//! A request to run a command.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use forkline_launch::{Attributes, Image, Limit};

use crate::fields::{Reader, Writer};
use crate::memory::memory_file;

/// What a cradle is to launch. What it needs of the host comes as [`Descriptors`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// Tried in order; the next one only when this one does not exist.
    pub images: Vec<Image>,
    /// Entries each ended by NUL.
    pub environment: Vec<u8>,
    /// None: the one among the descriptors, or else the cradle's.
    pub directory: Option<CString>,
    /// As the host has them.
    pub attributes: Attributes,
    /// Whether descriptor 0 is a terminal, to become the controlling one.
    pub terminal: bool,
    /// Whether the cradle is to tell where the command was at its end.
    pub follow: bool,
    /// Whether anybody waits for the start. If not, it is told with the end of a command that is short.
    pub announce: bool,
}

/// What a request brings along.
#[derive(Debug)]
pub struct Descriptors<Descriptor> {
    /// To become 0; None: `/dev/null`.
    pub stdin: Option<Descriptor>,
    /// To become 1.
    pub stdout: Descriptor,
    /// To become 2; None: the same as 1.
    pub stderr: Option<Descriptor>,
    /// Where the command starts.
    pub directory: Option<Descriptor>,
    /// To become 3.
    pub script: Option<Descriptor>,
    /// The request itself, when it is too long for a message.
    pub body: Option<Descriptor>,
    /// `cgroup.procs` of a control group that it is to enter.
    pub group: Option<Descriptor>,
    /// And of another one.
    pub other_group: Option<Descriptor>,
}

/// Begins a request, to be told from an order.
const REQUEST: u64 = 16;

/// More goes into a file: a message takes some 200 KB, and what waits in a socket is limited.
const LONGEST: usize = 48 * 1024;

const STDIN: u64 = 1;
const STDERR: u64 = 2;
const DIRECTORY: u64 = 4;
const SCRIPT: u64 = 8;
const BODY: u64 = 16;
const GROUP: u64 = 32;
const OTHER_GROUP: u64 = 64;

impl Request {
    /// What follows the head in a message, or is in a file.
    pub fn encode(&self) -> Vec<u8> {
        // Most of a request is its environment.
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

    /// As a message takes it: what follows the head, and the file in which it is if it is too long for that.
    pub fn packed(&self) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
        let body = self.encode();
        if body.len() <= LONGEST {
            return Ok((body, None));
        }
        Ok((Vec::new(), Some(memory_file(c"forkline-request", &body)?)))
    }

    /// None: it was not written by [`Request::encode`].
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
    /// The head of the message, and what is sent along with it.
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
    /// Whether the message is a request, be it whole or not.
    pub fn are_in(message: &[u8]) -> bool {
        Reader(message).number() == Some(REQUEST)
    }

    /// From a request and what came with it; also the rest of the message. None: it is not what it
    /// should be.
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

    /// The control groups to be entered.
    pub fn groups(&self) -> [Option<BorrowedFd<'_>>; 2] {
        [&self.group, &self.other_group].map(|group| group.as_ref().map(AsFd::as_fd))
    }

    /// What becomes 0, 1 and 2.
    pub fn stdio<'a>(&'a self, null: BorrowedFd<'a>) -> [BorrowedFd<'a>; 3] {
        let stdout = self.stdout.as_fd();
        let stdin = self.stdin.as_ref().map_or(null, AsFd::as_fd);
        [stdin, stdout, self.stderr.as_ref().map_or(stdout, AsFd::as_fd)]
    }
}

impl Request {
    /// Its directory, if it is told by path.
    pub fn path(&self) -> Option<&CStr> {
        self.directory.as_deref()
    }
}

#[cfg(test)]
mod tests;
