//! Does what a warden does: announces each call, and does it then.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use forkline_journal::{Fate, Journal, NameAt};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, Timespec, Timestamps};

use super::operation::{Entry, Operation};

/// Does operations below a directory; without a journal, nothing is announced.
pub struct Driver<'a> {
    pub root: &'a Path,
    pub journal: Option<&'a mut Journal>,
    /// The operation is announced, and then not done.
    pub is_killed: bool,
}

/// A name, opened as a warden has it.
struct Held {
    directory: OwnedFd,
    name: CString,
    above: PathBuf,
}

impl Held {
    fn at(&self) -> NameAt<'_> {
        NameAt { directory: self.directory.as_fd(), name: &self.name, above: &self.above }
    }
}

type Done = rustix::io::Result<()>;

impl Driver<'_> {
    fn hold(&self, path: &Entry) -> Option<Held> {
        let path = self.root.join(path.path());
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(path.parent()?, flags, Mode::empty()).ok()?;
        let above = std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd())).ok()?;
        if !above.starts_with(self.root) {
            return None;
        }
        let name = CString::new(path.file_name()?.as_bytes()).ok()?;
        Some(Held { directory, name, above })
    }

    /// Opens a file as a name leads to it, if it is one.
    fn node(&self, path: &Entry, is_file: bool) -> Option<(OwnedFd, PathBuf)> {
        let held = self.hold(path)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&held.directory, &held.name, flags, Mode::empty()).ok()?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&file).ok()?.st_mode);
        let path = held.above.join(std::ffi::OsStr::from_bytes(held.name.as_bytes()));
        (!is_file || kind == FileType::RegularFile).then_some((file, path))
    }

    fn end(&mut self, done: Done) -> bool {
        if done.is_err()
            && let Some(journal) = &mut self.journal
        {
            journal.not_done();
        }
        done.is_ok()
    }

    fn name(&mut self, held: &Held, fate: Fate, act: impl FnOnce(&OwnedFd, &CStr) -> Done) -> bool {
        if let Some(journal) = &mut self.journal
            && journal.before_name(&held.at(), fate).is_err()
        {
            return false;
        }
        if self.is_killed {
            return false;
        }
        let done = act(&held.directory, &held.name);
        self.end(done)
    }

    fn make(&mut self, path: &Entry, act: impl FnOnce(&OwnedFd, &CStr) -> Done) -> Option<Held> {
        let held = self.hold(path)?;
        self.name(&held, Fate::Made, act).then_some(held)
    }

    fn content(
        &mut self,
        path: &Entry,
        act: impl FnOnce(&File) -> std::io::Result<()>,
    ) -> Option<()> {
        let (file, path) = self.node(path, true)?;
        if let Some(journal) = &mut self.journal {
            journal.before_content(file.as_fd(), &path).ok()?;
        }
        if self.is_killed {
            return None;
        }
        let by = format!("/proc/self/fd/{}", file.as_raw_fd());
        let done = std::fs::OpenOptions::new().write(true).open(by).and_then(|file| act(&file));
        self.end(done.map_err(|_| rustix::io::Errno::IO)).then_some(())
    }

    fn attributes(&mut self, path: &Entry, act: impl FnOnce(&str) -> Done) -> Option<()> {
        let (file, path) = self.node(path, false)?;
        if path.symlink_metadata().ok()?.is_symlink() {
            return None;
        }
        if let Some(journal) = &mut self.journal {
            journal.before_attributes(file.as_fd(), &path).ok()?;
        }
        if self.is_killed {
            return None;
        }
        let done = act(&format!("/proc/self/fd/{}", file.as_raw_fd()));
        self.end(done).then_some(())
    }

    fn rename(&mut self, from: &Entry, to: &Entry, flags: RenameFlags) -> Option<()> {
        let (from, to) = (self.hold(from)?, self.hold(to)?);
        let is_exchange = flags.contains(RenameFlags::EXCHANGE);
        if let Some(journal) = &mut self.journal {
            journal.before_move(&from.at(), &to.at(), is_exchange).ok()?;
        }
        if self.is_killed {
            return None;
        }
        let done =
            rustix::fs::renameat_with(&from.directory, &from.name, &to.directory, &to.name, flags);
        self.end(done).then_some(())
    }

    /// Does an operation, if it can be done.
    pub fn act(&mut self, operation: &Operation) -> Option<()> {
        match operation {
            Operation::Create(path, bytes) => {
                _ = self.make(path, |directory, name| {
                    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                    let file =
                        rustix::fs::openat(directory, name, flags, Mode::from_raw_mode(0o644))?;
                    File::from(file).write_all_at(bytes, 0).map_err(|_| rustix::io::Errno::IO)
                })?
            }
            Operation::Write(path, at, bytes) => {
                self.content(path, |file| file.write_all_at(bytes, *at))?;
            }
            Operation::Truncate(path, length) => {
                self.content(path, |file| file.set_len(*length))?
            }
            Operation::Unlink(path) => {
                let held = self.hold(path)?;
                self.name(&held, Fate::Gone, |directory, name| {
                    rustix::fs::unlinkat(directory, name, AtFlags::empty())
                });
            }
            Operation::Rmdir(path) => {
                let held = self.hold(path)?;
                self.name(&held, Fate::Gone, |directory, name| {
                    rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR)
                });
            }
            Operation::Rename(from, to) => self.rename(from, to, RenameFlags::empty())?,
            Operation::Exchange(from, to) => self.rename(from, to, RenameFlags::EXCHANGE)?,
            Operation::Replace(path, bytes) => {
                let beside = path.beside();
                self.act(&Operation::Create(beside.clone(), bytes.clone()))?;
                self.rename(&beside, path, RenameFlags::empty())?;
            }
            _ => return self.act_rarely(operation),
        }
        Some(())
    }

    fn act_rarely(&mut self, operation: &Operation) -> Option<()> {
        match operation {
            Operation::Link(from, to) => {
                let from = self.hold(from)?;
                self.make(to, |directory, name| {
                    rustix::fs::linkat(
                        &from.directory,
                        &from.name,
                        directory,
                        name,
                        AtFlags::empty(),
                    )
                })?;
            }
            Operation::Symlink(path, target) => {
                _ = self.make(path, |directory, name| {
                    rustix::fs::symlinkat(target.as_str(), directory, name)
                })?
            }
            Operation::Mkdir(path) => {
                let made = self.make(path, |directory, name| {
                    rustix::fs::mkdirat(directory, name, Mode::from_raw_mode(0o755))
                })?;
                if let Some(journal) = &mut self.journal {
                    journal.made_directory(&made.at());
                }
            }
            Operation::Mkfifo(path) => {
                _ = self.make(path, |directory, name| {
                    rustix::fs::mknodat(
                        directory,
                        name,
                        FileType::Fifo,
                        Mode::from_raw_mode(0o640),
                        0,
                    )
                })?
            }
            Operation::Chmod(path, mode) => {
                self.attributes(path, |path| rustix::fs::chmod(path, Mode::from_raw_mode(*mode)))?
            }
            Operation::Utimes(path, seconds) => self.attributes(path, |path| {
                let time = Timespec { tv_sec: *seconds, tv_nsec: 123_456_789 };
                let times = Timestamps { last_access: time, last_modification: time };
                rustix::fs::utimensat(CWD, path, &times, AtFlags::empty())
            })?,
            Operation::Attribute(path, name, Some(value)) => self.attributes(path, |path| {
                rustix::fs::setxattr(
                    path,
                    format!("user.{name}"),
                    value,
                    rustix::fs::XattrFlags::empty(),
                )
            })?,
            Operation::Attribute(path, name, None) => {
                self.attributes(path, |path| rustix::fs::removexattr(path, format!("user.{name}")))?
            }
            _ => {}
        }
        Some(())
    }
}
