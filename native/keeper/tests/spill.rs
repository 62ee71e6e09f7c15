//! Spill files, by a real engine.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use forkline_engine::{
    Cause, Command, Form, Limits, Listen, Opening, Overflow, SpillReport, SpillTarget, Streams,
};
use support::{command, engine, output, start, streamed};

const KEPT: Limits = Limits { head: 100, tail: 900 };

fn spilling(text: &str, path: &Path, opening: Opening) -> Command {
    let target = SpillTarget { path: path.into(), max_bytes: u64::MAX, opening };
    Command { limits: KEPT, spill: Some(target), ..command(text) }
}

fn seq(last: usize) -> Vec<u8> {
    (1..=last).flat_map(|number| format!("{number}\n").into_bytes()).collect()
}

#[test]
fn output_that_is_kept_makes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    for (text, opening) in [
        ("seq 1 200", Opening::After(u64::MAX)),
        ("printf %1000s", Opening::After(u64::MAX)),
        ("printf %1000s", Opening::After(1000)),
        ("true", Opening::After(0)),
    ] {
        let outcome = start(spilling(text, &path, opening)).outcome();
        assert_eq!(outcome.spill, None, "{text}");
        assert!(!path.exists(), "{text}");
    }
}

#[test]
fn a_late_file_has_the_output_from_its_first_byte_on() {
    let folder = tempfile::tempdir().unwrap();
    let slowly = "seq 1 300; sleep 0.1; seq 301 5000; sleep 0.1; seq 5001 100000";
    for (name, text) in [("fast", "seq 1 100000"), ("slow", slowly)] {
        let path = folder.path().join(name);
        let outcome = start(spilling(text, &path, Opening::After(u64::MAX))).outcome();
        let expected = seq(100_000);
        let report = SpillReport { written: expected.len() as u64, ..SpillReport::default() };
        assert_eq!(outcome.spill, Some(report));
        assert!(fs::read(&path).unwrap() == expected, "{name}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_late_file_is_made_at_the_given_byte() {
    let folder = tempfile::tempdir().unwrap();
    for (limit, text, bytes) in [
        (0, "printf x", 1),
        (10, "printf %11s", 11),
        (10, "printf %7s; sleep 0.05; printf %7s", 14),
        (u64::MAX, "printf %1001s", 1001),
    ] {
        let path = folder.path().join(bytes.to_string());
        let outcome = start(spilling(text, &path, Opening::After(limit))).outcome();
        assert_eq!(outcome.spill.unwrap().written, bytes);
        assert_eq!(fs::metadata(&path).unwrap().len(), bytes);
    }
}

#[test]
fn two_streams_share_a_late_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let text = "printf err >&2; sleep 0.1; printf %2000s; sleep 0.1; printf more >&2";
    let mut apart = spilling(text, &path, Opening::After(u64::MAX));
    apart.streams = Streams::Separate;
    let outcome = start(apart).outcome();
    assert_eq!(outcome.spill.unwrap().written, 2007);
    let spilled = fs::read_to_string(&path).unwrap();
    assert_eq!(spilled.len(), 2007);
    assert!(spilled.contains("err") && spilled.ends_with("more"));
}

#[test]
fn an_existing_file_is_left_alone_and_the_command_continues() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    fs::write(&path, "mine").unwrap();
    let outcome = start(spilling("seq 1 1000", &path, Opening::After(0))).outcome();
    let error = Some(libc::EEXIST);
    assert_eq!(outcome.spill, Some(SpillReport { dropped: 3893, error, ..SpillReport::default() }));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn a_quota_counts_captured_output_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let mut small = spilling("seq 1 1000", &path, Opening::After(u64::MAX));
    small.spill = small.spill.map(|target| SpillTarget { max_bytes: 500, ..target });
    let outcome = start(small).outcome();
    assert_eq!(
        outcome.spill,
        Some(SpillReport { written: 500, dropped: 3393, ..SpillReport::default() })
    );
    assert!(seq(1000).starts_with(&fs::read(&path).unwrap()));
}

#[test]
fn a_listener_gets_all_output_once_whichever_thread_drains() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let text = "seq 1 200; sleep 0.1; seq 201 10000";
    let mut heard = spilling(text, &path, Opening::After(u64::MAX));
    heard.listen = Some(Listen { overflow: Overflow::DropMiddle, form: Form::Text });
    let live = start(heard);
    let id = live.handle.id;
    let pieces = live.streamed.clone();
    std::thread::spawn(move || {
        for _ in 0..100 {
            std::thread::sleep(Duration::from_millis(10));
            engine().resume(id);
        }
    });
    live.outcome();
    assert_eq!(streamed(&pieces.lock().unwrap()).into_bytes(), seq(10_000));
    assert_eq!(fs::read(&path).unwrap(), seq(10_000));
}

#[test]
fn a_deadline_closes_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let mut endless = spilling("seq 1 1000; sleep 60", &path, Opening::After(u64::MAX));
    endless.timeout = Some(Duration::from_millis(500));
    let outcome = start(endless).outcome();
    assert_eq!(outcome.cause, Cause::TimedOut);
    assert_eq!(fs::read(&path).unwrap(), seq(1000));
}

#[test]
fn the_file_does_not_grow_after_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let text = "printf %2000s; (sleep 1; printf %200000s) &";
    let outcome = start(spilling(text, &path, Opening::After(u64::MAX))).outcome();
    assert_eq!(outcome.spill.unwrap().written, 2000);
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(fs::metadata(&path).unwrap().len(), 2000);
}

#[test]
fn a_file_from_the_start_exists_even_when_empty() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let outcome = start(spilling("true", &path, Opening::AtStart)).outcome();
    assert_eq!(output(&outcome), "");
    assert_eq!(outcome.spill, Some(SpillReport::default()));
    assert!(path.exists());
}

#[test]
fn a_file_from_the_start_replaces_an_existing_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    fs::write(&path, "what was there, and is longer").unwrap();
    let outcome = start(spilling("echo new", &path, Opening::AtStart)).outcome();
    assert_eq!(outcome.spill.unwrap().error, None);
    assert_eq!(fs::read(&path).unwrap(), b"new\n");
}

#[test]
fn a_quota_holds_however_many_writes_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let text = "for i in {1..10}; do printf %1000s; sleep .02; done";
    let mut small = spilling(text, &path, Opening::AtStart);
    small.spill = small.spill.map(|target| SpillTarget { max_bytes: 4500, ..target });
    let report = start(small).outcome().spill.unwrap();
    assert_eq!((report.written, report.dropped), (4500, 5500));
    assert_eq!(fs::metadata(&path).unwrap().len(), 4500);
}
