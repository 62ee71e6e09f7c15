//! The overlays, in place of the directories themselves.

use std::path::Path;

use super::{layer, roots};
use crate::sandbox::layers::overlay;
use crate::sandbox::plan::Plan;
use crate::sandbox::report::SetupError;
use crate::sandbox::tree::{Content, Placement};

/// Puts an overlay in place of each directory of a resolved plan that commands may write to. To be called while
/// nothing is covered.
pub fn hold(plan: &Plan, steps: &mut [Placement]) -> Result<(), SetupError> {
    let Some(pending) = &plan.pending else { return Ok(()) };
    for (index, rule) in plan.held_rules().enumerate() {
        let made = || {
            let lower = rule.open()?;
            overlay(&[&lower], &layer(&pending.at, index), &rule.path, true)
        };
        let tree = made().map_err(roots::refuse(&rule.path))?;
        place(steps, &rule.path, Content::Writable(tree));
    }
    Ok(())
}

fn place(steps: &mut [Placement], path: &Path, what: Content) {
    let is_its =
        |step: &&mut Placement| step.path == path && matches!(step.what, Content::Writable(_));
    if let Some(step) = steps.iter_mut().find(is_its) {
        step.what = what;
    }
}
