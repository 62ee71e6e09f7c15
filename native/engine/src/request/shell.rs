//! The ways in which a command's text reaches the shell.
//!
//! `bash -c TEXT` has two faults: the text is in bash's own argument list, so that `pkill -f` in a command
//! kills the shell that runs it, and an argument is at most 128 KiB long. So bash gets its text in `$_`,
//! which it takes from the environment, has as its first expansion, and never passes on; `eval` then parses
//! it as `-c` would. Longer texts come by a descriptor that is closed before the text runs.
//!
//! Both ways work only if no other code runs in bash before the engine's words: it would change `$_`, and
//! could put a function in place of `eval`. So no start-up file is read (see [`Dialect::quiet`]). If the
//! caller asks for one by a variable, or for another reading of shell text, the text is an argument, which no
//! code can intercept. The same is done for a `bash` that is a script around the real one.
//!
//! A text that ends within a quote or the like is an argument too, for the sake of its exit code (see
//! `unclosed.rs`), and so is a single plain command: bash execs it in its own place, so no shell is left that `pkill
//! -f` could match, and a fork is saved.

mod dialect;
mod forerunner;
mod unclosed;

use std::ffi::CString;

use dialect::{Dialect, Shell};
use forerunner::Forerunner;
use forkline_launch::Image;
use unclosed::is_surely_unclosed;

use crate::request::variables::entries;

/// The longest text that is handed over in the environment, well under the kernel's 128 KiB for a string.
const LONGEST_VARIABLE: usize = 96 * 1024;
/// The longest argument that the kernel takes, without its NUL.
pub const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

/// The beginning of the variable, which tells it from other values of `$_`.
const SEAL: &[u8] = b"@:";
/// Runs the text behind the seal, or reports that there is none. These words are in an argument list, where
/// `pkill -f` in a command could match them: so there are few.
const FROM_VARIABLE: &str =
    "case $_ in @:*)eval -- \"${_:2}\";;*)echo \"\\$_: not handed over\">&2;exit 126;esac";
const FROM_SCRIPT: &str = "mapfile -d '' -u 3 && exec 3<&- && eval -- \"${MAPFILE:?}\"";
/// For shells other than bash, which have no `mapfile`. `cat` is the system's, not the first one on the
/// command's PATH; without it, nothing is run.
const FROM_SCRIPT_BY_CAT: &str = "eval \"$(command -p cat <&3 || echo exit 126)\" 3<&-";

/// The way in which a text is handed to the shells that are tried.
#[derive(Debug, PartialEq, Eq)]
pub struct Handover<'text> {
    /// The shells with their arguments, in order.
    pub images: Vec<Image>,
    /// The seal and the text, which form the variable `_`. None: the variable is not set.
    pub sealed: Option<[&'text [u8]; 2]>,
    /// The content of the file on the script descriptor.
    pub script: Option<&'text [u8]>,
}

/// A text that is too long for the only safe way.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong {
    /// The variable that rules out the other ways.
    pub beside: String,
    /// The length of the text in bytes.
    pub length: usize,
}

/// Whether the shell may exec the last program of a text in its own place, which saves a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TailExec {
    /// The shell may do so.
    Allowed,
    /// The shell must not, unless the text says `exec`. A process that shares its working directory, as the
    /// shell of a followed command does, is denied the privileges of a set-user-id program (`sudo`).
    Forbidden,
}

/// The way in which the text reaches one shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Argument,
    /// An argument to which nothing may be added: its end is reported by the number of its line. The shell execs
    /// no last program of it, since it never gets to that.
    UnfinishedArgument,
    Variable,
    Script,
}

/// Returns the paths where a shell may be: bash in its usual place, bash on the PATH in `environment`, sh.
///
/// Only exec can tell whether one can be run.
pub fn usual(environment: &[u8]) -> Vec<CString> {
    let path = entries(environment).find_map(|entry| entry.strip_prefix(b"PATH="));
    let directories = path.unwrap_or_default().split(|byte| *byte == b':');
    let on_path = directories.filter(|directory| directory.starts_with(b"/"));
    let bashes = on_path.map(|directory| [directory, b"/bash"].concat());
    let mut shells = vec![c"/bin/bash".to_owned()];
    shells.extend(bashes.map(until_nul).filter(|path| path.as_c_str() != c"/bin/bash"));
    shells.push(c"/bin/sh".to_owned());
    shells
}

