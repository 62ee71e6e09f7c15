//! Variables of a command that affect the shell before its text runs.

use crate::request::variables::entries;

/// The strongest effect of a command's variables.
#[derive(Debug, PartialEq, Eq)]
pub enum Forerunner {
    /// No effect: the engine's words are the first that the shell runs.
    Nothing,
    /// Options that change how the engine's words are read, or trace them.
    Options,
    /// Code, by the variable with this name: it can replace anything that the engine's words rely on.
    Code(String),
}

impl Forerunner {
    /// Inspects an environment: `NAME=value` entries separated by NUL. Such variables are never inherited
    /// from the host, so the caller has set them on purpose.
    pub fn of(environment: &[u8]) -> Forerunner {
        let mut found = Forerunner::Nothing;
        for entry in entries(environment) {
            // The first letter rules out most variables.
            if !matches!(entry.first(), Some(b'B' | b'S' | b'P')) {
                continue;
            }
            let name = entry.split(|byte| *byte == b'=').next().unwrap_or_default();
            match name {
                // BASHOPTS can set `extdebug`, which starts the debugger. A function could replace `eval`.
                b"BASH_ENV" | b"BASHOPTS" => return Forerunner::code(name),
                _ if name.starts_with(b"BASH_FUNC_") => return Forerunner::code(name),
                b"SHELLOPTS" | b"POSIXLY_CORRECT" | b"BASH_COMPAT" => found = Forerunner::Options,
                _ => {}
            }
        }
        found
    }

    fn code(name: &[u8]) -> Forerunner {
        Forerunner::Code(String::from_utf8_lossy(name).into_owned())
    }
}
