use std::path::Path;
use std::time::Duration;

use forkline_engine::{SpillReport, Step, Usage};

use super::*;
use crate::command::after::{LimitsReport, Writers, check};
use crate::wire::table::tests::Coverage;

fn text(text: &str) -> Text {
    Text::decode(text.as_bytes().to_vec())
}

fn capture(kept: Parts<Text>) -> Captured<Text> {
    Captured { kept, total: Counts::default(), last_line: 0, lossy: false }
}

fn captures() -> Vec<Captured<Text>> {
    let cut = Parts::Cut { head: text("a"), tail: text("b"), dropped: Counts::default() };
    vec![capture(Parts::Complete(text("x"))), capture(cut)]
}

fn members() -> Vec<BackgroundProcess> {
    vec![BackgroundProcess { pid: 1, group: 1, command: "sleep".to_owned() }]
}

#[test]
fn all_that_is_told_of_a_command_is_in_the_table_and_all_of_the_table_is_told() {
    let mut coverage = Coverage::default();
    let refusal = || CallError::system("EPIPE", 32, "nobody reads it");
    coverage.told("message", &Said::Started { started: 7 });
    coverage.told("message", &Said::tail(&captures()));
    coverage.told("message", &Said::Wrote { wrote: true, error: None });
    coverage.told("message", &Said::Wrote { wrote: false, error: Some(refusal()) });
    let answers = [
        QueryResult::Nothing,
        QueryResult::Sent(true),
        QueryResult::captures(Some(captures())),
        QueryResult::members(Some(members())),
    ];
    for value in answers {
        coverage.told("message", &Said::Answer { answer: 1, value });
    }
    coverage.told("end", &serde_json::json!({ "neverStarted": true }));
    coverage.told("end", &CommandEnd::NeverStarted(true));
    coverage.told("end", &CommandEnd::Error(refusal()));
    let failure = LaunchError { step: Step::Keeper, errno: 2, subject: "it".to_owned() };
    coverage.told("end", &CommandEnd::failed(&failure));
    let outcome = Outcome {
        pid: 7,
        cause: Cause::Itself,
        status: Status::Signaled(libc::SIGKILL),
        forced: false,
        wall: Duration::from_millis(3),
        usage: Usage::default(),
        captures: captures(),
        spill: Some(SpillReport { written: 1, dropped: 0, error: None, why: None }),
        background: members(),
        directory: Some("/".into()),
        priority_errno: 0,
        sandbox: None,
    };
    let spill = Path::new("/there/is/no/such/file");
    let checked = check(&outcome, Some(spill), Writers::One, Some(LimitsReport::CPU));
    coverage.told("end", &CommandEnd::ran(outcome, checked));
    coverage.expect_whole();
}
