//! The keeper, a process that outlives a forkline host. Started by the engine, never by hand.
//!
//! `forkline-keeper keep VERSION`, with its lifeline as stdin, runs a host's commands.
//!
//! `forkline-keeper sandbox VERSION` does so in the sandbox that descriptor 3 tells of.
//!
//! `forkline-keeper detach VERSION`, with the order as descriptor 3 and the way to tell the host
//! whether it runs as stdout, keeps a command that outlives it. One in a sandbox is run by a cradle of
//! that, the way to which is stdin.

mod command;
mod cradle;
mod detached;
mod ending;
mod host;
mod keeper;
mod late;
mod line;
mod looking;
mod members;
mod outside;
mod proc;
mod quota;
mod room;
mod sandbox;
mod signals;
mod wait;

use std::fs::File;
use std::os::fd::FromRawFd;
use std::process::ExitCode;

use forkline_protocol::{VERSION, role};

/// Does what a program is started for with these arguments, its name first. None: that is no role of a
/// keeper.
pub fn keep(arguments: &[String]) -> Option<ExitCode> {
    match arguments {
        [_, role, version] if role == role::KEEP => Some(keeper::keep(version)),
        [_, role, version] if role == role::DETACH && *version == VERSION.to_string() => {
            // SAFETY: the engine puts the order there, and nothing else here uses it.
            detached::keep(unsafe { File::from_raw_fd(3) });
            Some(ExitCode::SUCCESS)
        }
        [_, role, version] if role == role::SANDBOX && *version == VERSION.to_string() => {
            // SAFETY: the engine puts the order there, and nothing else here uses it.
            Some(sandbox::keep(unsafe { File::from_raw_fd(3) }))
        }
        _ => None,
    }
}
