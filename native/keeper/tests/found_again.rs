//! Detached commands that are found again by their keeper's socket and by their record.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that can't go on fails"
)]

mod scenes;

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use forkline_engine::Status;
use forkline_protocol::task::{
    EndCause, LONGEST_WRITE, Next, Stage, TaskAnswer, TaskCall, TaskEnd, TaskState, next_message,
};
use scenes::{OutputScene, eventually, is_gone, keeper_of, kill, scene, wait_until_gone};

struct Visitor {
    socket: UnixStream,
    heard: Vec<u8>,
}

impl Visitor {
    fn of(scene: &OutputScene) -> Visitor {
        let socket = UnixStream::connect(scene.folder.path().join("output.socket")).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Visitor { socket, heard: Vec::new() }
    }

    fn say(&mut self, number: u64, call: &TaskCall) {
        self.socket.write_all(&call.encode(number)).unwrap();
    }

    /// Returns the next answer. None: the keeper has closed the connection.
    fn hear(&mut self) -> Option<(u64, TaskAnswer)> {
        loop {
            if let Next::Message(message, rest) = next_message(&self.heard, 1 << 20) {
                let answer = TaskAnswer::decode(message).unwrap();
                self.heard = rest.to_vec();
                return Some(answer);
            }
            let mut buffer = [0; 4096];
            match self.socket.read(&mut buffer) {
                Ok(0) => return None,
                Ok(length) => self.heard.extend_from_slice(&buffer[..length]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn ask(&mut self, call: &TaskCall) -> TaskAnswer {
        self.say(9, call);
        loop {
            let (number, answer) = self.hear().unwrap();
            if number == 9 {
                return answer;
            }
        }
    }

    /// Returns the next state that the keeper sends.
    fn stage(&mut self) -> Stage {
        loop {
            if let (0, TaskAnswer::State(state)) = self.hear().unwrap() {
                return state.stage;
            }
        }
    }
}

fn record(scene: &OutputScene) -> TaskState {
    TaskState::decode(&fs::read(scene.folder.path().join("output.state")).unwrap()).unwrap()
}

fn fed(text: &str) -> OutputScene {
    let mut scene = scene(text);
    (scene.command.input, scene.command.line) = (true, false);
    scene
}

#[test]
fn a_client_reads_writes_and_is_told_the_end() {
    let scene = fed("read line; echo \"got $line\"; cat; exit 3");
    let pid = scene.start();
    let mode = |name: &str| fs::metadata(scene.folder.path().join(name)).unwrap().permissions();
    assert_eq!(mode("output.socket").mode() & 0o777, 0o600);
    assert_eq!(mode("output.state").mode() & 0o777, 0o600);
    assert_eq!((record(&scene).leader.pid, record(&scene).stage), (pid, Stage::Running));
    let keeper = keeper_of(pid);
    assert_eq!(record(&scene).keeper.pid, keeper);
    let mut visitor = Visitor::of(&scene);
    assert_eq!(visitor.stage(), Stage::Running);
    let TaskAnswer::Members { members, total: 1 } = visitor.ask(&TaskCall::Who) else { panic!() };
    assert_eq!(members[0].pid, pid);
    assert_eq!(visitor.ask(&TaskCall::Write(b"one\ntwo\n".to_vec())), TaskAnswer::Written(0));
    assert_eq!(visitor.ask(&TaskCall::CloseInput), TaskAnswer::Done);
    let Stage::Ended { end, .. } = visitor.stage() else { panic!() };
    assert_eq!((end.status, end.cause, end.output), (Status::Exited(3), EndCause::Itself, 12));
    assert!(visitor.hear().is_none());
    wait_until_gone(keeper);
    assert_eq!(scene.output(), "got one\ntwo\n");
    assert!(matches!(record(&scene).stage, Stage::Ended { end: recorded, .. } if recorded == end));
    let mut names: Vec<_> = fs::read_dir(scene.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    // The version for an end that leaves members was not needed.
    assert_eq!(names, ["output", "output.state", "output.state.3"]);
}

#[test]
fn a_command_that_leaves_a_member_is_left_and_then_ended() {
    let scene = scene("echo out; sleep 300 & exit 4");
    let pid = scene.start();
    let mut visitor = Visitor::of(&scene);
    let left = loop {
        if let Stage::Left(end) = visitor.stage() {
            break end;
        }
    };
    assert_eq!(left.status, Status::Exited(4));
    assert_eq!((left.total_left, left.output, left.left.len()), (1, 4, 1));
    assert_eq!(left.left[0].command.as_deref(), Some(&b"sleep 300"[..]));
    assert_eq!(record(&scene).stage, Stage::Left(left.clone()));
    assert_eq!(scene.output(), "out\n\n\n[background process failed: exit status: 4]\n");
    assert_eq!(visitor.ask(&TaskCall::Signal(libc::SIGTERM)), TaskAnswer::Signalled(false));
    assert_eq!(visitor.ask(&TaskCall::End(5000)), TaskAnswer::Over(true));
    let Stage::Ended { end, .. } = record(&scene).stage else { panic!() };
    assert_eq!(end, left);
    assert!(is_gone(pid));
}

#[test]
fn an_ordered_end_is_answered_when_it_is_over() {
    let scene = scene("trap '' TERM; echo on; while :; do sleep 300; done");
    scene.start();
    eventually(|| (scene.output() == "on\n").then_some(()));
    let (mut first, mut second) = (Visitor::of(&scene), Visitor::of(&scene));
    first.say(1, &TaskCall::End(60_000));
    second.say(2, &TaskCall::End(100));
    let over = |visitor: &mut Visitor, number| {
        eventually(|| (visitor.hear().unwrap() == (number, TaskAnswer::Over(true))).then_some(()));
    };
    over(&mut first, 1);
    over(&mut second, 2);
    let Stage::Ended { end: TaskEnd { status, cause, forced, .. }, .. } = record(&scene).stage
    else {
        panic!()
    };
    assert_eq!((status, cause, forced), (Status::Signaled(9), EndCause::Ended, true));
    assert!(scene.output().ends_with("[background process failed: signal: 9 (SIGKILL)]\n"));
}

#[test]
fn a_client_that_reads_nothing_or_sends_nonsense_delays_no_other() {
    let scene = scene("echo on; sleep 300; true");
    let pid = scene.start();
    let mut deaf = Visitor::of(&scene);
    deaf.socket.set_nonblocking(true).unwrap();
    let call = TaskCall::Who.encode(1).repeat(1000);
    while deaf.socket.write(&call).is_ok() {}
    let mut mad = Visitor::of(&scene);
    mad.socket.write_all(&[0xff; 64]).unwrap();
    while mad.hear().is_some() {}
    let _crowd: Vec<_> = (0..40).map(|_| Visitor::of(&scene)).collect();
    let keeper = keeper_of(pid);
    let size = || {
        let status = fs::read_to_string(format!("/proc/{keeper}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap().to_owned();
        line.split_ascii_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    assert!(size() < 20_000, "{} KiB", size());
    drop(deaf);
    drop(_crowd);
    let mut visitor = eventually(|| {
        let mut visitor = Visitor::of(&scene);
        visitor.hear().is_some().then_some(visitor)
    });
    assert_eq!(visitor.ask(&TaskCall::Signal(libc::SIGKILL)), TaskAnswer::Signalled(true));
    wait_until_gone(keeper);
}

#[test]
fn a_signal_is_sent_while_a_write_waits() {
    let scene = fed("sleep 300; true");
    scene.start();
    let mut visitor = Visitor::of(&scene);
    let mut other = Visitor::of(&scene);
    // As much as a pipe holds.
    let much = TaskCall::Write(vec![b'x'; LONGEST_WRITE]);
    assert_eq!(visitor.ask(&much), TaskAnswer::Written(0));
    visitor.say(1, &much);
    other.say(2, &TaskCall::Write(b"y".to_vec()));
    assert_eq!(visitor.ask(&TaskCall::Who), {
        let TaskAnswer::Members { members, total } = Visitor::of(&scene).ask(&TaskCall::Who) else {
            panic!()
        };
        TaskAnswer::Members { members, total }
    });
    assert_eq!(visitor.ask(&TaskCall::Signal(libc::SIGKILL)), TaskAnswer::Signalled(true));
    let (mut heard, mut last) = (Vec::new(), None);
    while let Some(answer) = visitor.hear() {
        heard.push(answer);
    }
    while let Some(answer) = other.hear() {
        last = Some(answer).filter(|(number, _)| *number == 2).or(last);
    }
    assert!(heard.contains(&(1, TaskAnswer::Written(libc::EPIPE))), "{heard:?}");
    assert_eq!(last, Some((2, TaskAnswer::Written(libc::EPIPE))));
}

#[test]
fn the_record_of_a_killed_keeper_has_the_last_state() {
    let scene = scene("sleep 300; true");
    let pid = scene.start();
    kill(keeper_of(pid), libc::SIGKILL);
    eventually(|| UnixStream::connect(scene.folder.path().join("output.socket")).err());
    assert_eq!(record(&scene).stage, Stage::Running);
    assert!(!is_gone(pid));
    kill(-pid, libc::SIGKILL);
}
