//! Ends of commands, and what is told before them, by a real engine.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

mod support;

use std::sync::mpsc::channel;
use std::time::Duration;

use forkline_engine::{Cause, Signal, Status, Stdin};
use support::{LiveRun, command, dispose, engine, output, start, start_for};

const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the names of a command's members.
fn members(live: &LiveRun) -> Vec<String> {
    let (told, names) = channel();
    let asked = move |members: Option<Vec<_>>| told.send(members.unwrap()).unwrap();
    engine().members(live.handle.id, Box::new(asked));
    let mut names: Vec<String> = Vec::from_iter(
        names.recv_timeout(PATIENCE).unwrap().into_iter().map(|member| member.command),
    );
    names.sort();
    names
}

/// Returns whether a signal was sent to the command.
fn signal(live: &LiveRun, signal: Signal) -> bool {
    let (told, sent) = channel();
    engine().signal(live.handle.id, signal, Box::new(move |answer| told.send(answer).unwrap()));
    sent.recv_timeout(PATIENCE).unwrap()
}

fn wait_for(live: &LiveRun, text: &str) {
    for _ in 0..3000 {
        let (told, shown) = channel();
        engine().snapshot(live.handle.id, Box::new(move |shown| told.send(shown).unwrap()));
        let shown = shown.recv_timeout(PATIENCE).unwrap().unwrap();
        if shown.iter().any(|one| support::complete(one).contains(text)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{text} was not printed");
}

#[test]
fn each_answer_names_the_current_members_once() {
    let live = start(command("sleep 311 & echo ready; exec sleep 312"));
    live.pid();
    wait_for(&live, "ready");
    let expected = ["sleep 311", "sleep 312"];
    // The process may be about to execute that program.
    while members(&live) != expected {}
    assert_eq!(members(&live), expected);
    engine().cancel(&live.handle, None);
    assert_eq!(live.outcome().cause, Cause::Cancelled);
}

#[test]
fn a_process_that_prints_for_ever_does_not_delay_the_end() {
    let live = start(command("while :; do echo more; sleep 0.02; done & echo done"));
    let owner = live.owner.clone();
    let outcome = live.outcome();
    assert_eq!(outcome.status, Status::Exited(0));
    assert!(!outcome.background.is_empty());
    dispose(&owner);
}

#[test]
fn a_command_that_is_ending_takes_signals() {
    let text =
        "trap : TERM; trap 'echo heard; exit 7' USR1; echo ready; while :; do sleep 0.05; done";
    let mut stubborn = command(text);
    stubborn.grace = PATIENCE;
    let live = start(stubborn);
    live.pid();
    wait_for(&live, "ready");
    engine().cancel(&live.handle, None);
    assert!(signal(&live, Signal::USR1));
    let outcome = live.outcome();
    assert_eq!((outcome.cause, outcome.status), (Cause::Cancelled, Status::Exited(7)));
    assert!(output(&outcome).ends_with("heard\n"));
}

#[test]
fn a_waiting_write_is_answered_when_the_command_is_over() {
    // The other end of the pipe outlives the command, so the write keeps waiting.
    let mut held = command("sleep 313 <&0 & read -n 1 x");
    held.stdin = Stdin::Pipe;
    let live = start(held);
    let owner = live.owner.clone();
    live.pid();
    let (told, written) = channel();
    let tell = move |result| told.send(result).unwrap();
    engine().write(live.handle.id, vec![b'x'; 1024 * 1024], Box::new(tell));
    assert_eq!(live.outcome().status, Status::Exited(0));
    assert_eq!(written.recv_timeout(PATIENCE).unwrap(), Err(rustix::io::Errno::PIPE));
    dispose(&owner);
}

#[test]
fn a_process_may_write_to_the_output_after_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lives");
    // Longer than the time that output after a command's end is waited for.
    let text = format!("(sleep 0.6; printf %200000s; echo alive >{}) & echo done", path.display());
    let live = start(command(&text));
    let owner = live.owner.clone();
    assert_eq!(output(&live.outcome()), "done\n");
    for _ in 0..3000 {
        if std::fs::read(&path).is_ok_and(|text| text == b"alive\n") {
            return dispose(&owner);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it has not written on");
}

#[test]
fn the_end_of_one_command_gives_no_other_more_time() {
    let folder = tempfile::tempdir().unwrap();
    let owner = engine().owner();
    // Each one's cleanup takes longer than the one before, in short steps; the second one's is longer
    // than the grace.
    for steps in [15, 35] {
        let [ready, over] =
            ["ready", "over"].map(|name| folder.path().join(format!("{name}{steps}")));
        let tidy =
            format!("for ((i = {steps}; i; i--)); do sleep 0.2; done; : >{}", over.display());
        let text = format!(
            "(trap '{tidy}; exit' TERM; : >{0}; while :; do sleep 0.05; done) >/dev/null 2>&1 &
            until [ -e {0} ]; do sleep 0.01; done",
            ready.display()
        );
        assert_eq!(start_for(command(&text), &owner).outcome().status, Status::Exited(0));
    }
    dispose(&owner);
    assert!(!folder.path().join("over35").exists());
}
