//! The completion line below the output of a detached command that has ended.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use forkline_protocol::Status;

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    /// By itself, or killed by another process.
    Itself(Status),
    /// Its time limit, which was this long, was over.
    TimedOut(Duration),
}

/// Returns the line, after a blank line that separates it from the output. `output`: a line about the
/// output, to come before it.
pub fn completion_line(end: Completion, output: Option<&str>) -> String {
    let what = match end {
        Completion::Itself(Status::Exited(0)) => "completed".to_owned(),
        Completion::Itself(Status::Exited(code)) => format!("failed: exit status: {code}"),
        Completion::Itself(Status::Signaled(signal)) => match real_time_name(signal) {
            Some(name) => format!("failed: signal: {signal} ({name})"),
            // In the words of the standard library: `signal: 9 (SIGKILL)`.
            None => format!("failed: {}", ExitStatus::from_raw(signal)),
        },
        Completion::Itself(Status::Unknown) => "error: its exit status is not known".to_owned(),
        Completion::TimedOut(limit) => format!("timed out after {}", in_hours_or_seconds(limit)),
    };
    let output = output.map(|line| format!("{line}\n")).unwrap_or_default();
    format!("\n\n{output}[background process {what}]\n")
}

/// Returns the name of a real-time signal, as bash and the host call it: counted from both ends to the
/// middle.
fn real_time_name(signal: i32) -> Option<String> {
    match signal {
        34 => Some("SIGRTMIN".to_owned()),
        35..=49 => Some(format!("SIGRTMIN+{}", signal - 34)),
        50..=63 => Some(format!("SIGRTMAX-{}", 64 - signal)),
        64 => Some("SIGRTMAX".to_owned()),
        _ => None,
    }
}

/// Formats whole hours as `24h`, any other time in seconds: `90s`, `0.5s`.
fn in_hours_or_seconds(time: Duration) -> String {
    const HOUR: u128 = 3_600_000;
    let milliseconds = time.as_millis();
    if milliseconds >= HOUR && milliseconds.is_multiple_of(HOUR) {
        return format!("{}h", milliseconds / HOUR);
    }
    format!("{}s", milliseconds as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_of(end: Completion) -> String {
        let line = completion_line(end, None);
        line.strip_prefix("\n\n[background process ").unwrap().strip_suffix("]\n").unwrap().into()
    }

    #[test]
    fn an_end_is_told_by_exit_status_or_signal() {
        assert_eq!(line_of(Completion::Itself(Status::Exited(0))), "completed");
        assert_eq!(line_of(Completion::Itself(Status::Exited(3))), "failed: exit status: 3");
        assert_eq!(line_of(Completion::Itself(Status::Signaled(9))), "failed: signal: 9 (SIGKILL)");
        assert_eq!(line_of(Completion::Itself(Status::Signaled(33))), "failed: signal: 33");
    }

    #[test]
    fn a_real_time_signal_has_the_name_that_shells_have_for_it() {
        let shown = |signal| line_of(Completion::Itself(Status::Signaled(signal)));
        assert_eq!(shown(34), "failed: signal: 34 (SIGRTMIN)");
        assert_eq!(shown(37), "failed: signal: 37 (SIGRTMIN+3)");
        assert_eq!(shown(49), "failed: signal: 49 (SIGRTMIN+15)");
        assert_eq!(shown(50), "failed: signal: 50 (SIGRTMAX-14)");
        assert_eq!(shown(64), "failed: signal: 64 (SIGRTMAX)");
    }

    #[test]
    fn a_limit_is_told_in_whole_hours_or_in_seconds() {
        let shown =
            |milliseconds| line_of(Completion::TimedOut(Duration::from_millis(milliseconds)));
        assert_eq!(shown(86_400_000), "timed out after 24h");
        assert_eq!(shown(3_600_000), "timed out after 1h");
        assert_eq!(shown(5_400_000), "timed out after 5400s");
        assert_eq!(shown(90_000), "timed out after 90s");
        assert_eq!(shown(1_500), "timed out after 1.5s");
        assert_eq!(shown(0), "timed out after 0s");
    }
}
