//! The keeper as a program of its own. Started by the engine, never by hand.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    forkline_keeper::keep(&arguments).unwrap_or_else(|| {
        eprintln!("forkline-keeper is started by forkline of the same version");
        ExitCode::from(2)
    })
}
