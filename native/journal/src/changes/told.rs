//! Lists what commands have changed.

use std::os::fd::BorrowedFd;

use crate::changes::entries::Differing;
use crate::changes::list::{Changes, FileChange};
use crate::node::NodeKind;
use crate::reader::error::JournalError;
use crate::reader::journals::{OpenJournal, open};
use crate::reader::past::Past;
use crate::reader::paths::path_buf;
use crate::reader::present::{PresentState, Sight, look_around};
use crate::reader::reach::DirectoryReach;
use crate::reader::replay::past_of;

/// The most entries of directories that are counted.
const MOST_ENTRIES: usize = 200_000;

/// Lists what the journals of these ids, oldest first, have changed together: what was there before the first,
/// and is not as it was.
///
/// # Errors
/// A journal that is not there, or can't be read.
pub fn changes(store: BorrowedFd, ids: &[&str]) -> Result<Changes, JournalError> {
    let journals = ids.iter().map(|id| open(store, id, false));
    let journals = journals.collect::<Result<Vec<OpenJournal>, _>>()?;
    let past = past_of(&journals);
    let sight = Sight { entries: Some(MOST_ENTRIES), before_opening: None };
    let present = look_around(&past, &mut DirectoryReach::default(), sight);
    let list = Differing::of(&journals, &past, &present).list();
    Ok(told(&past, &present, list))
}

fn told(past: &Past, present: &PresentState, list: Vec<FileChange>) -> Changes {
    let mut unseen = past.unseen.clone();
    for (key, errno) in &present.unseen {
        let path = path_buf(past.paths_of(key).1);
        unseen.push(format!("{}: {}", path.display(), std::io::Error::from(*errno)));
    }
    let mut unrevertable: Vec<_> =
        past.lost.iter().map(|(path, reason)| (path_buf(path.clone()), reason.clone())).collect();
    unrevertable.sort();
    unrevertable.dedup_by(|one, other| one.0 == other.0);
    let about = past
        .about
        .iter()
        .map(|(name, value)| (String::from_utf8_lossy(name).into_owned(), value.clone()));
    let mut changes = Changes {
        is_complete: unseen.is_empty(),
        unseen,
        unrevertable,
        about: about.collect(),
        is_reverted: past.is_reverted,
        ..Changes::default()
    };
    for change in &list {
        match change {
            FileChange::Created { kind: NodeKind::Directory, files, .. } => {
                changes.created += files
            }
            FileChange::Created { .. } => changes.created += 1,
            FileChange::Changed { .. } => changes.changed += 1,
            FileChange::Deleted { kind: NodeKind::Directory, .. } => {}
            FileChange::Deleted { .. } => changes.deleted += 1,
            FileChange::Renamed { .. } => changes.renamed += 1,
            FileChange::Mode { .. } | FileChange::Attributes { .. } => {}
        }
    }
    changes.list = list;
    changes
}
