//! The steps of a launch, by which its failures are told apart.

/// The step of a launch that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Starting the keeper, or a process that it makes for the command.
    Keeper,
    /// Making pipes, the script's descriptor, the output file, or opening `/dev/null`.
    Descriptors,
    /// Creating the process.
    Clone,
    /// Creating a session.
    Session,
    /// Asking the kernel for a signal at the parent's death.
    ParentDeath,
    /// Entering the working directory.
    Directory,
    /// Putting stdio in place.
    Stdio,
    /// Closing the host's descriptors.
    Close,
    /// Making the terminal the controlling one.
    Terminal,
    /// Executing the shell.
    Exec,
    /// Making the sandbox.
    Sandbox,
    /// Entering the control groups of its limits.
    Limits,
    /// Hearing whether the command was started: it may have been.
    Lost,
}

impl Step {
    const ALL: [Step; 13] = [
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
        Step::Sandbox,
        Step::Limits,
        Step::Lost,
    ];

    /// Returns the step of this name, which another process of forkline has sent.
    pub fn named(name: &str) -> Option<Step> {
        Step::ALL.into_iter().find(|step| step.name() == name)
    }

    /// Returns the step's name in errors.
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
            Step::Sandbox => "sandbox",
            Step::Limits => "limits",
            Step::Lost => "lost",
        }
    }

    /// Returns the step by its number in `launch.h`.
    pub(crate) fn of_launch(number: i32) -> Step {
        match number {
            1 => Step::Clone,
            2 => Step::Session,
            3 => Step::ParentDeath,
            4 => Step::Directory,
            5 => Step::Stdio,
            6 => Step::Close,
            7 => Step::Terminal,
            9 => Step::Limits,
            _ => Step::Exec,
        }
    }
}
