//! The journal of one command.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, mkdirat, openat};

use crate::log::{append, frame};
use crate::node::{look_for, now};
use crate::record::{LogRecord, VERSION};
use crate::store::{ABOUT, LOG};
use crate::writer::after::after;
use crate::writer::known::KnownNodes;
use crate::writer::limits::{Fate, JournalLimits, NameAt, NotKept, RefusedByJournal, WhenFull};
use crate::writer::made::MakingNames;
use crate::writer::pack::Pack;

/// The most bytes of records that wait for others, on which a call depends.
const MOST_LATE: usize = 1 << 16;

/// What was announced last, which `not_done` takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Announced {
    Other,
    Making,
    Moving,
}

/// Writes down what was there, before a command changes it. One for each command.
#[derive(Debug)]
pub struct Journal {
    store: OwnedFd,
    id: String,
    log: File,
    pub(super) length: u64,
    pub(super) kept: u64,
    pub(super) pack: Pack,
    pub(super) limits: JournalLimits,
    pub(super) proc: OwnedFd,
    pub(super) known: KnownNodes,
    pub(super) making: MakingNames,
    pub(super) last: Announced,
    /// Records that are not written yet.
    pub(super) late: Vec<u8>,
    /// A call depends on one of them.
    is_due: bool,
    is_finished: bool,
}

