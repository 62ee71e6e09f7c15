//! The keeper, a process that outlives a forkline host. Started by the engine, never by hand.
//!
//! `forkline-keeper watch-host MARK`, with the host's lifeline as stdin and the roster of its
//! groups as descriptor 3, ends a host's commands after it.
//!
//! `forkline-keeper detach`, with the command as descriptor 3 and the way to tell the host whether
//! it runs as stdout, keeps a command that outlives it.

use std::fs::File;
use std::os::fd::FromRawFd;
use std::process::ExitCode;

use forkline_engine::{detached, keeper};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.as_slice() {
        [_, role, mark] if role == keeper::WATCH_HOST => {
            // SAFETY: the engine puts the roster there, and nothing else here uses it.
            let roster = unsafe { File::from_raw_fd(3) };
            keeper::watch_host(std::io::stdin(), roster, mark);
            ExitCode::SUCCESS
        }
        [_, role] if role == detached::DETACH => {
            // SAFETY: the engine puts the order there, and nothing else here uses it.
            detached::keep_detached(unsafe { File::from_raw_fd(3) });
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("forkline-keeper is started by forkline, with what it needs");
            ExitCode::from(2)
        }
    }
}
