//! Why a command could not be started.

use std::fmt;
use std::io;

/// The step of a launch that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Starting the keeper of a detached command.
    Keeper,
    /// Making pipes, the script's descriptor, the output file, or opening `/dev/null`.
    Descriptors,
    /// Creating the process.
    Clone,
    /// Leaving the host's session.
    Session,
    /// Asking to be told of the host's death.
    ParentDeath,
    /// Entering the working directory.
    Directory,
    /// Putting stdio in place.
    Stdio,
    /// Closing the host's descriptors.
    Close,
    /// Taking the terminal.
    Terminal,
    /// Executing the shell.
    Exec,
}

impl Step {
    const ALL: [Step; 10] = [
        Step::Keeper,
        Step::Descriptors,
        Step::Clone,
        Step::Session,
        Step::ParentDeath,
        Step::Directory,
        Step::Stdio,
        Step::Close,
        Step::Terminal,
        Step::Exec,
    ];

    /// The step of this name, as another process of ours tells it.
    pub fn named(name: &str) -> Option<Step> {
        Step::ALL.into_iter().find(|step| step.name() == name)
    }

    /// Its name in errors.
    pub fn name(self) -> &'static str {
        match self {
            Step::Keeper => "keeper",
            Step::Descriptors => "descriptors",
            Step::Clone => "clone",
            Step::Session => "session",
            Step::ParentDeath => "parentDeath",
            Step::Directory => "directory",
            Step::Stdio => "stdio",
            Step::Close => "close",
            Step::Terminal => "terminal",
            Step::Exec => "exec",
        }
    }
}

/// A launch that failed: nothing runs, nothing is left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchError {
    /// Where it failed.
    pub step: Step,
    /// The errno.
    pub errno: i32,
    /// What the step was working on: a directory, the shells, an environment variable.
    pub subject: String,
}

impl LaunchError {
    /// From the error of a system call.
    pub fn new(step: Step, error: &io::Error, subject: impl Into<String>) -> Self {
        LaunchError { step, errno: error.raw_os_error().unwrap_or(0), subject: subject.into() }
    }
}

impl fmt::Display for LaunchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = errno_text(self.errno);
        let subject = &self.subject;
        match self.step {
            Step::Descriptors => write!(formatter, "cannot make {subject}: {reason}"),
            Step::Keeper => write!(formatter, "cannot start {subject}: {reason}"),
            Step::Clone => write!(formatter, "cannot create a process: {reason}"),
            Step::Directory => write!(formatter, "cannot enter directory '{subject}': {reason}"),
            Step::Exec => write!(formatter, "cannot execute {subject}: {reason}"),
            step => write!(formatter, "launch step '{}' failed: {reason}", step.name()),
        }
    }
}

impl std::error::Error for LaunchError {}

/// Why the engine can't be started.
#[derive(Debug)]
pub struct StartError {
    /// What was being done.
    pub action: &'static str,
    /// The errno.
    pub errno: i32,
}

impl StartError {
    /// What makes one of an error while `action` was done.
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
