//! Removes something outside, and keeps what is known of it afterwards.

use std::os::fd::BorrowedFd;

use crate::accepting::not_accepted::{NotAccepted, not_noted};
use crate::layer::walk::LayerEntry;
use crate::node::parted;
use crate::removing::{NameLoss, remove_telling};
use crate::settled::SettledLog;

/// Removes what a path has outside, and keeps which files have lost a name by that.
pub(crate) fn remove(
    settled: &mut SettledLog,
    entry: &LayerEntry,
    handle: Vec<u8>,
    directory: BorrowedFd,
) -> Result<(), NotAccepted> {
    let (_, name) = parted(&entry.path);
    settled.begin_removal(entry.root, &entry.path, handle).map_err(not_noted)?;
    let mut noted = Ok(());
    remove_telling(directory, name, &mut |file, loss| {
        let noting = match loss {
            NameLoss::Begins => settled.begin_renaming(file),
            NameLoss::Done => settled.add_renamed(file),
        };
        noted = std::mem::replace(&mut noted, Ok(())).and(noting);
    })?;
    noted.map_err(not_noted)
}
