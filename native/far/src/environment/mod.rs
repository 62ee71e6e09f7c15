//! The environment variables of a command. `src/command/environment.ts` is the same in TypeScript; a test
//! compares both.

mod blank;
mod launchers;
mod variables;

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use serde_json::Value;

use crate::call_error::CallError;
use crate::environment::blank::is_blank;
use crate::environment::launchers::remove_launchers;
use crate::environment::variables::Variables;

/// The layers of an environment, the lowest one first.
pub struct Policy<'a> {
    /// How much of this process's environment is inherited: `scrubbed` of secrets, `all`, or `none`.
    pub inherit: Option<&'a Value>,
    /// The variables that replace all others; `null` removes a name.
    pub overrides: Option<&'a Value>,
    /// The command's working directory, which becomes `PWD`.
    pub directory: Option<&'a Path>,
    /// Whether the command has a terminal of its own. The environment describes that one then.
    pub is_on_terminal: bool,
}

/// The variables that the engine sets itself, last of all.
const ENGINE_VARIABLES: [&[u8]; 2] = [b"_", b"FORKLINE_MARK"];

/// Patterns for names of secrets, one a line; `*` stands for any characters, and case does not matter.
const SECRETS: &str = include_str!("secrets.txt");

/// Names, one a line, of variables of the host's own shell that would change what a command means.
const SHELL_VARIABLES: &str = include_str!("shell-variables.txt");

/// The variables by which the host is told how and where to serve.
const HOSTS_OWN: [&[u8]; 2] = [b"NODE_ENV", b"PORT"];

/// Returns the environment as entries separated by NUL.
pub fn resolve(policy: &Policy) -> Result<Vec<u8>, CallError> {
    let mut variables = inherited(policy.inherit)?;
    if policy.is_on_terminal {
        variables.set(b"TERM", b"xterm-256color");
        variables.remove(b"COLUMNS");
        variables.remove(b"LINES");
    }
    let overrides = overrides(policy.overrides)?;
    if let Some(path) = policy.directory
        && !overrides.iter().any(|(name, _)| *name == "PWD")
    {
        variables.put(b"PWD", path.as_os_str().as_bytes());
    }
    for (name, value) in overrides {
        match value {
            Some(value) if !ENGINE_VARIABLES.contains(&name.as_bytes()) => {
                variables.put(name.as_bytes(), value.as_bytes());
            }
            _ => variables.remove(name.as_bytes()),
        }
    }
    Ok(variables.block())
}

fn inherited(inherit: Option<&Value>) -> Result<Variables, CallError> {
    let is_scrubbed = match inherit {
        None => true,
        Some(given) => match given.as_str() {
            Some("scrubbed") => true,
            Some("all") => false,
            Some("none") => return Ok(Variables::default()),
            _ => {
                let expected = "\"scrubbed\", \"all\" or \"none\"";
                return Err(CallError::option("inheritEnv", expected, given));
            }
        },
    };
    let mut variables = Variables::default();
    for (name, value) in std::env::vars_os() {
        let (name, value) = (name.into_vec(), value.into_vec());
        // The first of two entries with one name is the one that getenv() sees.
        if name.is_empty() || variables.get(&name).is_some() || is_shell_variable(&name) {
            continue;
        }
        let is_withheld = HOSTS_OWN.contains(&&*name) || is_secret(&name) || has_password(&value);
        if is_scrubbed && is_withheld {
            continue;
        }
        variables.set(&name, &value);
    }
    remove_launchers(&mut variables);
    Ok(variables)
}

/// Returns the overriding variables. Error messages do not contain values, which may be secret.
fn overrides(given: Option<&Value>) -> Result<Vec<(&str, Option<&str>)>, CallError> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let Value::Object(given) = given else {
        return Err(CallError::option("env", "an object", given));
    };
    let each = given.iter().map(|(name, value)| {
        if name.is_empty() || name.contains(['=', '\0']) {
            let expected = "a name without \"=\" and NUL";
            return Err(CallError::option("env", expected, &name.as_str().into()));
        }
        match value {
            Value::Null => Ok((name.as_str(), None)),
            Value::String(value) if !value.contains('\0') => Ok((name, Some(value.as_str()))),
            _ => Err(CallError::input(format!("env.{name}: expected a string without NUL"))),
        }
    });
    each.collect()
}

fn is_shell_variable(name: &[u8]) -> bool {
    name.starts_with(b"BASH_FUNC_") || SHELL_VARIABLES.lines().any(|one| one.as_bytes() == name)
}

fn is_secret(name: &[u8]) -> bool {
    SECRETS.lines().any(|pattern| matches(pattern, name))
}

/// Returns whether a name matches a pattern. Each piece between stars matches at its first occurrence.
fn matches(pattern: &str, name: &[u8]) -> bool {
    let Some((begin, others)) = pattern.split_once('*') else {
        return name.eq_ignore_ascii_case(pattern.as_bytes());
    };
    let Some(mut rest) = without_start(name, begin) else { return false };
    let (middle, end) = others.rsplit_once('*').unwrap_or(("", others));
    for piece in middle.split('*') {
        let found = (0..=rest.len()).find_map(|at| without_start(rest.get(at..)?, piece));
        match found {
            Some(after) => rest = after,
            None => return false,
        }
    }
    let last = rest.len().checked_sub(end.len()).and_then(|at| rest.get(at..));
    last.is_some_and(|last| last.eq_ignore_ascii_case(end.as_bytes()))
}

/// Returns the rest of the name after this beginning.
fn without_start<'a>(name: &'a [u8], begin: &str) -> Option<&'a [u8]> {
    let (start, rest) = name.split_at_checked(begin.len())?;
    start.eq_ignore_ascii_case(begin.as_bytes()).then_some(rest)
}

/// Returns whether a value contains a URL with a password: a secret, whatever the variable's name.
fn has_password(value: &[u8]) -> bool {
    let ends = |byte: &u8| is_blank(*byte) || b"/?#@".contains(byte);
    value.windows(4).enumerate().any(|(at, window)| {
        let [letter, b':', b'/', b'/'] = window else { return false };
        let after = value.get(at + window.len()..).unwrap_or_default();
        let user = after.iter().position(|byte| ends(byte) || *byte == b':');
        let Some((b':', password)) = user.and_then(|at| after.get(at..)?.split_first()) else {
            return false;
        };
        let end = password.iter().position(ends).unwrap_or(0);
        letter.is_ascii_alphanumeric() && end > 0 && password.get(end) == Some(&b'@')
    })
}

#[cfg(test)]
mod tests;