/// Returns the programs to try, and the way in which the text reaches them.
///
/// `environment`: the command's.
pub fn hand_over<'text>(
    shells: &[CString],
    text: &'text [u8],
    environment: &[u8],
    tail_exec: TailExec,
) -> Result<Handover<'text>, TooLong> {
    let before = Forerunner::of(environment);
    let mut handover = Handover { images: Vec::new(), sealed: None, script: None };
    let mut found = false;
    for (index, path) in shells.iter().enumerate() {
        // After a shell that exists, only the last one is kept, in case that shell vanishes.
        if found && index + 1 < shells.len() {
            continue;
        }
        let shell = if found { Shell::by_name(path) } else { Shell::at(path) };
        found |= shell.exists;
        let way = way(&shell, text, &before, tail_exec)?;
        match way {
            Way::Argument | Way::UnfinishedArgument => {}
            Way::Variable => handover.sealed = Some([SEAL, text]),
            Way::Script => handover.script = Some(text),
        }
        handover
            .images
            .push(Image { path: path.clone(), argv: argv(&shell, way, text, tail_exec) });
    }
    Ok(handover)
}

fn way(
    shell: &Shell,
    text: &[u8],
    before: &Forerunner,
    tail_exec: TailExec,
) -> Result<Way, TooLong> {
    let fits = text.len() <= LONGEST_ARGUMENT;
    let argument_or_script = if fits { Way::Argument } else { Way::Script };
    match (shell.dialect, before) {
        // If the text is too long, exec fails and tells so.
        (Dialect::Fish | Dialect::Csh, _) => Ok(Way::Argument),
        (Dialect::Bash, Forerunner::Code(name)) if !fits => {
            Err(TooLong { beside: name.clone(), length: text.len() })
        }
        (Dialect::Bash, Forerunner::Nothing) => Ok(match text.len() {
            0..=LONGEST_VARIABLE
                if tail_exec == TailExec::Allowed && is_single_plain_command(text) =>
            {
                Way::Argument
            }
            0..=LONGEST_VARIABLE if is_surely_unclosed(text) => Way::UnfinishedArgument,
            0..=LONGEST_VARIABLE if shell.exists && shell.is_program() => Way::Variable,
            0..=LONGEST_VARIABLE => Way::Argument,
            _ => Way::Script,
        }),
        _ => Ok(argument_or_script),
    }
}

fn argv(shell: &Shell, way: Way, text: &[u8], tail_exec: TailExec) -> Vec<CString> {
    let Shell { name, dialect, .. } = *shell;
    let mut arguments = vec![name];
    arguments.extend(dialect.quiet().iter().map(|option| option.as_bytes()));
    arguments.push(b"-c");
    // For these shells, `--` ends the options. For the others, it would be the text.
    if !matches!(dialect, Dialect::Fish | Dialect::Csh) {
        arguments.push(b"--");
    }
    let padded;
    match (way, dialect) {
        (Way::Variable, _) => arguments.push(FROM_VARIABLE.as_bytes()),
        (Way::Script, Dialect::Bash) => arguments.push(FROM_SCRIPT.as_bytes()),
        (Way::Script, _) => arguments.push(FROM_SCRIPT_BY_CAT.as_bytes()),
        (Way::Argument, Dialect::Bash) if tail_exec == TailExec::Forbidden => {
            padded = followed_by_nothing(text);
            arguments.push(&padded);
        }
        // In some shells `eval` takes no options, so its argument must not be the text itself.
        (Way::Argument, Dialect::Sh | Dialect::Zsh) if tail_exec == TailExec::Forbidden => {
            arguments.extend([b"eval \"shift; $1\"", name, text]);
        }
        (Way::Argument | Way::UnfinishedArgument, _) => arguments.push(text),
    }
    // Texts with a NUL are refused long before this. Here they are cut, as exec would do.
    arguments.into_iter().map(|argument| until_nul(argument.to_vec())).collect()
}

/// Returns the text with empty lines after it: bash execs the last command in its own place when its text
/// ends there. The text is unchanged where empty lines could have a meaning.
fn followed_by_nothing(text: &[u8]) -> Vec<u8> {
    let open_ended = text.ends_with(b"\\") || memchr::memmem::find(text, b"<<").is_some();
    let lines: &[u8] = if open_ended || text.len() + 2 > LONGEST_ARGUMENT { b"" } else { b"\n\n" };
    [text, lines].concat()
}

fn until_nul(mut bytes: Vec<u8>) -> CString {
    if let Some(end) = memchr::memchr(0, &bytes) {
        bytes.truncate(end);
    }
    CString::new(bytes).unwrap_or_default()
}

/// Returns whether bash is sure to run `text` by exec in its own place: it has plain words only, and none
/// that makes bash stay (`time make`, `eval make`). False in case of doubt.
fn is_single_plain_command(text: &[u8]) -> bool {
    const STAYS: [&[u8]; 8] =
        [b"time", b"command", b"builtin", b"eval", b"coproc", b"source", b".", b"trap"];
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" -_./=+:,@%^".contains(byte);
    let first = text.split(|byte| *byte == b' ').find(|word| !word.is_empty());
    text.iter().all(plain) && first.is_some_and(|word| !STAYS.contains(&word))
}

#[cfg(test)]
mod tests;
