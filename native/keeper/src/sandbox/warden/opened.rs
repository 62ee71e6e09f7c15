//! What the warden opens before it joins the sandbox, in which it is hidden.

use std::io;

use crate::sandbox::plan::Plan;
use crate::sandbox::warden::agents::OutsideAgents;
use crate::sandbox::warden::gate::{HostRoot, JudgeOutside};
use crate::sandbox::warden::held::HeldStore;
use crate::sandbox::warden::undo::JournalStore;

/// What lies outside of the sandbox.
pub struct OpenedOutside {
    /// None: settings are read-only.
    pub judging: Option<JudgeOutside>,
    pub agents: OutsideAgents,
    /// None: changes are not recorded.
    pub journals: Option<JournalStore>,
}

impl OpenedOutside {
    /// The error is that of the journals, which were asked for.
    pub fn open(plan: &Plan) -> io::Result<OpenedOutside> {
        let store = HeldStore::of(plan);
        let root = HostRoot::open().ok();
        let judging =
            store.zip(root).map(|(store, root)| JudgeOutside { store: store.into(), root });
        let journals = JournalStore::of(plan).transpose()?;
        Ok(OpenedOutside { judging, agents: OutsideAgents::open(&plan.agents), journals })
    }
}
