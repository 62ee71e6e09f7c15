//! Makes the calls, each as the kernel would.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use super::Deputy;
use super::attributes::find;
use super::made_name::{MadeName, done, is_kept, make_for, opened};
use super::opening::{AskedOpening, refuses};
use super::refusing::refusal;
use crate::sandbox::filter::naming::Naming;
use crate::sandbox::notices::{Listener, Notice};
use crate::sandbox::warden::caller::{Caller, path_of};
use crate::sandbox::warden::gate::Judgement;
use crate::sandbox::warden::gate::request::{Action, FileRequest, Meant, Named};
use crate::sandbox::warden::undo::Fate;
use crate::sandbox::warden::undo::recording::Recording;

/// The flags with which no name is made.
const NAMELESS: i32 = libc::O_PATH | libc::O_TMPFILE & !libc::O_DIRECTORY;

impl Deputy {
    /// Makes a call that has passed all other judgement, if it makes a name.
    pub fn act_for(
        &self,
        listener: &Listener,
        notice: &Notice,
        naming: Naming,
        request: Result<FileRequest, i32>,
        recording: &Recording,
    ) -> Judgement {
        let pid = notice.pid as i32;
        let failed = |errno| Judgement::Return(Err(errno));
        // Not in the caller's memory, which can't be read before it has executed a program; and a flag that is
        // wrong comes before the path.
        let [_, second, third, ..] = notice.arguments.map(|argument| argument as i32);
        match naming {
            Naming::Open if self.goes_on(second) => return Judgement::Continue,
            Naming::OpenAt if self.goes_on(third) => return Judgement::Continue,
            _ => {}
        }
        let request = match request {
            Ok(request) if !self.makes_all && !request.makes_name() => return Judgement::Continue,
            Ok(request) => request,
            Err(errno) if !self.may_go_on(pid, naming, [second, third]) => return failed(errno),
            Err(_) => {
                recording.miss_program("a program has run whose memory can't be read");
                return Judgement::Continue;
            }
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
            let opening = AskedOpening { caller: &caller, flags, mode, stands: &stands, recording };
            return match self.open_for(&request.what, &opening) {
                Ok(Some(file)) => Judgement::File(file, flags),
                Ok(None) => Judgement::Continue,
                Err(errno) => failed(errno),
            };
        }
        Judgement::Return(self.change_for(&caller, &request, recording))
    }

    /// Returns whether a call may go on unseen, whose caller can't be read: before it executes a program, or because
    /// that can't be read by its user.
    fn may_go_on(&self, pid: i32, naming: Naming, flags: [i32; 2]) -> bool {
        let [second, third] = flags;
        let makes_name = match naming {
            Naming::Open => second & libc::O_CREAT != 0,
            Naming::OpenAt => third & libc::O_CREAT != 0,
            naming => naming.makes_name(),
        };
        let is_unread = Caller::unknown(pid).read(1, 1) == Err(libc::EPERM);
        self.makes_all && is_unread && (self.settings.is_empty() || !makes_name)
    }

    /// Returns whether the caller opens the file itself.
    fn goes_on(&self, flags: i32) -> bool {
        let is_changed = flags & (libc::O_WRONLY | libc::O_RDWR | libc::O_TRUNC) != 0;
        if self.makes_all && is_changed && flags & (NAMELESS | libc::O_CREAT) == 0 {
            return false;
        }
        is_nameless(flags)
    }

    fn change_for(
        &self,
        caller: &Caller,
        request: &FileRequest,
        recording: &Recording,
    ) -> Result<(), i32> {
        match &request.action {
            Action::MakeDirectory { mode } => {
                let place = MadeName::of(caller, &request.what)?;
                self.refuse_setting(&place)?;
                self.refuse_elsewhere(caller, &place)?;
                recording.make_directory(&place.spot())?;
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
                recording.touch(&place.spot(), Fate::Made)?;
                let (at, name) = place.raw();
                // SAFETY: texts that end with NUL, and a number.
                let make = || unsafe { libc::symlinkat(target.as_ptr(), at, name.as_ptr()) };
                caller.act(|| done(make().into()))
            }
            Action::Rename { to, flags } => {
                self.rename_for(caller, [&request.what, to], *flags, recording)
            }
            Action::Link { to, flags } => {
                self.link_for(caller, [&request.what, to], *flags, recording)
            }
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
                recording.touch(&place.spot(), Fate::Made)?;
                make_for(caller, *mode, |mode| {
                    // SAFETY: a name that ends with NUL, and numbers.
                    done(unsafe {
                        libc::syscall(libc::SYS_mknodat, at, name.as_ptr(), mode, *device)
                    })
                })
            }
            Action::Remove { flags: libc::AT_REMOVEDIR } if is_root(&request.what.path) => {
                Err(libc::EBUSY)
            }
            Action::Remove { flags } => {
                let place = MadeName::of(caller, &request.what)?;
                recording.touch(&place.spot(), Fate::Gone)?;
                let (at, name) = place.raw();
                // SAFETY: a name that ends with NUL, and numbers.
                caller.act(|| done(unsafe { libc::unlinkat(at, name.as_ptr(), *flags) }.into()))
            }
            _ => self.change_attributes(caller, request, recording),
        }
    }

    fn rename_for(
        &self,
        caller: &Caller,
        [from, to]: [&Named; 2],
        flags: u32,
        recording: &Recording,
    ) -> Result<(), i32> {
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
        recording.rename(&from.spot(), &to.spot(), flags)?;
        let ((old, from), (new, to)) = (from.raw(), to.raw());
        let (from, to) = (from.as_ptr(), to.as_ptr());
        // SAFETY: names that end with NUL, and numbers.
        let make = || unsafe { libc::syscall(libc::SYS_renameat2, old, from, new, to, flags) };
        caller.act(|| done(make()))
    }

    fn link_for(
        &self,
        caller: &Caller,
        [from, to]: [&Named; 2],
        flags: i32,
        recording: &Recording,
    ) -> Result<(), i32> {
        if flags & !(libc::AT_SYMLINK_FOLLOW | libc::AT_EMPTY_PATH) != 0 {
            return Err(libc::EINVAL);
        }
        let file = source_of(caller, from, flags)?;
        let to = self.place_for(caller, to)?;
        // A second name would stay a way to the setting.
        let from = path_of(&file)?;
        if self.is_setting(&from) && !is_kept(&file) {
            return Err(libc::EACCES);
        }
        recording.link(&file, &from, &to.spot())?;
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
}

/// Returns whether no name is made with these flags. Kernels differ in whether that is an error.
fn is_nameless(flags: i32) -> bool {
    flags & libc::O_CREAT == 0 || flags & NAMELESS != 0 || refuses(flags)
}

/// Opens (O_PATH) the file that gets a second name.
fn is_root(path: &[u8]) -> bool {
    !path.is_empty() && path.iter().all(|byte| *byte == b'/')
}

fn source_of(caller: &Caller, from: &Named, flags: i32) -> Result<OwnedFd, i32> {
    let meant = match from.path.is_empty() {
        true if flags & libc::AT_EMPTY_PATH == 0 => return Err(libc::ENOENT),
        true => Meant::Descriptor,
        false if flags & libc::AT_SYMLINK_FOLLOW != 0 => Meant::Followed,
        false => Meant::Link,
    };
    find(caller, from, meant).map(|found| found.file)
}
