//! Runs one command through a real engine and waits for its end.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

use std::ffi::CString;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use forkline_engine::{
    Captured, Chunk, Command, Data, Ended, Engine, Handle, Label, LaunchError, Limits, Outcome,
    Owner, Parts, Priority, Sink, Stdin, Streams, Text,
};

/// The one engine of the test process.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| start_engine(Some(env!("CARGO_BIN_EXE_forkline-keeper").into())))
}

pub fn start_engine(keeper: Option<std::path::PathBuf>) -> Engine {
    Engine::start(keeper, Box::new(|| {}), Box::new(|_, _, _| {})).unwrap()
}

/// Returns a command with no deadline and generous limits.
pub fn command(text: &str) -> Command {
    Command {
        text: text.into(),
        shells: vec![CString::new("/bin/bash").unwrap()],
        environment: format!("PATH={}", std::env::var("PATH").unwrap()).into_bytes(),
        directory: None,
        follow: false,
        announce: true,
        priority: Priority::Normal,
        starts_at_once: None,
        umask: None,
        sandbox: None,
        groups: Vec::new(),
        oom_victim: false,
        cpu: None,
        stdin: Stdin::Null,
        streams: Streams::Merged,
        limits: Limits { head: 64 * 1024, tail: 64 * 1024 },
        listen: None,
        spill: None,
        timeout: None,
        grace: Duration::from_secs(5),
    }
}

/// A running command.
pub struct LiveRun {
    pub handle: Handle,
    pub owner: Arc<Owner>,
    pub streamed: Arc<Mutex<Vec<Chunk>>>,
    events: Receiver<Ended>,
    pids: Receiver<i32>,
}

struct Recorder {
    streamed: Arc<Mutex<Vec<Chunk>>>,
    ended: Mutex<Sender<Ended>>,
    started: Mutex<Sender<i32>>,
}

impl Sink for Recorder {
    fn started(&self, pid: i32) {
        self.started.lock().unwrap().send(pid).unwrap();
    }
    fn output(&self, _: Label, chunks: Vec<Chunk>) {
        self.streamed.lock().unwrap().extend(chunks);
    }
    fn ended(&self, ended: Ended) {
        let _ = self.ended.lock().unwrap().send(ended);
    }
}

pub fn start(command: Command) -> LiveRun {
    start_for(command, &engine().owner())
}

pub fn start_for(command: Command, owner: &Arc<Owner>) -> LiveRun {
    let (ended, events) = channel();
    let (started, pids) = channel();
    let streamed = Arc::new(Mutex::new(Vec::new()));
    let recorder = Recorder {
        streamed: streamed.clone(),
        ended: Mutex::new(ended),
        started: Mutex::new(started),
    };
    let handle = engine().run(command, owner, Arc::new(recorder));
    LiveRun { handle, owner: owner.clone(), streamed, events, pids }
}

impl LiveRun {
    pub fn pid(&self) -> i32 {
        self.pids.recv_timeout(Duration::from_secs(30)).unwrap()
    }

    pub fn end(self) -> Ended {
        self.events.recv_timeout(Duration::from_secs(30)).unwrap()
    }

    pub fn outcome(self) -> Outcome {
        match self.end() {
            Ended::Ran(outcome) => *outcome,
            other => panic!("expected an outcome, got {other:?}"),
        }
    }
}

pub fn run(text: &str) -> Outcome {
    start(command(text)).outcome()
}

pub fn failure(command: Command) -> LaunchError {
    match start(command).end() {
        Ended::Failed(error) => error,
        other => panic!("expected a launch error, got {other:?}"),
    }
}

/// Ends all that the owner's commands have left running, and waits until it is gone.
pub fn dispose(owner: &Arc<Owner>) {
    let (done, disposed) = channel();
    engine().dispose(owner, Duration::from_secs(5), Box::new(move || done.send(()).unwrap()));
    disposed.recv_timeout(Duration::from_secs(10)).unwrap();
}

/// Returns the captured output; fails if anything was dropped.
pub fn complete(captured: &Captured<Text>) -> String {
    match &captured.kept {
        Parts::Complete(text) => text.to_string(),
        cut => panic!("expected complete output, got {cut:?}"),
    }
}

pub fn output(outcome: &Outcome) -> String {
    complete(outcome.captures.first().unwrap())
}

/// Returns the streamed output as one string.
pub fn streamed(chunks: &[Chunk]) -> String {
    let text = |chunk: &Chunk| match &chunk.data {
        Data::Text(text) => text.to_string(),
        Data::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    };
    chunks.iter().map(text).collect()
}

/// Returns whether a process with this id exists and is not a zombie.
pub fn lives(pid: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit(')').next().unwrap().trim_start().chars().next();
    state != Some('Z')
}
