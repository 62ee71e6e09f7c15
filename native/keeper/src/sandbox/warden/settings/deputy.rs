//! Calls that make a name, made for a caller by the warden. A call that goes on by itself reads its path
//! again, which another thread may have replaced by that of a setting; and it may still be on its way when the
//! setting, whose mount would have stopped it, has been removed. So this is done from the beginning.
//!
//! The results are those of the kernel: it gets the last part of each path as the caller has written it.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::Path;

use super::made_name::{MadeName, is_kept, last_errno, make_for, opened};
use super::opening::{open_at, own_descriptor, refuses};
use super::{Settings, Shared};
use crate::sandbox::filter::calls::Naming;
use crate::sandbox::notices::{Listener, Notice};
use crate::sandbox::warden::caller::{Caller, PathBase, path_of};
use crate::sandbox::warden::gate::Judgement;
use crate::sandbox::warden::gate::request::{Action, FileRequest, Named};

impl Settings {
    /// Makes a call that has passed all other judgement, if it makes a name.
    pub fn act_for(&self, listener: &Listener, notice: &Notice, naming: Naming) -> Judgement {
        let pid = notice.pid as i32;
        let failed = |errno| Judgement::Return(Err(errno));
        // Not in the caller's memory, which can't be read before it has executed a program; and a flag that is
        // wrong comes before the path.
        let [_, second, third, ..] = notice.arguments.map(|argument| argument as i32);
        match naming {
            Naming::Open if is_nameless(second) => return Judgement::Continue,
            Naming::OpenAt if is_nameless(third) => return Judgement::Continue,
            _ => {}
        }
        let request = match FileRequest::read(&Caller::unknown(pid), notice, naming) {
            Ok(request) if !request.makes_name() => return Judgement::Continue,
            Ok(request) => request,
            Err(errno) => return failed(errno),
        };
        let caller = match Caller::of(pid) {
            Ok(caller) => caller,
            Err(errno) => return failed(errno),
        };
        if !listener.stands(notice) {
            return failed(libc::EINTR);
        }
        if let Action::Open { flags, mode } = request.action {
            let stands = || listener.stands(notice);
            return match self.shared.open_for(&caller, &request.what, flags, mode, &stands) {
                Ok(file) => Judgement::File(file, flags),
                Err(errno) => failed(errno),
            };
        }
        Judgement::Return(self.shared.change_for(&caller, &request))
    }
}

impl Shared {
    fn change_for(&self, caller: &Caller, request: &FileRequest) -> Result<(), i32> {
        match &request.action {
            Action::MakeDirectory { mode } => {
                let place = MadeName::of(caller, &request.what)?;
                self.refuse_setting(&place)?;
                self.refuse_elsewhere(caller, &place)?;
                let (at, name) = place.raw();
                make_for(caller, *mode, |mode| {
                    // SAFETY: a name that ends with NUL, and numbers.
                    done(unsafe { libc::mkdirat(at, name.as_ptr(), mode) }.into())
                })
            }
            Action::Symlink { target } => {
                if target.is_empty() {
                    return Err(libc::ENOENT);
                }
                let target = CString::new(&**target).map_err(|_| libc::EINVAL)?;
                let place = self.place_for(caller, &request.what)?;
                let (at, name) = place.raw();
                // SAFETY: texts that end with NUL, and a number.
                let make = || unsafe { libc::symlinkat(target.as_ptr(), at, name.as_ptr()) };
                caller.act(|| done(make().into()))
            }
            Action::Rename { to, flags } => self.rename_for(caller, &request.what, to, *flags),
            Action::Link { to, flags } => self.link_for(caller, &request.what, to, *flags),
            Action::MakeNode { mode, device } => {
                match mode & libc::S_IFMT {
                    0 | libc::S_IFREG | libc::S_IFCHR | libc::S_IFBLK => {}
                    libc::S_IFIFO | libc::S_IFSOCK => {}
                    libc::S_IFDIR => return Err(libc::EPERM),
                    _ => return Err(libc::EINVAL),
                }
                let place = self.place_for(caller, &request.what)?;
                let (at, name) = place.raw();
                if matches!(mode & libc::S_IFMT, libc::S_IFCHR | libc::S_IFBLK) {
                    return refusal(caller, &place);
                }
                make_for(caller, *mode, |mode| {
                    // SAFETY: a name that ends with NUL, and numbers.
                    done(unsafe {
                        libc::syscall(libc::SYS_mknodat, at, name.as_ptr(), mode, *device)
                    })
                })
            }
            // Asked about only because they make a name.
            _ => Err(libc::EACCES),
        }
    }

    fn rename_for(&self, caller: &Caller, from: &Named, to: &Named, flags: u32) -> Result<(), i32> {
        let others = libc::RENAME_NOREPLACE | libc::RENAME_WHITEOUT;
        let is_exchange = flags & libc::RENAME_EXCHANGE != 0;
        if flags & !(others | libc::RENAME_EXCHANGE) != 0 || is_exchange && flags & others != 0 {
            return Err(libc::EINVAL);
        }
        let (from, to) = (MadeName::of(caller, from)?, MadeName::of(caller, to)?);
        for (place, missing) in [(&from, libc::ENOENT), (&to, libc::EACCES)] {
            match self.refuse_setting(place) {
                // It is a mount.
                Err(_) if place.is_there() => return Err(libc::EBUSY),
                Err(_) => return Err(missing),
                Ok(()) if self.is_above(place) => return Err(libc::EBUSY),
                Ok(()) if self.is_elsewhere(place) => return Err(libc::EACCES),
                Ok(()) => {}
            }
        }
        // Landlock lets none have another name either.
        if from.is_device() || is_exchange && to.is_device() {
            return Err(libc::EACCES);
        }
        let ((old, from), (new, to)) = (from.raw(), to.raw());
        let (from, to) = (from.as_ptr(), to.as_ptr());
        // SAFETY: names that end with NUL, and numbers.
        let make = || unsafe { libc::syscall(libc::SYS_renameat2, old, from, new, to, flags) };
        caller.act(|| done(make()))
    }

