//! How a command's text reaches the shell.
//!
//! `bash -c TEXT` has two faults: the text is in bash's own argument list, so that
//! `pkill -f` in a command kills the shell that runs it, and an argument is at most
//! 128 KiB. So bash gets its text in `$_`, which it takes from the environment, has
//! as its first expansion, and never passes on; `eval` then parses it as `-c` would.
//! Longer texts come by a descriptor that is closed before the text runs.
//!
//! A single plain command keeps the argument list: bash execs it in its own place,
//! so no shell is left to be matched, and a fork is saved.

use std::ffi::CString;

use crate::launch::Image;

/// Longest text handed over in the environment: well under the kernel's 128 KiB a string.
const LONGEST_VARIABLE: usize = 96 * 1024;

/// How the text travels beside the argument list.
#[derive(Debug, PartialEq, Eq)]
pub enum Handover<'a> {
    /// Not at all: it is an argument.
    Argument,
    /// As the variable `_`.
    Variable(&'a [u8]),
    /// In a file on the script descriptor.
    Script(&'a [u8]),
}

/// Where a shell may be: bash in its usual place, bash on the PATH in `environment`, sh.
///
/// Whether one exists is found out by executing it, which no check can foretell.
pub fn usual(environment: &[u8]) -> Vec<CString> {
    let path = environment.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(b"PATH="));
    let directories = path.unwrap_or_default().split(|byte| *byte == b':');
    let on_path = directories.filter(|directory| directory.starts_with(b"/"));
    let bashes = on_path.map(|directory| [directory, b"/bash"].concat());
    let mut shells = vec![c"/bin/bash".to_owned()];
    shells.extend(bashes.map(until_nul).filter(|path| path.as_c_str() != c"/bin/bash"));
    shells.push(c"/bin/sh".to_owned());
    shells
}

/// The programs to try, and how the text reaches them.
///
/// `stays`: the shell never execs a program in its own place unless the text says `exec`. A process
/// that shares its working directory is denied the privileges of a set-user-id program (`sudo`).
pub fn hand_over<'a>(
    shells: &[CString],
    text: &'a [u8],
    stays: bool,
) -> (Vec<Image>, Handover<'a>) {
    let handover = if text.len() > LONGEST_VARIABLE {
        Handover::Script(text)
    } else if !stays && is_single_plain_command(text) {
        Handover::Argument
    } else {
        Handover::Variable(text)
    };
    let images = shells.iter().map(|shell| image(shell, &handover, text, stays)).collect();
    (images, handover)
}

fn image(shell: &CString, handover: &Handover, text: &[u8], stays: bool) -> Image {
    let name = shell.as_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let is_bash = name == b"bash";
    let script = match (is_bash, handover) {
        (true, Handover::Variable(_)) => b"eval -- \"$_\"".to_vec(),
        (true, Handover::Script(_)) => {
            b"mapfile -d '' -u 3 && exec 3<&- && eval -- \"$MAPFILE\"".to_vec()
        }
        // Only bash has `mapfile`, and `$_` from the environment.
        (false, Handover::Script(_)) => b"eval \"$(cat <&3)\" 3<&-".to_vec(),
        // `eval` takes no options in some shells, so the text must not come first.
        (false, _) if stays => b"eval \"shift; $1\"".to_vec(),
        _ => text.to_vec(),
    };
    let mut arguments = vec![name.to_vec(), b"-c".to_vec(), b"--".to_vec(), script];
    if !is_bash && stays && !matches!(handover, Handover::Script(_)) {
        arguments.extend([name.to_vec(), text.to_vec()]);
    }
    // Texts with a NUL are refused long before this; cut there, as exec would.
    let argv = arguments.into_iter().map(until_nul).collect();
    Image { path: shell.clone(), argv }
}

fn until_nul(mut bytes: Vec<u8>) -> CString {
    if let Some(end) = memchr::memchr(0, &bytes) {
        bytes.truncate(end);
    }
    CString::new(bytes).unwrap_or_default()
}

/// Whether bash is sure to run `text` by exec in its own place: plain words only, and
/// none that makes bash stay (`time make`, `eval make`). Doubt means no.
fn is_single_plain_command(text: &[u8]) -> bool {
    const STAYS: [&[u8]; 8] =
        [b"time", b"command", b"builtin", b"eval", b"coproc", b"source", b".", b"trap"];
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" -_./=+:,@%^".contains(byte);
    let first = text.split(|byte| *byte == b' ').find(|word| !word.is_empty());
    text.iter().all(plain) && first.is_some_and(|word| !STAYS.contains(&word))
}

#[cfg(test)]
mod tests;
