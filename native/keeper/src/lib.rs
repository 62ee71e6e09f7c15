//! The keeper: a process that outlives a forkline host. The engine starts it; users do not.
//!
//! `forkline-keeper keep VERSION` runs a host's commands. The lifeline is stdin.
//!
//! `forkline-keeper sandbox VERSION` does so in the sandbox that descriptor 3 describes.
//!
//! `forkline-keeper inside VERSION STATE` goes on with that, in the sandbox's namespaces.
//!
//! `forkline-keeper detach VERSION` keeps a command that outlives its host. The order is descriptor 3,
//! and the report to the host goes to stdout. A command in a sandbox is run by a cradle of that sandbox;
//! the channel to it is stdin.

mod command;
mod completion_line;
mod cradle;
mod detached;
mod disk_reserve;
mod ending;
mod host;
mod keeper;
mod late;
mod member_query;
mod members;
mod outside;
mod proc;
mod quota;
mod sandbox;
mod sight;
mod signals;
mod wait;

use std::fs::File;
use std::os::fd::FromRawFd;
use std::process::ExitCode;

use forkline_protocol::{VERSION, role};

/// Runs the role that these arguments name, the program's name first. None: they name no role of a
/// keeper.
pub fn keep(arguments: &[String]) -> Option<ExitCode> {
    match arguments {
        [_, role, version] if role == role::KEEP => Some(keeper::keep(version)),
        [_, role, version] if role == role::DETACH && *version == VERSION.to_string() => {
            // SAFETY: the engine puts the order there, and nothing else here uses it.
            detached::keep(unsafe { File::from_raw_fd(3) });
            Some(ExitCode::SUCCESS)
        }
        [_, role, version, state] if role == role::INSIDE && *version == VERSION.to_string() => {
            Some(sandbox::resume(state))
        }
        [_, role, version] if role == role::SANDBOX && *version == VERSION.to_string() => {
            // SAFETY: the engine puts the order there, and nothing else here uses it.
            Some(sandbox::keep(unsafe { File::from_raw_fd(3) }))
        }
        _ => None,
    }
}
