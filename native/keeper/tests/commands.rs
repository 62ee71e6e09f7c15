//! Commands run to their end by a real engine.

mod support;

use std::time::{Duration, Instant};

use forkline_engine::{Cause, Ended, Signal, Status, Stdin, Streams};
use support::{command, complete, dispose, engine, lives, output, run, start, start_for};

#[test]
fn merged_output_and_the_exit_code_are_told() {
    let outcome = run("for i in 1 2 3; do echo o$i; echo e$i >&2; done; exit 300");
    assert_eq!(output(&outcome), "o1\ne1\no2\ne2\no3\ne3\n");
    assert_eq!(outcome.status, Status::Exited(44));
    assert_eq!(outcome.cause, Cause::Itself);
    assert!(outcome.background.is_empty());
}

#[test]
fn separate_streams_are_kept_apart() {
    let mut apart = command("echo out; echo err >&2");
    apart.streams = Streams::Separate;
    let outcome = start(apart).outcome();
    let texts: Vec<_> = outcome.captures.iter().map(complete).collect();
    assert_eq!(texts, ["out\n", "err\n"]);
}

#[test]
fn a_child_that_holds_the_pipe_does_not_delay_the_result() {
    let begun = Instant::now();
    let live = start(command("sleep 300 & echo done"));
    let owner = live.owner.clone();
    let outcome = live.outcome();
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert_eq!(output(&outcome), "done\n");
    let [sleeper] = outcome.background.as_slice() else { panic!("{:?}", outcome.background) };
    assert_eq!(sleeper.command, "sleep 300");
    assert!(lives(sleeper.pid));

    dispose(&owner);
    assert!(!lives(sleeper.pid));
}

#[test]
fn the_deadline_ends_members_outside_the_group_too() {
    let daemon = "import os,time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
open('FILE','w').write(str(os.getpid()))
os.closerange(0,256)
time.sleep(300)";
    let file = tempfile::NamedTempFile::new().unwrap();
    let daemon = daemon.replace("FILE", file.path().to_str().unwrap());
    let text = format!(
        "python3 -c \"{daemon}\"; setsid sleep 301 & env -i setsid sleep 302 & echo $!; sleep 303"
    );
    let mut timed = command(&text);
    // Long enough for python to have started on a busy machine.
    timed.timeout = Some(Duration::from_secs(4));
    let outcome = start(timed).outcome();
    assert_eq!(outcome.cause, Cause::TimedOut);
    assert!(!outcome.forced);
    assert_eq!(outcome.status, Status::Signaled(libc_sigterm()));
    let daemon: i32 = std::fs::read_to_string(file.path()).unwrap().parse().unwrap();
    assert!(!lives(daemon));
    let cleared: i32 = output(&outcome).trim().parse().unwrap();
    assert!(!lives(cleared));
    assert!(outcome.background.is_empty(), "{:?}", outcome.background);
}

fn libc_sigterm() -> i32 {
    Signal::TERM.as_raw()
}

#[test]
fn a_command_that_ignores_sigterm_is_killed_after_its_grace() {
    let mut stubborn = command("trap '' TERM; echo ready; sleep 304");
    stubborn.timeout = Some(Duration::from_millis(300));
    stubborn.grace = Duration::from_millis(500);
    let outcome = start(stubborn).outcome();
    assert_eq!(outcome.cause, Cause::TimedOut);
    assert!(outcome.forced);
    assert_eq!(outcome.status, Status::Signaled(Signal::KILL.as_raw()));
    assert_eq!(output(&outcome), "ready\n");
}

#[test]
fn a_command_that_cleans_up_on_sigterm_is_not_killed() {
    let mut polite = command("trap 'echo bye; exit 3' TERM; sleep 305 & wait");
    polite.timeout = Some(Duration::from_millis(300));
    let outcome = start(polite).outcome();
    assert_eq!((outcome.cause, outcome.forced), (Cause::TimedOut, false));
    assert_eq!(outcome.status, Status::Exited(3));
    assert_eq!(output(&outcome), "bye\n");
}

#[test]
fn cancelling_before_the_launch_starts_nothing() {
    let owner = engine().owner();
    owner.dispose();
    let ended = start_for(command("echo never"), &owner).end();
    assert!(matches!(ended, Ended::NeverStarted));
}

#[test]
fn standard_input_is_empty_or_what_was_written() {
    assert_eq!(output(&run("cat; read x; echo rc=$?")), "rc=1\n");

    let mut reading = command("cat; echo end");
    reading.stdin = Stdin::Bytes(b"given".to_vec());
    assert_eq!(output(&start(reading.clone()).outcome()), "givenend\n");

    reading.stdin = Stdin::Pipe;
    let live = start(reading);
    live.pid();
    let big = vec![b'x'; 100_000];
    let (done, written) = std::sync::mpsc::channel();
    engine().write(live.handle.id, big, Box::new(move |result| done.send(result).unwrap()));
    written.recv_timeout(Duration::from_secs(10)).unwrap().unwrap();
    engine().end_input(live.handle.id);
    let text = output(&live.outcome());
    assert_eq!(text.len(), 100_000 + 4);
    assert!(text.ends_with("xend\n"));
}

#[test]
fn texts_of_any_length_run_alike() {
    for length in [10, 100_000, 131_072, 2_000_000] {
        let filler = ":".repeat(length);
        let outcome = run(&format!("{filler} 2>/dev/null; echo \"$0 $LINENO $#\"\nreturn 3"));
        let expected =
            "bash 1 0\nbash: line 2: return: can only `return' from a function or sourced script\n";
        assert_eq!(output(&outcome), expected, "{length}");
        assert_eq!(outcome.status, Status::Exited(2));
    }
}

#[test]
fn the_text_is_in_no_argument_list() {
    let outcome = run("sleep 3979 & sleep .2; pkill -f 'sleep 3979'; echo alive");
    assert!(output(&outcome).ends_with("alive\n"));
}
