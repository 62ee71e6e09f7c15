//! Commands on a pseudo-terminal, by a real engine.
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod support;

use std::fs;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use forkline_engine::{
    Cause, Command, Errno, Form, Limits, Listen, Opening, Overflow, Size, SpillTarget, Status,
    Streams,
};
use support::{LiveRun, command, dispose, engine, lives, output, start, streamed};

const SIZE: Size = Size { columns: 120, rows: 40 };

fn on_terminal(text: &str) -> Command {
    Command { streams: Streams::Terminal(SIZE), ..command(text) }
}

fn listening(text: &str) -> LiveRun {
    let listen = Some(Listen { overflow: Overflow::DropMiddle, form: Form::Bytes });
    let live = start(Command { listen, ..on_terminal(text) });
    live.pid();
    live
}

fn run(text: &str) -> String {
    output(&start(on_terminal(text)).outcome())
}

/// Writes, and waits until the terminal has taken the bytes.
fn write(live: &LiveRun, bytes: &[u8]) -> Result<(), Errno> {
    let (done, written) = channel();
    let done = Box::new(move |result| done.send(result).unwrap());
    engine().write(live.handle.id, bytes.to_vec(), done);
    written.recv_timeout(Duration::from_secs(20)).unwrap()
}

fn wait_for(live: &LiveRun, text: &str) {
    let until = Instant::now() + Duration::from_secs(20);
    while !streamed(&live.streamed.lock().unwrap()).contains(text) {
        assert!(Instant::now() < until, "{text:?} does not come");
        engine().resume(live.handle.id);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn all_three_descriptors_are_the_terminal_which_is_the_controlling_one() {
    let text = run("[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo yes; (: </dev/tty) && echo own; \
                    stty size; stty -a | grep -o ' iutf8'; ps -o tpgid=,pgid= -p $$");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("yes"));
    assert_eq!(lines.next(), Some("own"));
    assert_eq!(lines.next(), Some("40 120"));
    assert_eq!(lines.next(), Some(" iutf8"));
    let groups: Vec<_> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(groups[0], groups[1], "the command is in the foreground");
}

#[test]
fn the_end_of_the_output_is_not_lost() {
    for _ in 0..20 {
        let text = run("seq 1 4000");
        assert!(text.ends_with("\r\n4000\r\n"), "{:?}", text.get(text.len().saturating_sub(20)..));
    }
}

#[test]
fn written_bytes_are_typed_at_the_terminal() {
    let live = listening("stty -echo; echo ready; read line; echo \"<$line>\"; cat; echo end");
    wait_for(&live, "ready");
    write(&live, "caf\u{e9}\x7fe\n".as_bytes()).unwrap();
    wait_for(&live, "<cafe>");
    write(&live, b"more\n\x04").unwrap();
    assert_eq!(output(&live.outcome()), "ready\r\n<cafe>\r\nmore\r\nend\r\n");
}

#[test]
fn the_interrupt_character_interrupts() {
    let live = listening("trap 'echo caught; exit 7' INT; echo ready; sleep 300 & wait");
    wait_for(&live, "ready");
    write(&live, b"\x03").unwrap();
    let outcome = live.outcome();
    assert_eq!(outcome.status, Status::Exited(7));
    assert!(output(&outcome).ends_with("caught\r\n"));
}

#[test]
fn a_new_size_is_told_to_the_command() {
    let live = listening("trap 'stty size; exit' WINCH; echo ready; while :; do sleep .05; done");
    wait_for(&live, "ready");
    engine().resize(live.handle.id, Size { columns: 33, rows: 7 });
    assert!(output(&live.outcome()).ends_with("7 33\r\n"));
}

#[test]
fn more_input_than_the_terminal_holds_waits_until_it_is_read() {
    let live = listening("stty raw -echo; echo ready; sleep .3; head -c 300000 | sha256sum");
    wait_for(&live, "ready");
    let bytes: Vec<u8> = (0..300_000u32).map(|index| (index % 251) as u8).collect();
    write(&live, &bytes).unwrap();
    let sum = start(command(
        "python3 -c \"import sys; \
        sys.stdout.buffer.write(bytes(i%251 for i in range(300000)))\" | sha256sum",
    ));
    let text = output(&live.outcome());
    assert_eq!(text.split_once('\n').unwrap().1, output(&sum.outcome()));
}

#[test]
fn input_that_waits_when_the_command_ends_is_epipe() {
    let live = listening("stty raw; echo ready; sleep .5");
    wait_for(&live, "ready");
    assert_eq!(write(&live, &[b'x'; 1_000_000]), Err(Errno::PIPE));
    let id = live.handle.id;
    assert_eq!(live.outcome().status, Status::Exited(0));
    let (done, written) = channel();
    engine().write(id, b"x".to_vec(), Box::new(move |result| done.send(result).unwrap()));
    assert_eq!(written.recv_timeout(Duration::from_secs(20)).unwrap(), Err(Errno::PIPE));
}

#[test]
fn the_deadline_ends_an_interactive_shell_and_its_jobs() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().display();
    // bash -i ignores SIGTERM, and puts its jobs into process groups of their own.
    let text = format!("bash --norc -i -c 'sleep 300 & echo $! >{path}; sleep 301'");
    let mut timed = on_terminal(&text);
    timed.timeout = Some(Duration::from_secs(2));
    timed.grace = Duration::from_millis(500);
    let outcome = start(timed).outcome();
    assert_eq!(outcome.cause, Cause::TimedOut);
    assert!(outcome.background.is_empty(), "{:?}", outcome.background);
    assert!(!lives(fs::read_to_string(file.path()).unwrap().trim().parse().unwrap()));
}

