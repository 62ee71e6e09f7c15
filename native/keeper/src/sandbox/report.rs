//! The state of a sandbox: which mechanism enforces each protection, or which protection could not be
//! made.

use std::fmt;
use std::io;

use crate::sandbox::plan::{Access, Plan};

/// A protection: what a sandbox keeps commands from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// Writing to other places.
    Write,
    /// Reading hidden files.
    Read,
    /// Finding other processes' temporary files and sockets.
    Tmp,
    /// Reaching the network.
    Network,
    /// Connecting to sockets outside.
    UnixSockets,
    /// Seeing and signalling other processes.
    Processes,
    /// Making sockets of other families, and bypassing the filter.
    SocketFamilies,
    /// Gaining privileges by executing a program.
    Privileges,
    /// Changing settings that programs outside obey.
    Settings,
    /// Changing the caches of the user's tools.
    Caches,
    /// Executing programs that rules deny. Not among what is enforced: without it there is no such sandbox.
    Exec,
    /// Changing what can't be taken back. Among what is enforced only where it was asked for.
    Undo,
    /// Changing anything before it was accepted. Not among what is enforced: without it there is no such sandbox.
    Changes,
}

/// The mechanism that enforces a protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    Namespace,
    /// A mount on a file as it is: the host can replace the file.
    Mount,
    /// The warden judges what would be there.
    Gate,
    Landlock,
    Seccomp,
    Proxy,
    /// A layer on disk over directories that stay as they are.
    Overlay,
    /// A layer in memory over them.
    Memory,
    /// A record of what was there before.
    Journal,
    None,
}

impl Mechanism {
    /// Returns what keeps settings where there are namespaces: the gate, if it judges git's; mounts, where
    /// some are kept, or nothing can be written at all.
    pub fn of_settings(plan: &Plan, judges: bool) -> Mechanism {
        let has = |access| plan.paths(access).next().is_some();
        if judges {
            return Mechanism::Gate;
        }
        Mechanism::Mount.when(has(Access::Git) || plan.settings_kept || !has(Access::Write))
    }

    /// Returns this mechanism if `is_wanted`, otherwise none.
    pub fn when(self, is_wanted: bool) -> Mechanism {
        if is_wanted { self } else { Mechanism::None }
    }
}

/// The mechanism of each protection.
#[derive(Debug, Clone, Default)]
pub struct Enforced(Vec<(Protection, Mechanism)>);

impl Enforced {
    /// Sets it, in place of what was set before.
    pub fn set(&mut self, protection: Protection, mechanism: Mechanism) {
        self.0.retain(|(other, _)| *other != protection);
        self.0.push((protection, mechanism));
    }

    /// Returns `protection=mechanism` pairs, separated by blanks.
    pub fn text(&self) -> String {
        let pairs =
            self.0.iter().map(|(protection, mechanism)| format!("{protection}={mechanism}"));
        pairs.collect::<Vec<_>>().join(" ")
    }
}

/// Actions for which there is a remedy.
pub const MOUNTING_PROC: &str = "mounting /proc";
pub const LANDLOCK: &str = "making rules of Landlock";

/// A protection that could not be made.
#[derive(Debug)]
pub struct SetupError {
    pub protection: Protection,
    /// The action that failed.
    pub action: String,
    pub error: io::Error,
}

impl SetupError {
    /// Returns a function that converts an error of `action`.
    pub fn of<E: Into<io::Error>>(
        protection: Protection,
        action: impl Into<String>,
    ) -> impl FnOnce(E) -> Self {
        move |error| SetupError { protection, action: action.into(), error: error.into() }
    }

    /// Returns the protection, the action that failed, and advice where there is any.
    pub fn text(&self) -> String {
        let SetupError { protection, action, .. } = self;
        format!("{protection}: {action}{}", self.advice().unwrap_or_default())
    }

    pub fn errno(&self) -> i32 {
        self.error.raw_os_error().unwrap_or(0)
    }

    fn advice(&self) -> Option<String> {
        let is = |path: &str, value: &str| {
            std::fs::read_to_string(path).is_ok_and(|text| text.trim() == value)
        };
        let denied = matches!(self.errno(), libc::EPERM | libc::EACCES);
        // A user namespace can be made there, but has no capabilities: the next call is denied.
        let is_restricted =
            denied && is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1");
        let is_refused =
            self.action.contains("user namespace") && (denied || self.errno() == libc::ENOSPC);
        if !is_restricted && !is_refused {
            return self.remedy().map(|remedy| format!(" ({remedy})"));
        }
        let advice = if is_restricted {
            "AppArmor restricts user namespaces on this machine (Ubuntu 23.10 and later): allow them for this \
             program by a profile, or for all by \
             `sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
        } else if is("/proc/sys/kernel/unprivileged_userns_clone", "0") {
            "`sysctl kernel.unprivileged_userns_clone=1` allows them"
        } else if is("/proc/sys/user/max_user_namespaces", "0") {
            "`sysctl user.max_user_namespaces` is 0"
        } else {
            "a container's filter may refuse them, as Docker's own does"
        };
        Some(format!(" ({advice}; `require: 'landlock'` does without)"))
    }

    /// Returns what can be done about an error that has nothing to do with user namespaces.
    fn remedy(&self) -> Option<&'static str> {
        match (self.action.as_str(), self.errno()) {
            // The kernel mounts none that would show more than the one that is there.
            (MOUNTING_PROC, libc::EPERM) => Some(
                "a container covers parts of the one that is there: Docker's `--security-opt \
                 systempaths=unconfined` leaves it whole; `processes: 'host'` does without",
            ),
            (action, libc::EOPNOTSUPP) if action.starts_with(LANDLOCK) => {
                Some("the kernel was started without it: `lsm=` on its command line has to name it")
            }
            _ => None,
        }
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Protection::Write => "write",
            Protection::Read => "read",
            Protection::Tmp => "tmp",
            Protection::Network => "network",
            Protection::UnixSockets => "unixSockets",
            Protection::Processes => "processes",
            Protection::SocketFamilies => "socketFamilies",
            Protection::Privileges => "privileges",
            Protection::Settings => "settings",
            Protection::Caches => "caches",
            Protection::Exec => "exec",
            Protection::Undo => "undo",
            Protection::Changes => "changes",
        })
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Mechanism::Namespace => "namespace",
            Mechanism::Mount => "mount",
            Mechanism::Gate => "gate",
            Mechanism::Landlock => "landlock",
            Mechanism::Seccomp => "seccomp",
            Mechanism::Proxy => "proxy",
            Mechanism::Overlay => "overlay",
            Mechanism::Memory => "memory",
            Mechanism::Journal => "journal",
            Mechanism::None => "none",
        })
    }
}
