use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use forkline_engine::{SpillReport, Step, Usage};
use serde_json::{Map, Value};

use super::*;
use crate::command::after::{LimitsReport, Writers, check};
use crate::command::open::Open;
use crate::wire::table::checked;
use crate::wire::table::tests::{Coverage, client_rows, sample_of};

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
    let failure = LaunchError { step: Step::Keeper, errno: 2, subject: "it".to_owned(), why: None };
    coverage.told("end", &CommandEnd::failed(&failure));
    let outcome = Outcome {
        pid: 7,
        cause: Cause::Itself,
        reason: Some("terminal pid=7".to_owned()),
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

#[test]
fn a_call_begins_with_all_fields_of_the_table_and_others_are_refused() {
    for row in client_rows().filter(|row| row["frame"] == "open") {
        let whole = sample_of(row);
        let begins = |body: &Map<String, Value>| {
            let body = checked("open", "command", Value::Object(body.clone())).ok().flatten();
            body.is_some_and(|body| serde_json::from_value::<Open>(body).is_ok())
        };
        let is_refused = !begins(&whole);
        assert_eq!(is_refused, row["static"] == "refused", "{}", row["name"]);
        if is_refused {
            continue;
        }
        for (field, kind) in row["fields"].as_object().unwrap() {
            let mut without = whole.clone();
            without.remove(field.trim_end_matches('?'));
            let may_miss = field.ends_with('?') || kind.as_str().unwrap().contains("null");
            assert_eq!(begins(&without), may_miss, "without {field}");
        }
    }
}

/// Words in quotes that stand after one of these in a source text.
fn words_after(source: &str, befores: &[&str]) -> BTreeSet<String> {
    let places = befores.iter().flat_map(|before| source.split(before).skip(1));
    places.filter_map(|rest| rest.split('"').next()).map(ToOwned::to_owned).collect()
}

#[test]
fn all_that_is_asked_of_a_command_is_read_and_nothing_else() {
    let source = include_str!("../asked.rs");
    let (mut fields, mut words) = (BTreeSet::new(), BTreeSet::new());
    let about = client_rows().filter(|row| row["of"] == "command" && row["frame"] != "open");
    let about = about.filter(|row| row["static"] != "never");
    for (field, kind) in about.flat_map(|row| row["fields"].as_object().unwrap()) {
        fields.insert(field.replace('?', ""));
        let kind = kind.as_str().unwrap();
        words.extend(kind.split('\'').skip(1).step_by(2).map(ToOwned::to_owned));
    }
    assert_eq!(words_after(source, &["Some(\""]), words);
    let read = words_after(source, &["get(\"", "number(\""]);
    // Two at a time.
    let both = words_after(source, &["[\"columns\", \""]).into_iter().chain(["columns".to_owned()]);
    assert_eq!(read.into_iter().chain(both).collect::<BTreeSet<_>>(), fields);
}