#[test]
fn a_holder_of_the_terminal_does_not_delay_the_result_and_is_named() {
    let begun = Instant::now();
    let live = start(on_terminal("trap '' HUP; setsid sleep 302 & echo done; sleep .1"));
    let owner = live.owner.clone();
    let outcome = live.outcome();
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(output(&outcome), "done\r\n");
    let [sleeper] = outcome.background.as_slice() else { panic!("{:?}", outcome.background) };
    assert_eq!(sleeper.command, "sleep 302");
    dispose(&owner);
    assert!(!lives(sleeper.pid));
}

#[test]
fn a_process_known_only_by_its_terminal_is_ended_too() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().display();
    // A process with another mark, parent, group and session: only the terminal connects it to the
    // command.
    let text = format!(
        "(env -i setsid bash -c 'trap \"\" HUP; echo $$ >{path}; exec /bin/sleep 303' &); sleep 304"
    );
    let mut timed = on_terminal(&text);
    timed.timeout = Some(Duration::from_secs(2));
    let outcome = start(timed).outcome();
    assert_eq!(outcome.cause, Cause::TimedOut);
    assert!(!lives(fs::read_to_string(file.path()).unwrap().trim().parse().unwrap()));
}

#[test]
fn the_bytes_are_spilled_as_they_came() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    for opening in [Opening::AtStart, Opening::After(1000)] {
        let mut spilling = on_terminal("seq 1 20000");
        spilling.limits = Limits { head: 0, tail: 1000 };
        spilling.spill = Some(SpillTarget { path: path.clone(), max_bytes: u64::MAX, opening });
        let outcome = start(spilling).outcome();
        let expected: String = (1..=20000).map(|number| format!("{number}\r\n")).collect();
        assert_eq!(outcome.captures[0].total.bytes, expected.len() as u64);
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_command_that_closes_its_terminal_may_open_it_again() {
    let text = "echo one; exec </dev/null >/dev/null 2>&1; sleep .3; seq 1 20000 >/dev/tty";
    let mut command = on_terminal(text);
    command.limits = Limits { head: 10, tail: 10 };
    let outcome = start(command).outcome();
    assert_eq!(outcome.captures[0].total.lines, 20_001);
}

#[test]
fn long_texts_are_not_typed_into_the_terminal() {
    for length in [5_000, 200_000] {
        let text = run(&format!("true {}; echo $-; echo end", "x".repeat(length)));
        assert_eq!(text, "hBc\r\nend\r\n", "{length}");
    }
}
