//! Calls that make a name, made for a caller by the warden. A call that goes on by itself reads its path
//! again, which another thread may have replaced by that of a setting; and it may still be on its way when the
//! setting, whose mount would have stopped it, has been removed. So this is done from the beginning. Where
//! changes are recorded, all other calls that change something are made here too.
//!
//! The results are those of the kernel: it gets the last part of each path as the caller has written it.

use std::path::PathBuf;

mod acting;
mod attributes;
mod made_name;
mod opening;
mod refusing;
mod waiting;

pub use made_name::MadeName;

use crate::sandbox::landlock;
use crate::sandbox::plan::Plan;

/// Makes calls for processes in the sandbox.
pub struct Deputy {
    /// The settings that are judged, whether they exist or not. No call may make one here.
    settings: Vec<PathBuf>,
    /// Where commands can make files.
    writable: Vec<PathBuf>,
    /// Whether calls that make no name are made here too.
    makes_all: bool,
}

impl Deputy {
    pub fn new(plan: &Plan, settings: Vec<PathBuf>, makes_all: bool) -> Deputy {
        Deputy { settings, writable: landlock::places(plan).collect(), makes_all }
    }
}
