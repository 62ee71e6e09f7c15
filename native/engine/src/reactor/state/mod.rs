//! The state that the reactor keeps of commands, owners and keepers.

pub mod command;
pub mod followers;
pub mod grace;
pub mod group;
pub mod input;
pub mod leftover;
pub mod questions;
pub mod readiness;
pub mod silence;
pub mod timers;
