//! Why a detached command could not be started.

use std::io;

use forkline_launch::Step;

/// Where it failed, why, and on what; a launch's subject is for the host to tell.
pub type DetachedFailure = (Step, i32, String);

/// Makes failures of errors with a descriptor: `subject` names what it is of.
pub fn descriptors(subject: &str) -> impl Fn(io::Error) -> DetachedFailure {
    move |error| (Step::Descriptors, error.raw_os_error().unwrap_or(0), subject.to_owned())
}
