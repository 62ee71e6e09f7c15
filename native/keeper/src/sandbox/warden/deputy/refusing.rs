//! What the deputy makes for nobody: settings, which are judged, and what Landlock refuses.

use std::path::Path;

use super::Deputy;
use super::made_name::{MadeName, done, is_kept};
use crate::sandbox::warden::caller::Caller;

impl Deputy {
    /// Refuses a name that is a setting, unless the kernel does.
    pub fn refuse_setting(&self, place: &MadeName) -> Result<(), i32> {
        let is_setting = place.path.as_deref().is_some_and(|path| self.is_setting(path));
        if is_setting && !is_kept(&place.directory) { Err(libc::EACCES) } else { Ok(()) }
    }

    /// Returns whether a path is that of a setting, or below one.
    pub fn is_setting(&self, path: &Path) -> bool {
        self.settings.iter().any(|setting| path.starts_with(setting))
    }

    /// Returns whether settings are, or would be, in a directory of this name. Such a directory must not be
    /// moved, and nothing come in its place: the settings would be those of another directory.
    pub fn is_above(&self, place: &MadeName) -> bool {
        let is_above = |path: &Path| self.settings.iter().any(|setting| setting.starts_with(path));
        place.path.as_deref().is_some_and(is_above) && !is_kept(&place.directory)
    }

    pub fn refuse_elsewhere(&self, caller: &Caller, place: &MadeName) -> Result<(), i32> {
        if self.is_elsewhere(place) { refusal(caller, place) } else { Ok(()) }
    }

    /// Returns whether a name is where commands can't make any, and no mount keeps them from it: Landlock,
    /// to which this process is not bound, does.
    pub fn is_elsewhere(&self, place: &MadeName) -> bool {
        let is_among = |path: &Path| self.writable.iter().any(|root| path.starts_with(root));
        !place.path.as_deref().is_none_or(is_among) && !is_kept(&place.directory)
    }
}

/// Returns the error for something that commands must not make there, which Landlock refuses elsewhere: it
/// comes after all of the kernel's other ones.
pub fn refusal(caller: &Caller, place: &MadeName) -> Result<(), i32> {
    let (at, name) = place.raw();
    let device = libc::makedev(1, 3);
    // SAFETY: a name that ends with NUL, and numbers. Nobody in a sandbox can make a device.
    let make = || unsafe { libc::mknodat(at, name.as_ptr(), libc::S_IFCHR, device) };
    match caller.act(|| done(make().into())) {
        Err(libc::EPERM) | Ok(()) => Err(libc::EACCES),
        Err(errno) => Err(errno),
    }
}
