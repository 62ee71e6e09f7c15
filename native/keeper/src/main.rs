//! The keeper, a process that outlives a forkline host. Started by the engine, never by hand.
//!
//! `forkline-keeper keep VERSION`, with its lifeline as stdin, runs a host's commands.
//!
//! `forkline-keeper sandbox VERSION` does so in the sandbox that descriptor 3 tells of.
//!
//! `forkline-keeper detach VERSION`, with the order as descriptor 3 and the way to tell the host
//! whether it runs as stdout, keeps a command that outlives it.

mod command;
mod cradle;
mod detached;
mod ending;
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

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.as_slice() {
        [_, role, version] if role == role::KEEP => keeper::keep(*version == VERSION.to_string()),
        [_, role, version] if role == role::DETACH && *version == VERSION.to_string() => {
            // SAFETY: the engine puts the order there, and nothing else here uses it.
            detached::keep(unsafe { File::from_raw_fd(3) });
            ExitCode::SUCCESS
        }
        [_, role, version] if role == role::SANDBOX && *version == VERSION.to_string() => {
            // SAFETY: the engine puts the order there, and nothing else here uses it.
            sandbox::keep(unsafe { File::from_raw_fd(3) })
        }
        _ => {
            eprintln!("forkline-keeper is started by forkline of the same version");
            ExitCode::from(2)
        }
    }
}
