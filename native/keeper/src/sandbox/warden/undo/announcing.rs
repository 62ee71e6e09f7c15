//! What a request is about to do, said to the record of its call.

use forkline_journal::Fate;
use rustix::fs::{Mode, OFlags, openat};

use super::recording::{RecordedName, Recording, named};
use crate::sandbox::warden::gate::request::Action;

impl Recording<'_> {
    /// One name is about to be acted on.
    pub fn announce(&self, spot: &RecordedName, action: &Action) -> Result<(), i32> {
        match action {
            Action::Open { flags, .. } => self.open(spot, *flags),
            Action::MakeDirectory { .. } => self.make_directory(spot),
            Action::MakeNode { .. } | Action::Symlink { .. } => self.touch(spot, Fate::Made),
            Action::Remove { .. } => self.touch(spot, Fate::Gone),
            Action::ChangeMode { .. } | Action::SetTimes { .. } => self.change_named(spot),
            _ => Ok(()),
        }
    }

    /// A name is about to become another one, or to get a second one.
    pub fn announce_two(
        &self,
        from: &RecordedName,
        to: &RecordedName,
        action: &Action,
    ) -> Result<(), i32> {
        match action {
            Action::Rename { flags, .. } => self.rename(from, to, *flags),
            _ => {
                let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let name = from.path.as_deref().and_then(named);
                let file =
                    name.map(|(_, name)| openat(from.directory, &*name, flags, Mode::empty()));
                match (file, from.path.as_deref()) {
                    (Some(Ok(file)), Some(path)) => self.link(&file, path, to),
                    _ => self.touch(to, Fate::Made),
                }
            }
        }
    }
}
