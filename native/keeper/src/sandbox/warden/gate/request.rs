//! A call that makes, changes or removes something by its name, as copied from the caller.

use crate::sandbox::filter::naming::Naming;
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
    Truncate {
        length: i64,
    },
    ChangeOwner {
        user: u32,
        group: u32,
    },
    SetAttribute {
        name: Vec<u8>,
        value: Vec<u8>,
        flags: i32,
    },
    RemoveAttribute {
        name: Vec<u8>,
    },
}

/// The file that a call on attributes means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meant {
    /// That to which the name leads.
    Followed,
    /// That which has the name, also a link.
    Link,
    /// That which is open at the descriptor where the path would begin.
    Open,
    /// The same where the descriptor may also be one that only stands for a file (`O_PATH`).
    Descriptor,
}

#[derive(Debug)]
pub struct FileRequest {
    pub what: Named,
    pub meant: Meant,
    pub action: Action,
}

impl Action {
    /// Returns whether a call leaves both times as they are.
    pub fn changes_no_time(&self) -> bool {
        let Action::SetTimes { times: Some(times) } = self else { return false };
        times.iter().all(|time| time.tv_nsec == libc::UTIME_OMIT)
    }
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
            Ok(FileRequest { what, meant: Meant::Followed, action })
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
            naming => return FileRequest::read_change(caller, notice, naming),
        };
        Ok(FileRequest { what, meant: Meant::Followed, action })
    }

    /// Reads a call that changes a file or its attributes.
    fn read_change(caller: &Caller, notice: &Notice, naming: Naming) -> Result<FileRequest, i32> {
        let [a, b, c, d, e, _] = notice.arguments;
        // No number stands for the working directory here.
        let open = || Named { base: PathBase::Descriptor(a as i32), path: Vec::new() };
        let named =
            |base, address, meant| caller.text(address).map(|path| (Named { base, path }, meant));
        let here = |meant| named(PathBase::Directory, a, meant);
        let at = |flags: u64| {
            let flags = flags as i32;
            if flags & !(libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH) != 0 {
                return Err(libc::EINVAL);
            }
            let is_link = flags & libc::AT_SYMLINK_NOFOLLOW != 0;
            let meant = if is_link { Meant::Link } else { Meant::Followed };
            let (named, meant) = named(PathBase::of(a as i32), b, meant)?;
            let is_open = named.path.is_empty() && flags & libc::AT_EMPTY_PATH != 0;
            Ok::<_, i32>((named, if is_open { Meant::Descriptor } else { meant }))
        };
        // Without a path the descriptor itself is meant.
        let timed = |flags| match b {
            0 if a as i32 == libc::AT_FDCWD => at(flags),
            0 if flags as i32 != 0 => Err(libc::EINVAL),
            0 => Ok((open(), Meant::Open)),
            _ => at(flags),
        };
        let mode = |mode: u64| Action::ChangeMode { mode: mode as u32 };
        let owner = |user, group| Action::ChangeOwner { user: user as u32, group: group as u32 };
        let times =
            |address, unit| Ok::<_, i32>(Action::SetTimes { times: times(caller, address, unit)? });
        let key = || match caller.text(b) {
            Ok(name) if name.is_empty() || name.len() > LONGEST_KEY => Err(libc::ERANGE),
            name => name,
        };
        let set = || {
            if e as i32 & !(libc::XATTR_CREATE | libc::XATTR_REPLACE) != 0 {
                return Err(libc::EINVAL);
            }
            let name = key()?;
            let length = usize::try_from(d).ok().filter(|it| *it <= LONGEST_ATTRIBUTE);
            let value = caller.read(c, length.ok_or(libc::E2BIG)?).map_err(|_| libc::EFAULT)?;
            Ok::<_, i32>(Action::SetAttribute { name, value, flags: e as i32 })
        };
        let remove = || Ok::<_, i32>(Action::RemoveAttribute { name: key()? });
        let ((what, meant), action) = match naming {
            Naming::ChangeMode => (here(Meant::Followed)?, mode(b)),
            Naming::ChangeModeAt => (at(0)?, mode(c)),
            Naming::ChangeModeAt2 => (at(d)?, mode(c)),
            Naming::ChangeModeOfOpen => ((open(), Meant::Open), mode(b)),
            Naming::SetTimesAt => {
                let changed = times(c, TimeUnit::Nanosecond)?;
                // Where no time changes the kernel looks at nothing else.
                let what =
                    if changed.changes_no_time() { (open(), Meant::Open) } else { timed(d)? };
                (what, changed)
            }
            Naming::SetSeconds => (here(Meant::Followed)?, times(b, TimeUnit::Second)?),
            Naming::SetMicroseconds => (here(Meant::Followed)?, times(b, TimeUnit::Microsecond)?),
            Naming::SetMicrosecondsAt => (timed(0)?, times(c, TimeUnit::Microsecond)?),
            Naming::ChangeOwner => (here(Meant::Followed)?, owner(b, c)),
            Naming::ChangeOwnerOfLink => (here(Meant::Link)?, owner(b, c)),
            Naming::ChangeOwnerAt => (at(e)?, owner(c, d)),
            Naming::ChangeOwnerOfOpen => ((open(), Meant::Open), owner(b, c)),
            Naming::SetAttribute => (here(Meant::Followed)?, set()?),
            Naming::SetAttributeOfLink => (here(Meant::Link)?, set()?),
            Naming::SetAttributeOfOpen => ((open(), Meant::Open), set()?),
            Naming::RemoveAttribute => (here(Meant::Followed)?, remove()?),
            Naming::RemoveAttributeOfLink => (here(Meant::Link)?, remove()?),
            Naming::RemoveAttributeOfOpen => ((open(), Meant::Open), remove()?),
            Naming::Truncate if (b as i64) < 0 => return Err(libc::EINVAL),
            Naming::Truncate => (here(Meant::Followed)?, Action::Truncate { length: b as i64 }),
            _ => return Err(libc::ENOSYS),
        };
        Ok(FileRequest { what, meant, action })
    }

    /// Returns whether the call is only asked about where changes are recorded.
    pub fn is_only_recorded(&self) -> bool {
        use Action::{ChangeOwner, RemoveAttribute, SetAttribute, Truncate};
        let is_new = matches!(
            self.action,
            ChangeOwner { .. } | RemoveAttribute { .. } | SetAttribute { .. } | Truncate { .. }
        );
        is_new || matches!(self.meant, Meant::Open | Meant::Descriptor)
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
            _ => false,
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

/// What the smaller number of a time counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeUnit {
    /// There is one number for each time.
    Second,
    Microsecond,
    Nanosecond,
}

