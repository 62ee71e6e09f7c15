//! Puts back what commands have changed.

mod acting;
mod aside;
mod attributes;
mod conflict;
mod edges;
mod marks;
mod nearby;
mod placing;
mod plan;
mod remake;
mod removal;
pub(crate) mod reverting;
mod stage;
mod staging;
