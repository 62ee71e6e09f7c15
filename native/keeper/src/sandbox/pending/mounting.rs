//! The overlays, in place of the directories themselves.

use super::{layer, roots};
use crate::sandbox::layers::overlay;
use crate::sandbox::mounts::Tree;
use crate::sandbox::plan::{Plan, Rule};
use crate::sandbox::report::SetupError;

/// Returns the overlay over a directory that commands may write to; to be called while nothing is covered. None: its
/// changes are not held.
pub fn held_tree(plan: &Plan, rule: &Rule) -> Option<Result<Tree, SetupError>> {
    let pending = plan.pending.as_ref()?;
    let index = plan.held_rules().position(|held| held == rule)?;
    let made = || {
        let lower = rule.open()?;
        overlay(&[&lower], &layer(&pending.at, index), &rule.path, true)
    };
    Some(made().map_err(roots::refuse(&rule.path)))
}
