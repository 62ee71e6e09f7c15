//! Errors of starting a command or the engine.

use std::fmt;
use std::io;

pub use forkline_launch::Step;
use forkline_protocol::why_denied;

/// A launch that failed: no process runs, and nothing is left behind. After [`Step::Lost`] alone a process
/// may have run, and have been ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchError {
    /// The step that failed.
    pub step: Step,
    /// The errno.
    pub errno: i32,
    /// The object of the step: a directory, the shells, an environment variable.
    pub subject: String,
    /// The reason in words. None: what the system says of the errno.
    pub why: Option<String>,
}

impl LaunchError {
    /// Makes a launch error from the error of a system call.
    pub fn new(step: Step, error: &io::Error, subject: impl Into<String>) -> Self {
        let errno = error.raw_os_error().unwrap_or(0);
        LaunchError { step, errno, subject: subject.into(), why: None }
    }
}

impl LaunchError {
    /// Says why the program may not be executed, if that is what these words of its sandbox tell.
    pub fn deny(&mut self, told: &[String]) {
        if self.step == Step::Exec && self.errno == libc::EACCES {
            self.why = told.iter().rev().find_map(|word| why_denied(word));
        }
    }
}

impl fmt::Display for LaunchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.why.clone().unwrap_or_else(|| errno_text(self.errno));
        let subject = &self.subject;
        match self.step {
            Step::Descriptors => write!(formatter, "cannot make {subject}: {reason}"),
            Step::Keeper => write!(formatter, "cannot start {subject}: {reason}"),
            Step::Clone => write!(formatter, "cannot create a process: {reason}"),
            Step::Directory => write!(formatter, "cannot enter directory '{subject}': {reason}"),
            Step::Exec => write!(formatter, "cannot execute {subject}: {reason}"),
            Step::Sandbox => write!(formatter, "cannot make the sandbox: {subject}: {reason}"),
            Step::Lost => write!(formatter, "cannot tell whether {subject} has run: {reason}"),
            Step::Limits => write!(formatter, "cannot keep its limits: {subject}: {reason}"),
            step => write!(formatter, "launch step '{}' failed: {reason}", step.name()),
        }
    }
}

impl std::error::Error for LaunchError {}

/// The reason why the engine can't be started.
#[derive(Debug)]
pub struct StartError {
    /// The action that failed.
    pub action: &'static str,
    /// The errno.
    pub errno: i32,
}

impl StartError {
    /// Returns a function that turns an error of `action` into a [`StartError`].
    pub fn in_action<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> StartError {
        move |error| StartError { action, errno: error.into().raw_os_error().unwrap_or(0) }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.action, errno_text(self.errno))
    }
}

impl std::error::Error for StartError {}

/// The C library's words for an errno.
pub fn errno_text(errno: i32) -> String {
    let text = io::Error::from_raw_os_error(errno).to_string();
    match text.find(" (os error") {
        Some(end) => text.split_at(end).0.to_owned(),
        None => text,
    }
}
