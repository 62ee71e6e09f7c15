//! What a command's variables put between the start of its shell and its text.

use crate::request::variables::entries;

/// By name, the worst there is.
#[derive(Debug, PartialEq, Eq)]
pub enum Forerunner {
    /// Nothing: the first words that the shell runs are ours.
    Nothing,
    /// Options: our words would be read or traced by them.
    Options,
    /// Code: it can change or replace whatever our words rely upon.
    Code(String),
}

impl Forerunner {
    /// Of an environment: `NAME=value` entries separated by NUL. No such variable is ever inherited,
    /// so whoever has set one means it.
    pub fn of(environment: &[u8]) -> Forerunner {
        let mut found = Forerunner::Nothing;
        for entry in entries(environment) {
            // Most are none of these, which their first letter tells.
            if !matches!(entry.first(), Some(b'B' | b'S' | b'P')) {
                continue;
            }
            let name = entry.split(|byte| *byte == b'=').next().unwrap_or_default();
            match name {
                // BASHOPTS: `extdebug` starts the debugger. A function can stand in for `eval`.
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