    fn link_for(&self, caller: &Caller, from: &Named, to: &Named, flags: i32) -> Result<(), i32> {
        if flags & !(libc::AT_SYMLINK_FOLLOW | libc::AT_EMPTY_PATH) != 0 {
            return Err(libc::EINVAL);
        }
        let file = source_of(caller, from, flags)?;
        let to = self.place_for(caller, to)?;
        // A second name would stay a way to the setting.
        if self.is_setting(&path_of(&file)?) && !is_kept(&file) {
            return Err(libc::EACCES);
        }
        let (path, (new, name)) = (opened(&file), to.raw());
        let (path, name, follow) = (path.as_ptr(), name.as_ptr(), libc::AT_SYMLINK_FOLLOW);
        // SAFETY: names that end with NUL, and numbers.
        let make = || unsafe { libc::linkat(libc::AT_FDCWD, path, new, name, follow) };
        caller.act(|| done(make().into()))
    }

    /// Finds the place of something that is no directory, where it is no setting, and above none.
    fn place_for(&self, caller: &Caller, named: &Named) -> Result<MadeName, i32> {
        let place = MadeName::of(caller, named)?;
        self.refuse_setting(&place)?;
        if self.is_above(&place) {
            return Err(if place.is_there() { libc::EEXIST } else { libc::EBUSY });
        }
        self.refuse_elsewhere(caller, &place)?;
        Ok(place)
    }

    /// Refuses a name that is a setting, unless the kernel does.
    pub fn refuse_setting(&self, place: &MadeName) -> Result<(), i32> {
        let is_setting = place.path.as_deref().is_some_and(|path| self.is_setting(path));
        if is_setting && !is_kept(&place.directory) { Err(libc::EACCES) } else { Ok(()) }
    }

    /// Returns whether a path is that of a setting, or below one.
    pub fn is_setting(&self, path: &Path) -> bool {
        self.settings().any(|setting| path.starts_with(setting))
    }

    /// Returns whether settings are, or would be, in a directory of this name. Such a directory must not be
    /// moved, and nothing come in its place: the settings would be those of another directory.
    fn is_above(&self, place: &MadeName) -> bool {
        let is_above = |path: &Path| self.settings().any(|setting| setting.starts_with(path));
        place.path.as_deref().is_some_and(is_above) && !is_kept(&place.directory)
    }

    fn refuse_elsewhere(&self, caller: &Caller, place: &MadeName) -> Result<(), i32> {
        if self.is_elsewhere(place) { refusal(caller, place) } else { Ok(()) }
    }

    /// Returns whether a name is where commands can't make any, and no mount keeps them from it: Landlock,
    /// to which this process is not bound, does.
    pub fn is_elsewhere(&self, place: &MadeName) -> bool {
        let is_among = |path: &Path| self.writable.iter().any(|root| path.starts_with(root));
        !place.path.as_deref().is_none_or(is_among) && !is_kept(&place.directory)
    }

    pub fn settings(&self) -> impl Iterator<Item = &Path> {
        self.repositories.iter().flat_map(|one| one.settings.iter().map(|path| &**path))
    }
}

/// Returns whether no name is made with these flags. Kernels differ in whether that is an error.
fn is_nameless(flags: i32) -> bool {
    const NAMELESS: i32 = libc::O_PATH | libc::O_TMPFILE & !libc::O_DIRECTORY;
    flags & libc::O_CREAT == 0 || flags & NAMELESS != 0 || refuses(flags)
}

/// Opens (O_PATH) the file that gets a second name.
fn source_of(caller: &Caller, from: &Named, flags: i32) -> Result<OwnedFd, i32> {
    if from.path.is_empty() {
        return match from.base {
            _ if flags & libc::AT_EMPTY_PATH == 0 => Err(libc::ENOENT),
            PathBase::Directory => caller.place(b".")?.open(),
            PathBase::Descriptor(number) => caller.descriptor(number),
        };
    }
    let is_followed = flags & libc::AT_SYMLINK_FOLLOW != 0;
    if let Some(number) = own_descriptor(&from.path).filter(|_| is_followed) {
        return caller.descriptor(number).map_err(|_| libc::ENOENT);
    }
    let place = MadeName::of(caller, from)?;
    let follow = if is_followed { 0 } else { libc::O_NOFOLLOW };
    let flags = libc::O_PATH | libc::O_CLOEXEC | follow;
    caller.act(|| open_at(&place.directory, &place.name, flags, 0))
}

/// Returns the error for something that commands must not make there, which Landlock refuses elsewhere: it
/// comes after all of the kernel's other ones.
fn refusal(caller: &Caller, place: &MadeName) -> Result<(), i32> {
    let (at, name) = place.raw();
    let device = libc::makedev(1, 3);
    // SAFETY: a name that ends with NUL, and numbers. Nobody in a sandbox can make a device.
    let make = || unsafe { libc::mknodat(at, name.as_ptr(), libc::S_IFCHR, device) };
    match caller.act(|| done(make().into())) {
        Err(libc::EPERM) | Ok(()) => Err(libc::EACCES),
        Err(errno) => Err(errno),
    }
}

fn done(result: i64) -> Result<(), i32> {
    if result == 0 { Ok(()) } else { Err(last_errno()) }
}