/// The longest name of an attribute.
const LONGEST_KEY: usize = 255;
/// The longest value of an attribute.
const LONGEST_ATTRIBUTE: usize = 65_536;

/// Reads the times of a call.
fn times(
    caller: &Caller,
    address: u64,
    unit: TimeUnit,
) -> Result<Option<[libc::timespec; 2]>, i32> {
    if address == 0 {
        return Ok(None);
    }
    let length = if unit == TimeUnit::Second { 16 } else { 32 };
    let bytes = caller.read(address, length).map_err(|_| libc::EFAULT)?;
    let mut numbers = bytes.chunks_exact(8).map(|bytes| bytes.try_into().map(i64::from_ne_bytes));
    let mut next = || numbers.next()?.ok();
    let mut time = || {
        let tv_sec = next()?;
        let tv_nsec = match unit {
            TimeUnit::Second => 0,
            TimeUnit::Microsecond => next()?.checked_mul(1000)?,
            TimeUnit::Nanosecond => next()?,
        };
        Some(libc::timespec { tv_sec, tv_nsec })
    };
    let times = time().zip(time()).ok_or(libc::EINVAL)?;
    let is_wrong = |time: &libc::timespec| {
        unit == TimeUnit::Microsecond && !(0..1_000_000_000).contains(&time.tv_nsec)
    };
    if is_wrong(&times.0) || is_wrong(&times.1) {
        return Err(libc::EINVAL);
    }
    Ok(Some(times.into()))
}
