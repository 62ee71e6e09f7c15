//! What host and keeper tell each other: the command, and whether it runs.
//!
//! Fields one after the other, each a length and so many bytes. Both are of one build, so there are no
//! versions.

use std::ffi::CString;
use std::time::Duration;

use super::DetachedCommand;
use crate::errors::{LaunchError, Step};

/// The command, for [`decode_command`].
pub fn encode_command(command: &DetachedCommand) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(command.text.len() + command.environment.len() + 512);
    put(&mut bytes, &command.text);
    put(&mut bytes, &command.environment);
    put(&mut bytes, command.output.as_bytes());
    // The kernel knows no directory with an empty name.
    put(&mut bytes, command.directory.as_deref().unwrap_or_default().to_bytes());
    put(&mut bytes, &milliseconds(command.timeout).to_le_bytes());
    put(&mut bytes, &milliseconds(command.grace).to_le_bytes());
    for shell in &command.shells {
        put(&mut bytes, shell.as_bytes());
    }
    bytes
}

/// None: it was not written by [`encode_command`].
pub fn decode_command(mut bytes: &[u8]) -> Option<DetachedCommand> {
    let fields = &mut bytes;
    Some(DetachedCommand {
        text: take(fields)?.to_vec(),
        environment: take(fields)?.to_vec(),
        output: CString::new(take(fields)?).ok()?,
        directory: Some(CString::new(take(fields)?).ok()?).filter(|path| !path.is_empty()),
        timeout: Duration::from_millis(number(take(fields)?)?),
        grace: Duration::from_millis(number(take(fields)?)?),
        shells: {
            let mut shells = Vec::new();
            while !fields.is_empty() {
                shells.push(CString::new(take(fields)?).ok()?);
            }
            shells
        },
    })
}

/// Whether the command runs, for [`decode_report`].
pub fn encode_report(report: &Result<i32, LaunchError>) -> Vec<u8> {
    let mut bytes = Vec::new();
    match report {
        Ok(pid) => put(&mut bytes, &pid.to_le_bytes()),
        Err(error) => {
            put(&mut bytes, &error.errno.to_le_bytes());
            put(&mut bytes, error.step.name().as_bytes());
            put(&mut bytes, error.subject.as_bytes());
        }
    }
    bytes
}

/// None: it was not written, or not to its end.
pub fn decode_report(mut bytes: &[u8]) -> Option<Result<i32, LaunchError>> {
    let fields = &mut bytes;
    let first = i32::from_le_bytes(take(fields)?.try_into().ok()?);
    if fields.is_empty() {
        return Some(Ok(first));
    }
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let step = Step::named(&text(take(fields)?))?;
    Some(Err(LaunchError { step, errno: first, subject: text(take(fields)?) }))
}

fn put(bytes: &mut Vec<u8>, field: &[u8]) {
    bytes.extend_from_slice(&(field.len() as u64).to_le_bytes());
    bytes.extend_from_slice(field);
}

fn take<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_at_checked(size_of::<u64>())?;
    let length = usize::try_from(number(length)?).ok()?;
    let (field, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some(field)
}

fn number(field: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(field.try_into().ok()?))
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn path() -> impl Strategy<Value = CString> {
        vec(1..=255u8, 1..40).prop_map(|bytes| CString::new(bytes).unwrap())
    }

    prop_compose! {
        fn any_command()(
            text: Vec<u8>,
            shells in vec(path(), 0..4),
            environment: Vec<u8>,
            directory in proptest::option::of(path()),
            output in path(),
            timeout in 0..u64::MAX,
            grace: u64,
        ) -> DetachedCommand {
            let (timeout, grace) = (Duration::from_millis(timeout), Duration::from_millis(grace));
            DetachedCommand { text, shells, environment, directory, output, timeout, grace }
        }
    }

    proptest! {
        #[test]
        fn a_command_arrives_as_it_was_sent(command in any_command()) {
            prop_assert_eq!(decode_command(&encode_command(&command)), Some(command));
        }

        #[test]
        fn what_is_cut_off_before_the_shells_is_no_command(command in any_command(), part in 0.0..1.0) {
            let bytes = encode_command(&DetachedCommand { shells: Vec::new(), ..command });
            let cut = bytes.split_at((bytes.len() as f64 * part) as usize).0;
            prop_assert_eq!(decode_command(cut), None);
        }

        #[test]
        fn bytes_that_are_nothing_of_ours_do_no_harm(bytes: Vec<u8>) {
            let _ = decode_command(&bytes);
            let _ = decode_report(&bytes);
        }

        #[test]
        fn a_report_arrives_as_it_was_sent(number: i32, subject: Option<String>) {
            let report = match subject {
                None => Ok(number),
                Some(subject) => Err(LaunchError { step: Step::Directory, errno: number, subject }),
            };
            prop_assert_eq!(decode_report(&encode_report(&report)), Some(report));
        }
    }

    #[test]
    fn silence_is_no_report() {
        assert_eq!(decode_report(b""), None);
    }
}
