//! Decisions on what commands execute: the rules of a plan, and what has to be there for them.

pub mod plan;
pub mod reentry;
mod tracing;

use regress::Regex;

use crate::sandbox::report::{Protection, SetupError};
use plan::{ArgumentPattern, ExecPlan};

/// Checks that the decisions of a plan can be made here, before there is a sandbox.
pub fn check(plan: &ExecPlan) -> Result<(), SetupError> {
    let arguments = plan.rules.iter().flat_map(|rule| &rule.arguments);
    for argument in arguments {
        let ArgumentPattern::Found { source, flags } = argument else { continue };
        if Regex::with_flags(source, &**flags).is_err() {
            let action = format!("reading the pattern /{source}/{flags}");
            let error = std::io::Error::from_raw_os_error(libc::EINVAL);
            return Err(SetupError::of(Protection::Exec, action)(error));
        }
    }
    if plan.can_refuse() {
        let held = "holding processes (ptrace), so that they execute what was decided on";
        tracing::check().map_err(SetupError::of(Protection::Exec, held))?;
    }
    Ok(())
}
