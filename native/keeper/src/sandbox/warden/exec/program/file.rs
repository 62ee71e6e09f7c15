//! Files of programs: which one it is, and whether it has the bytes of another one.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::sandbox::place;
use crate::sandbox::warden::caller::link_of;

/// What tells one state of a file from another one. A change of its content by a call changes the times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileStamp {
    pub device: u64,
    pub inode: u64,
    pub size: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// The file of a program.
#[derive(Debug)]
pub struct ProgramFile {
    file: OwnedFd,
    pub path: PathBuf,
    pub stamp: FileStamp,
}

impl FileStamp {
    /// Returns whether it is the same file, perhaps with another content.
    pub fn is_same_file(&self, other: &FileStamp) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    /// Returns the stamp of the file at a path, or link. None: there is none.
    pub fn at(path: &str) -> Option<FileStamp> {
        fs::metadata(path).ok().map(|status| FileStamp::of_metadata(&status))
    }

    pub fn of_metadata(status: &fs::Metadata) -> FileStamp {
        FileStamp {
            device: status.dev(),
            inode: status.ino(),
            size: status.size() as i64,
            modified: (status.mtime(), status.mtime_nsec()),
            changed: (status.ctime(), status.ctime_nsec()),
        }
    }

    fn of(status: &libc::stat) -> FileStamp {
        FileStamp {
            device: status.st_dev,
            inode: status.st_ino,
            size: status.st_size,
            modified: (status.st_mtime, status.st_mtime_nsec),
            changed: (status.st_ctime, status.st_ctime_nsec),
        }
    }
}

impl ProgramFile {
    /// Makes it of an open file (O_PATH). The error is that of executing what is no file: EACCES.
    pub fn of(file: OwnedFd) -> Result<ProgramFile, i32> {
        let status = place::status(&file).map_err(|_| libc::EACCES)?;
        if status.st_mode & libc::S_IFMT != libc::S_IFREG {
            return Err(libc::EACCES);
        }
        let path = link_of(&format!("self/fd/{}", file.as_raw_fd()))?;
        Ok(ProgramFile { file, path, stamp: FileStamp::of(&status) })
    }

    /// Opens the file at a path, or link, from the working directory. None: there is none.
    pub fn at(path: &Path) -> Option<ProgramFile> {
        let path = CString::new(path.as_os_str().as_bytes()).ok()?;
        // SAFETY: a path that ends with NUL.
        let file = unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
        if file < 0 {
            return None;
        }
        // SAFETY: the descriptor was just opened; nothing else owns it.
        ProgramFile::of(unsafe { OwnedFd::from_raw_fd(file) }).ok()
    }

    /// Returns the last name of its path.
    pub fn name(&self) -> &[u8] {
        self.path.file_name().unwrap_or_default().as_bytes()
    }

    /// Returns its first bytes, at most this many; none if it can't be read.
    pub fn beginning(&self, most: usize) -> Vec<u8> {
        let mut bytes = vec![0; most];
        let read = self.open().and_then(|file| read_at(&file, &mut bytes, 0));
        bytes.truncate(read.unwrap_or(0));
        bytes
    }

    /// Returns whether both have the same bytes; false if one can't be read.
    pub fn has_bytes_of(&self, other: &ProgramFile) -> bool {
        const PART: usize = 64 * 1024;
        let (Ok(one), Ok(two)) = (self.open(), other.open()) else { return false };
        let mut parts = [vec![0; PART], vec![0; PART]];
        let mut at = 0;
        loop {
            let [first, second] = &mut parts;
            let (Ok(read), Ok(same)) = (read_at(&one, first, at), read_at(&two, second, at)) else {
                return false;
            };
            if read != same || first.get(..read) != second.get(..same) {
                return false;
            }
            if read == 0 {
                return true;
            }
            at += read as u64;
        }
    }

    /// Returns whether nobody in the sandbox can put another file at its path: it lies on a mount that can only be
    /// read.
    pub fn is_kept(&self) -> bool {
        rustix::fs::fstatvfs(&self.file)
            .is_ok_and(|found| found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
    }

    /// Returns whether this process may read it. What a process has become that executes another file is not seen.
    pub fn is_readable(&self) -> bool {
        self.open().is_ok()
    }

    fn open(&self) -> io::Result<File> {
        // The working directory is the host's `/proc`.
        let name = CString::new(format!("self/fd/{}", self.file.as_fd().as_raw_fd()))?;
        let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY;
        // SAFETY: a path that ends with NUL.
        let file = unsafe { libc::open(name.as_ptr(), flags) };
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just opened; nothing else owns it.
        Ok(unsafe { File::from_raw_fd(file) })
    }
}

/// Reads until the buffer is full or the file ends.
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, at + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
