//! Changes that commands have made in layers over the real directories: listed, put into effect, and dropped. An
//! upper layer is only read here while it may be mounted.

mod accepting;
mod content;
mod dropping;
mod error;
mod finishing;
mod guard;
mod later;
mod layer;
mod listing;
mod node;
mod not_accepted;
mod order;
mod putting;
mod readable;
mod removing;
mod set;
mod settled;
mod settlement;
mod sweep;
mod walk;

pub use accepting::accept;
pub use dropping::drop_changes;
pub use error::PendingError;
pub use listing::changes;
pub use removing::{REMOVED, remove_tree};
pub use settlement::Settlement;
pub use sweep::sweep_pending;
