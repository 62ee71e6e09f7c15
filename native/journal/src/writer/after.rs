//! How things are after the end.

use std::os::fd::{AsFd, BorrowedFd};

use crate::log::frame;
use crate::node::now;
use crate::reader::error::JournalError;
use crate::reader::journals::open;
use crate::reader::present::{Sight, look_around};
use crate::reader::reach::DirectoryReach;
use crate::reader::replay::past_of;
use crate::record::LogRecord;

/// Returns the records that tell how all is that a journal speaks of.
pub(crate) fn after(store: BorrowedFd, id: &str) -> Result<Vec<u8>, JournalError> {
    let journal = open(store.as_fd(), id, false)?;
    let past = past_of(std::slice::from_ref(&journal));
    let sight = Sight { entries: None, before_opening: None };
    let present = look_around(&past, &mut DirectoryReach::default(), sight);
    let mut bytes = Vec::new();
    for (key, occupied) in &present.names {
        let (directory, name, now) = (key.directory, key.name.clone(), occupied.status);
        frame(&LogRecord::NameAfter { directory, name, now }, &mut bytes);
    }
    for (node, spots) in &present.spots {
        let now = spots.first().map(|spot| spot.status);
        frame(&LogRecord::NodeAfter { node: *node, now }, &mut bytes);
    }
    frame(&LogRecord::Ended(now()), &mut bytes);
    Ok(bytes)
}