impl Journal {
    /// Makes the directory `id` in the store, and holds a lock on its log while the journal is there. `proc`: a
    /// directory that is `/proc`, where this process's own descriptors are `self/fd`. `about`: pairs that are
    /// given back with the changes.
    ///
    /// # Errors
    /// Those of making the directory and its files; `AlreadyExists` when there is such a journal.
    pub fn begin(
        store: BorrowedFd,
        id: &str,
        about: &[(&str, &[u8])],
        limits: JournalLimits,
        proc: BorrowedFd,
    ) -> io::Result<Journal> {
        mkdirat(store, id, Mode::from_raw_mode(0o700))?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = openat(store, id, flags, Mode::empty())?;
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let log = openat(&directory, LOG, flags, Mode::from_raw_mode(0o600))?;
        flock(&log, FlockOperation::NonBlockingLockExclusive)?;
        write_about(&directory, about)?;
        let about = about.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.to_vec()));
        let begun = LogRecord::Begun { version: VERSION, at: now(), about: about.collect() };
        let mut journal = Journal {
            store: store.try_clone_to_owned()?,
            id: id.to_owned(),
            log: File::from(log),
            length: 0,
            kept: 0,
            pack: Pack::create(directory)?,
            limits,
            proc: proc.try_clone_to_owned()?,
            known: KnownNodes::default(),
            making: MakingNames::default(),
            last: Announced::Other,
            late: Vec::new(),
            is_due: false,
            is_finished: false,
        };
        frame(&begun, &mut journal.late);
        append(&mut journal.log, &mut journal.length, &journal.late)?;
        journal.late.clear();
        Ok(journal)
    }

    /// Announces what is about to happen to a name.
    ///
    /// # Errors
    /// What has it can't be kept, and such calls are to be refused.
    pub fn before_name(&mut self, at: &NameAt, fate: Fate) -> Result<(), RefusedByJournal> {
        self.settle();
        let noted = self.note_name(at, fate).and_then(|()| self.write());
        self.judge(noted, || at.path())
    }

    /// Announces that a regular file is about to be opened for writing, or truncated. `file` may be of `O_PATH`;
    /// `path` is its absolute path.
    ///
    /// # Errors
    /// Its content can't be kept, and such calls are to be refused.
    pub fn before_content(
        &mut self,
        file: BorrowedFd,
        path: &Path,
    ) -> Result<(), RefusedByJournal> {
        self.before_node(file, path, true)
    }

    /// Announces that mode, owner, times or extended attributes are about to be changed. `file` may be of
    /// `O_PATH`; `path` is its absolute path.
    ///
    /// # Errors
    /// They can't be kept, and such calls are to be refused.
    pub fn before_attributes(
        &mut self,
        file: BorrowedFd,
        path: &Path,
    ) -> Result<(), RefusedByJournal> {
        self.before_node(file, path, false)
    }

    /// Tells that a directory was made: names in it need no record.
    pub fn made_directory(&mut self, at: &NameAt) {
        self.settle();
        if let Ok(Some(found)) = look_for(at.directory, at.name) {
            self.make(found.id);
        }
    }

    /// Announces a rename, with all that both names need. `is_exchange`: what has the second name gets the first.
    ///
    /// # Errors
    /// What the rename would destroy can't be kept, and such calls are to be refused.
    pub fn before_move(
        &mut self,
        from: &NameAt,
        to: &NameAt,
        is_exchange: bool,
    ) -> Result<(), RefusedByJournal> {
        self.settle();
        let noted = self.note_move(from, to, is_exchange).and_then(|()| self.write());
        self.judge(noted, || to.path())
    }

    /// Announces that a node gets one more name. `file` may be of `O_PATH`; `path` is a name that it has.
    ///
    /// # Errors
    /// The names can't be written down, and such calls are to be refused.
    pub fn before_link(
        &mut self,
        file: BorrowedFd,
        path: &Path,
        to: &NameAt,
    ) -> Result<(), RefusedByJournal> {
        self.settle();
        let noted = self.note_link(file, path, to).and_then(|()| self.write());
        self.judge(noted, || to.path())
    }

    /// Tells that the call that was announced last has failed.
    pub fn not_done(&mut self) {
        match self.last {
            Announced::Other => {}
            Announced::Making => self.making.forget_last(),
            Announced::Moving => {
                self.note(&LogRecord::NotMoved);
                self.write_or_wait();
            }
        }
        self.last = Announced::Other;
    }

    /// Notes that something was not seen, and why.
    pub fn incomplete(&mut self, why: &str) {
        self.note(&LogRecord::Unseen(why.as_bytes().to_vec()));
        self.write_or_wait();
    }

    /// Looks at all that was touched, and writes down how it is. Later changes are told from the command's by
    /// that.
    pub fn finish(&mut self) {
        if self.is_finished {
            return;
        }
        self.is_finished = true;
        self.settle();
        self.is_due = true;
        self.write_or_wait();
        match after(self.store.as_fd(), &self.id) {
            Ok(records) => {
                self.late.extend_from_slice(&records);
                self.is_due = true;
                self.write_or_wait();
            }
            Err(error) => self.incomplete(&format!("how it ended: {error}")),
        }
    }

    /// Answers a call. What was not kept is written down as that.
    pub(super) fn judge(
        &mut self,
        noted: Result<(), NotKept>,
        path: impl Fn() -> Vec<u8>,
    ) -> Result<(), RefusedByJournal> {
        let Err(NotKept(reason)) = noted else { return Ok(()) };
        if self.limits.when_full == WhenFull::Refuse {
            self.not_done();
            self.write_or_wait();
            return Err(RefusedByJournal);
        }
        let (path, reason) = (path(), reason.into_bytes());
        self.note(&LogRecord::Lost { node: None, path, reason });
        self.write_or_wait();
        Ok(())
    }

    /// Notes a record that the next call depends on.
    pub(super) fn note(&mut self, record: &LogRecord) {
        frame(record, &mut self.late);
        self.is_due = true;
    }

    /// Writes all records that wait, at once.
    pub(super) fn write(&mut self) -> Result<(), NotKept> {
        if self.is_due || self.late.len() > MOST_LATE {
            append(&mut self.log, &mut self.length, &self.late)?;
            self.late.clear();
            self.is_due = false;
        }
        Ok(())
    }

    /// The same where nothing depends on it: what can't be written is tried again with the next records.
    fn write_or_wait(&mut self) {
        let _ = self.write();
    }
}

/// Writes down what tells of a command where it is found without reading the log.
fn write_about(directory: &OwnedFd, about: &[(&str, &[u8])]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mut file = File::from(openat(directory, ABOUT, flags, Mode::from_raw_mode(0o600))?);
    let pairs = about.iter().map(|(name, value)| [name.as_bytes(), value].join(&0));
    file.write_all(&pairs.collect::<Vec<_>>().join(&0))
}
