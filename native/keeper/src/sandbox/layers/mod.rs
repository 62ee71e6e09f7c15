//! The caches of a user's tools, as commands see them: the user's own, which stay as they are, below a
//! layer that belongs to the workspace and lies on disk.
//!
//! Several sandboxes of one workspace may stand at a time, and a layer has one mount: so there are several
//! layers, of which a sandbox holds one by a lock, and sees the others below its own.

mod mounting;
mod overlay;
mod owner;
mod removal;
pub mod requested;
mod store;
mod sweep;
#[cfg(test)]
mod tests;

pub use mounting::place_caches;
pub use overlay::overlay;
pub use removal::remove;
pub use store::{Layers, prepare};
pub use sweep::sweep;
