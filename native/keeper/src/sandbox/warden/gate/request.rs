//! A call that makes, changes or removes something by its name, as copied from the caller.

use crate::sandbox::filter::calls::Naming;
use crate::sandbox::notices::Notice;
use crate::sandbox::warden::caller::{Caller, PathBase};

/// A name in a call.
#[derive(Debug)]
pub struct Named {
    pub base: PathBase,
    pub path: Vec<u8>,
}

/// The action of a call.
#[derive(Debug)]
pub enum Action {
    Open {
        flags: i32,
        mode: u32,
    },
    MakeDirectory {
        mode: u32,
    },
    Remove {
        flags: i32,
    },
    Rename {
        to: Named,
        flags: u32,
    },
    Link {
        to: Named,
        flags: i32,
    },
    /// Makes a file that is no directory and no link.
    MakeNode {
        mode: u32,
        device: u64,
    },
    /// Makes a symbolic link.
    Symlink {
        target: Vec<u8>,
    },
    ChangeMode {
        mode: u32,
    },
    /// None: the current time.
    SetTimes {
        times: Option<[libc::timespec; 2]>,
    },
}

#[derive(Debug)]
pub struct FileRequest {
    pub what: Named,
    pub action: Action,
}

impl FileRequest {
    /// Reads a call. The error is the kernel's for pointers that can't be read, and paths that are too long.
    pub fn read(caller: &Caller, notice: &Notice, naming: Naming) -> Result<FileRequest, i32> {
        let [a, b, c, d, e, _] = notice.arguments;
        let here = |address| {
            let path = caller.text(address)?;
            Ok::<_, i32>(Named { base: PathBase::Directory, path })
        };
        let at = |number: u64, address| {
            let path = caller.text(address)?;
            Ok::<_, i32>(Named { base: PathBase::of(number as i32), path })
        };
        let open = |what, flags: u64, mode: u64| {
            let action = Action::Open { flags: flags as i32, mode: mode as u32 };
            Ok(FileRequest { what, action })
        };
        let made = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
        let (what, action) = match naming {
            Naming::Open => return open(here(a)?, b, c),
            Naming::OpenAt => return open(at(a, b)?, c, d),
            Naming::Create => return open(here(a)?, made as u64, b),
            Naming::MakeDirectory => (here(a)?, Action::MakeDirectory { mode: b as u32 }),
            Naming::MakeDirectoryAt => (at(a, b)?, Action::MakeDirectory { mode: c as u32 }),
            Naming::RemoveDirectory => (here(a)?, Action::Remove { flags: libc::AT_REMOVEDIR }),
            Naming::Unlink => (here(a)?, Action::Remove { flags: 0 }),
            Naming::UnlinkAt => (at(a, b)?, Action::Remove { flags: c as i32 }),
            Naming::Rename => (here(a)?, Action::Rename { to: here(b)?, flags: 0 }),
            Naming::RenameAt => (at(a, b)?, Action::Rename { to: at(c, d)?, flags: 0 }),
            Naming::RenameAt2 => (at(a, b)?, Action::Rename { to: at(c, d)?, flags: e as u32 }),
            Naming::Link => (here(a)?, Action::Link { to: here(b)?, flags: 0 }),
            Naming::LinkAt => (at(a, b)?, Action::Link { to: at(c, d)?, flags: e as i32 }),
            Naming::MakeNode => (here(a)?, Action::MakeNode { mode: b as u32, device: c }),
            Naming::MakeNodeAt => (at(a, b)?, Action::MakeNode { mode: c as u32, device: d }),
            Naming::Symlink => (here(b)?, Action::Symlink { target: caller.text(a)? }),
            Naming::SymlinkAt => (at(b, c)?, Action::Symlink { target: caller.text(a)? }),
            Naming::ChangeMode => (here(a)?, Action::ChangeMode { mode: b as u32 }),
            Naming::ChangeModeAt => (at(a, b)?, Action::ChangeMode { mode: c as u32 }),
            Naming::SetTimesAt => (at(a, b)?, Action::SetTimes { times: times(caller, c)? }),
        };
        Ok(FileRequest { what, action })
    }

    /// Returns whether the call may make a name.
    pub fn makes_name(&self) -> bool {
        match self.action {
            Action::Open { flags, .. } => flags & libc::O_CREAT != 0,
            Action::MakeDirectory { .. }
            | Action::Rename { .. }
            | Action::Link { .. }
            | Action::MakeNode { .. }
            | Action::Symlink { .. } => true,
            Action::Remove { .. } | Action::ChangeMode { .. } | Action::SetTimes { .. } => false,
        }
    }

    /// Returns all names of the call.
    pub fn names(&self) -> impl Iterator<Item = &Named> {
        let other = match &self.action {
            Action::Rename { to, .. } | Action::Link { to, .. } => Some(to),
            _ => None,
        };
        std::iter::once(&self.what).chain(other)
    }
}

/// Reads the times of a call.
fn times(caller: &Caller, address: u64) -> Result<Option<[libc::timespec; 2]>, i32> {
    if address == 0 {
        return Ok(None);
    }
    let bytes = caller.read(address, size_of::<[libc::timespec; 2]>()).map_err(|_| libc::EFAULT)?;
    let mut numbers = bytes.chunks_exact(8).map(|bytes| bytes.try_into().map(i64::from_ne_bytes));
    let mut time = || {
        let (tv_sec, tv_nsec) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        Some(libc::timespec { tv_sec, tv_nsec })
    };
    let times = time().zip(time()).ok_or(libc::EFAULT)?;
    Ok(Some(times.into()))
}
