//! What commands have changed, as a list.

pub(crate) mod entries;
pub(crate) mod list;
pub(crate) mod told;
