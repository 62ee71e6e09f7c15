//! Detached commands on a terminal, by a real engine and the real keeper.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod scenes;

use std::fs;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use forkline_engine::Size;
use forkline_protocol::task::{
    LONGEST_CALL, Next, TaskAnswer, TaskCall, TerminalSize, next_message,
};
use scenes::{OutputScene, eventually, keeper_of, kill, open_files, scene, wait_until_gone};

const SIZE: Option<Size> = Some(Size { columns: 90, rows: 30 });

fn on_terminal(text: &str) -> OutputScene {
    let mut scene = scene(text);
    scene.command.terminal = SIZE;
    scene
}

#[test]
fn a_detached_terminal_is_the_controlling_one_and_its_output_is_whole() {
    let scene = on_terminal(
        "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && (: </dev/tty) && echo own; stty size; seq 1 20000; exit 3",
    );
    scene.start();
    let ending = scene.ending();
    assert!(ending.starts_with("own\r\n30 90\r\n1\r\n2\r\n"), "{:?}", ending.get(..40));
    let end = "\r\n20000\r\n\n\n[background process failed: exit status: 3]\n";
    assert!(ending.ends_with(end), "{:?}", ending.get(ending.len() - 80..));
    let numbers: String = (1..=20000).map(|number| format!("{number}\r\n")).collect();
    assert!(ending.contains(&numbers));
}

#[test]
fn the_keeper_holds_the_master_and_no_process_the_other_end_after_the_command() {
    let scene = on_terminal("echo on; exec sleep 300");
    let pid = scene.start();
    eventually(|| (scene.output() == "on\r\n").then_some(()));
    let keeper = keeper_of(pid);
    let masters = |pid| {
        let (files, _) = open_files(pid)?;
        Some(files.iter().filter(|file| file.ends_with("ptmx")).count())
    };
    // Once to be read, and once to be written to.
    assert_eq!(masters(keeper), Some(2));
    assert_eq!(masters(std::process::id() as i32), Some(0));
    kill(-pid, libc::SIGKILL);
    scene.ending();
    wait_until_gone(keeper);
}

#[test]
fn a_terminal_that_no_process_reads_ends_with_its_keeper() {
    let scene = on_terminal("echo on; exec sleep 300");
    let pid = scene.start();
    eventually(|| (scene.output() == "on\r\n").then_some(()));
    kill(keeper_of(pid), libc::SIGKILL);
    // The kernel hangs up.
    wait_until_gone(pid);
}

#[test]
fn the_quota_bounds_a_terminal_that_floods() {
    let mut scene = on_terminal("head -c 30000000 /dev/zero | tr '\\0' x; exit 0");
    scene.command.quota = 100_000;
    scene.start();
    let ending = scene.ending();
    assert!(ending.len() < 101_000, "{}", ending.len());
    assert!(ending.contains("[output cut after 50000 bytes, "), "{}", ending.len());
}

/// A client of the keeper.
struct Client {
    socket: UnixStream,
    stream: Vec<u8>,
}

impl Client {
    fn of(scene: &OutputScene) -> Client {
        let path: PathBuf = scene.folder.path().join("output.socket");
        Client { socket: UnixStream::connect(path).unwrap(), stream: Vec::new() }
    }

    fn call(&mut self, number: u64, call: &TaskCall) {
        std::io::Write::write_all(&mut self.socket, &call.encode(number)).unwrap();
    }

    /// Returns the next message.
    fn next(&mut self) -> (u64, TaskAnswer) {
        loop {
            if let Next::Message(message, rest) = next_message(&self.stream, LONGEST_CALL) {
                let (answer, rest) = (TaskAnswer::decode(message).unwrap(), rest.to_vec());
                self.stream = rest;
                return answer;
            }
            let mut part = [0; 4096];
            let length = self.socket.read(&mut part).unwrap();
            assert!(length > 0, "the keeper is gone");
            self.stream.extend(part.get(..length).unwrap());
        }
    }

    /// Returns the answer with this number.
    fn answer(&mut self, number: u64) -> TaskAnswer {
        loop {
            let (of, answer) = self.next();
            if of == number {
                return answer;
            }
        }
    }
}

#[test]
fn clients_type_resize_and_follow() {
    let scene = on_terminal(
        "trap 'stty size' WINCH; echo ready; while IFS= read -r x || [ $? -gt 128 ]; do echo \"<$x>\"; done",
    );
    let pid = scene.start();
    eventually(|| scene.output().contains("ready").then_some(()));
    let (mut one, mut other) = (Client::of(&scene), Client::of(&scene));
    let size = |columns, rows| TerminalSize { columns, rows };
    one.call(1, &TaskCall::Resize { size: size(100, 20), redraw: false });
    let TaskAnswer::Terminal(view) = one.answer(1) else { panic!("no terminal") };
    assert_eq!(view.size, size(100, 20));
    assert!(view.echoes && view.canonical && view.is_first);
    other.call(1, &TaskCall::Resize { size: size(70, 40), redraw: false });
    let TaskAnswer::Terminal(view) = other.answer(1) else { panic!("no terminal") };
    assert_eq!(view.size, size(70, 20), "the smallest of both");
    assert!(!view.is_first);
    one.call(2, &TaskCall::Follow { since: 0, live: true });
    assert_eq!(one.answer(2), TaskAnswer::Resized(size(90, 30)));
    other.call(2, &TaskCall::Write(b"hello\n".to_vec()));
    assert_eq!(other.answer(2), TaskAnswer::Written(0));
    let mut shown = Vec::new();
    while !String::from_utf8_lossy(&shown).contains("<hello>") {
        if let TaskAnswer::Output(stretch) = one.answer(2) {
            shown.extend(stretch.bytes);
        }
    }
    one.call(3, &TaskCall::Resize { size: size(0, 0), redraw: false });
    let TaskAnswer::Terminal(view) = one.answer(3) else { panic!("no terminal") };
    assert_eq!((view.size, view.is_first), (size(70, 40), false));
    one.call(4, &TaskCall::Resize { size: size(100, 20), redraw: false });
    let TaskAnswer::Terminal(view) = one.answer(4) else { panic!("no terminal") };
    assert_eq!((view.size, view.is_first), (size(70, 20), false));
    // A window counts for as long as its client is there.
    drop(other);
    eventually(|| {
        one.call(5, &TaskCall::Look);
        let TaskAnswer::Terminal(view) = one.answer(5) else { return None };
        (view.size == size(100, 20) && view.is_first).then_some(())
    });
    kill(-pid, libc::SIGKILL);
    scene.ending();
}

#[test]
fn a_client_that_reads_nothing_delays_no_process_and_can_interrupt() {
    let scene =
        on_terminal("trap 'echo >caught; exit 9' INT; echo ready; while :; do seq 1 9999; done");
    scene.start();
    eventually(|| scene.output().contains("ready").then_some(()));
    let mut stopped = Client::of(&scene);
    stopped.call(1, &TaskCall::Follow { since: 0, live: true });
    eventually(|| (scene.output().len() > 5_000_000).then_some(()));
    stopped.call(2, &TaskCall::Write(vec![3]));
    assert!(scene.ending().ends_with("[background process failed: exit status: 9]\n"));
    assert!(fs::exists(scene.folder.path().join("caught")).unwrap());
}
