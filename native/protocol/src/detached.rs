//! A command that outlives its host: the order to its keeper, and the keeper's report.

use std::ffi::CString;
use std::time::Duration;

use forkline_launch::Step;

use crate::fields::{Reader, Writer};
use crate::request::Request;

/// An order to start and keep a detached command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detached {
    /// The command to launch.
    pub request: Request,
    /// The script: contents of a file that becomes descriptor 3 of the command.
    pub script: Option<Vec<u8>>,
    /// The path of the output file, which must not exist. The keeper's record and socket are beside it.
    pub output: CString,
    /// Whether a cradle in a sandbox launches the command. Descriptor 0 of the keeper is the channel to
    /// that cradle.
    pub seated: bool,
    /// Whether stdin is a pipe that clients can write to; otherwise it is empty.
    pub input: bool,
    /// Whether a completion line is appended to the output.
    pub line: bool,
    /// The most bytes of output that are kept.
    pub quota: u64,
    /// The time limit, from the start.
    pub timeout: Duration,
    /// The time from SIGTERM to SIGKILL.
    pub grace: Duration,
}

impl Detached {
    /// Encodes the order as the contents of a file.
    pub fn encode(&self) -> Vec<u8> {
        let mut fields = Writer::default();
        fields.bytes(&self.request.encode()).bytes(self.output.as_bytes());
        fields.number(self.script.is_some().into());
        fields.bytes(self.script.as_deref().unwrap_or_default());
        fields
            .number(self.seated.into())
            .number(self.input.into())
            .number(self.line.into())
            .number(self.quota);
        fields.number(milliseconds(self.timeout)).number(milliseconds(self.grace));
        fields.finish()
    }

    /// Decodes an order. None: it was not written by [`Detached::encode`].
    pub fn decode(order: &[u8]) -> Option<Detached> {
        let fields = &mut Reader(order);
        let request = Request::decode(fields.bytes()?)?;
        let output = CString::new(fields.bytes()?).ok()?;
        let has_script = fields.number()? != 0;
        let script = fields.bytes()?.to_vec();
        Some(Detached {
            request,
            script: has_script.then_some(script),
            output,
            seated: fields.number()? != 0,
            input: fields.number()? != 0,
            line: fields.number()? != 0,
            quota: fields.number()?,
            timeout: Duration::from_millis(fields.number()?),
            grace: Duration::from_millis(fields.number()?),
        })
    }
}

/// Encodes a report for [`decode_report`]: the process id of the running command; or the step, the errno
/// and the subject of the failure.
pub fn encode_report(report: &Result<i32, (Step, i32, String)>) -> Vec<u8> {
    let mut fields = Writer::default();
    match report {
        Ok(pid) => fields.number(*pid as u64),
        Err((step, errno, subject)) => {
            let step = step.name().as_bytes();
            fields.number(*errno as u64).bytes(step).bytes(subject.as_bytes())
        }
    };
    fields.finish()
}

/// Decodes a report. None: it was not written, or not to its end.
pub fn decode_report(report: &[u8]) -> Option<Result<i32, (Step, i32, String)>> {
    let fields = &mut Reader(report);
    let first = fields.small()?;
    if fields.is_empty() {
        return Some(Ok(first));
    }
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let step = Step::named(&text(fields.bytes()?))?;
    Some(Err((step, first, text(fields.bytes()?))))
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_order_arrives_as_it_was_sent(
            environment: Vec<u8>,
            script: Option<Vec<u8>>,
            seated: bool,
            input: bool,
            line: bool,
            quota: u64,
            timeout: u64,
            grace: u64,
        ) {
            let (timeout, grace) = (Duration::from_millis(timeout), Duration::from_millis(grace));
            let request = Request { environment, ..Request::default() };
            let output = c"/o".into();
            let order =
                Detached { request, script, output, seated, input, line, quota, timeout, grace };
            prop_assert_eq!(Detached::decode(&order.encode()), Some(order));
        }

        #[test]
        fn other_bytes_do_no_harm(bytes: Vec<u8>) {
            let _ = Detached::decode(&bytes);
            let _ = decode_report(&bytes);
        }

        #[test]
        fn a_report_arrives_as_it_was_sent(number: i32, subject: Option<String>) {
            let report = match subject {
                None => Ok(number),
                Some(subject) => Err((Step::Directory, number, subject)),
            };
            prop_assert_eq!(decode_report(&encode_report(&report)), Some(report));
        }
    }

    #[test]
    fn an_empty_report_is_none() {
        assert_eq!(decode_report(b""), None);
    }
}
