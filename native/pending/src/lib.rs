//! Changes that commands have made in layers over the real directories: listed, put into effect, and dropped. An
//! upper layer is only read here while it may be mounted.

mod accepting;
mod dropping;
mod error;
mod layer;
mod node;
mod removing;
mod set;
mod settled;
mod settlement;
mod sweep;

pub use accepting::accept;
pub use dropping::drop_changes;
pub use error::PendingError;
pub use layer::listing::changes;
pub use removing::{REMOVED, remove_tree};
pub use settlement::Settlement;
pub use sweep::sweep_pending;
