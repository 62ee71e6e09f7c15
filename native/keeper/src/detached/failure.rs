//! Why a detached command could not be started.

use std::io;

use forkline_launch::Step;

/// The step that failed, the errno, and what failed; for a failed launch the host knows what it was.
pub type DetachedFailure = (Step, i32, String);

/// Converts errors about descriptors; `subject` names what the descriptor is of.
pub fn descriptors(subject: &str) -> impl Fn(io::Error) -> DetachedFailure {
    move |error| (Step::Descriptors, error.raw_os_error().unwrap_or(0), subject.to_owned())
}
