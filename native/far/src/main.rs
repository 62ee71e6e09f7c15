//! `forkline serve --stdio` without Node: the far side of a byte stream, as one file without
//! dependencies. It offers `run()` and `spawn()`, and contains the keeper that these need.

mod call_error;
mod command;
mod environment;
mod serve;
mod wire;

use std::process::ExitCode;

const USAGE: &str = "usage: forkline-far serve --stdio

Runs commands for the client at standard input and output, which connect() of forkline/remote
is. It has run() and spawn(); tools take forkline itself.";

/// The exit code for wrong arguments.
const USAGE_ERROR: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().map(|one| one.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    match words.as_slice() {
        ["serve", "--stdio"] => serve::serve(),
        ["--version"] => {
            println!("{}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        ["--help"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        // This program is also the keeper.
        _ => forkline_keeper::keep(&arguments).unwrap_or_else(|| {
            eprintln!("{USAGE}");
            ExitCode::from(USAGE_ERROR)
        }),
    }
}
