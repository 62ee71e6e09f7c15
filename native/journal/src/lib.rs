//! What a command has changed of the files: what was there is written down before, in a journal for each
//! command; afterwards it is listed, and put back.

mod changes;
mod extents;
mod fields;
mod log;
mod node;
mod open;
mod readable;
mod reader;
mod record;
mod record_bytes;
mod revert;
mod store;
mod sweep;
mod writer;

pub use changes::list::{Changes, FileChange};
pub use changes::told::changes;
pub use node::NodeKind;
pub use reader::error::JournalError;
pub use revert::reverting::{Reverted, revert};
pub use sweep::{KEPT_BOUNDS, StoreBounds, StoredOne, ids_in, is_id, remove_oldest, sweep};
pub use writer::journal::Journal;
pub use writer::limits::{
    Fate, JournalLimits, JournalLimits as Limits, NameAt, RefusedByJournal as CallRefused, WhenFull,
};
