//! What is written under the output of a detached command once it has ended.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use forkline_protocol::Status;

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself, or somebody killed it.
    Itself(Status),
    /// Its time, which was this, was up.
    TimedOut(Duration),
}

/// The line, with the blank line that sets it off from the output, and one on the output before it.
pub fn completion_line(end: End, output: Option<&str>) -> String {
    let what = match end {
        End::Itself(Status::Exited(0)) => "completed".to_owned(),
        End::Itself(Status::Exited(code)) => format!("failed: exit status: {code}"),
        // The standard library's words: `signal: 9 (SIGKILL)`.
        End::Itself(Status::Signaled(signal)) => {
            format!("failed: {}", ExitStatus::from_raw(signal))
        }
        End::Itself(Status::Unknown) => "error: its exit status is not known".to_owned(),
        End::TimedOut(limit) => format!("timed out after {}", in_hours_or_seconds(limit)),
    };
    let output = output.map(|line| format!("{line}\n")).unwrap_or_default();
    format!("\n\n{output}[background process {what}]\n")
}

/// Whole hours as `24h`, all else in seconds: `90s`, `0.5s`.
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

    fn line_of(end: End) -> String {
        let line = completion_line(end, None);
        line.strip_prefix("\n\n[background process ").unwrap().strip_suffix("]\n").unwrap().into()
    }

    #[test]
    fn an_end_is_told_by_exit_status_or_signal() {
        assert_eq!(line_of(End::Itself(Status::Exited(0))), "completed");
        assert_eq!(line_of(End::Itself(Status::Exited(3))), "failed: exit status: 3");
        assert_eq!(line_of(End::Itself(Status::Signaled(9))), "failed: signal: 9 (SIGKILL)");
        assert_eq!(line_of(End::Itself(Status::Signaled(40))), "failed: signal: 40");
    }

    #[test]
    fn a_limit_is_told_in_whole_hours_or_in_seconds() {
        let shown = |milliseconds| line_of(End::TimedOut(Duration::from_millis(milliseconds)));
        assert_eq!(shown(86_400_000), "timed out after 24h");
        assert_eq!(shown(3_600_000), "timed out after 1h");
        assert_eq!(shown(5_400_000), "timed out after 5400s");
        assert_eq!(shown(90_000), "timed out after 90s");
        assert_eq!(shown(1_500), "timed out after 1.5s");
        assert_eq!(shown(0), "timed out after 0s");
    }
}
