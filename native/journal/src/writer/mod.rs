//! Writes down what was there, before it is changed.

mod after;
pub(crate) mod journal;
pub(crate) mod known;
pub(crate) mod limits;
pub(crate) mod made;
mod notes;
pub(crate) mod pack;
