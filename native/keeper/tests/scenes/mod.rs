//! Starts detached commands through a real engine, and waits for their results.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::ffi::CString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use forkline_engine::{DetachedCommand, Engine, Hearing, LaunchError, Priority};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(30);

pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    let keeper = PathBuf::from(env!("CARGO_BIN_EXE_forkline-keeper"));
    ENGINE.get_or_init(|| {
        Engine::start(Some(keeper), Box::new(|| {}), Box::new(|_, _, _| {})).unwrap()
    })
}

/// A command and the folder of its output.
pub struct OutputScene {
    pub folder: TempDir,
    pub command: DetachedCommand,
}

pub fn scene(text: &str) -> OutputScene {
    let folder = tempfile::tempdir().unwrap();
    let path = |path: PathBuf| CString::new(path.to_str().unwrap()).unwrap();
    let command = DetachedCommand {
        text: text.into(),
        shells: Vec::new(),
        environment: format!("PATH={}", std::env::var("PATH").unwrap()).into_bytes(),
        directory: Some(path(folder.path().to_owned())),
        output: path(folder.path().join("output")),
        sandbox: None,
        input: false,
        terminal: None,
        line: true,
        priority: Priority::Normal,
        starts_at_once: None,
        umask: None,
        quota: 1 << 30,
        timeout: Duration::from_secs(60),
        grace: Duration::from_secs(5),
    };
    OutputScene { folder, command }
}

impl OutputScene {
    pub fn start(&self) -> i32 {
        start_with(engine(), self.command.clone()).unwrap()
    }

    pub fn failure(&self) -> LaunchError {
        start_with(engine(), self.command.clone()).unwrap_err()
    }

    pub fn output(&self) -> String {
        fs::read_to_string(self.folder.path().join("output")).unwrap_or_default()
    }

    /// Returns the output, once the completion line is there.
    pub fn ending(&self) -> String {
        eventually(|| Some(self.output()).filter(|text| text.contains("[background process ")))
    }

    /// Returns the contents of a file that the command writes, once they are there.
    pub fn told(&self, name: &str) -> String {
        let path = self.folder.path().join(name);
        eventually(|| fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n')))
            .trim_end()
            .to_owned()
    }
}

pub fn start_with(engine: &Engine, command: DetachedCommand) -> Result<i32, LaunchError> {
    let (sender, answers) = channel();
    let answer = Box::new(move |answer| sender.send(answer).unwrap());
    engine.start_detached(command, Box::new(|_| Hearing::Unheard), answer);
    answers.recv_timeout(PATIENCE).unwrap()
}

pub fn eventually<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(Instant::now() < until, "it never came about");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns state, parent, group and session of a process, as the kernel shows them.
pub fn stat(pid: i32) -> Option<[String; 4]> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = line.rsplit(')').next()?.split_ascii_whitespace().map(str::to_owned);
    Some([fields.next()?, fields.next()?, fields.next()?, fields.next()?])
}

pub fn is_gone(pid: i32) -> bool {
    stat(pid).is_none_or(|[state, ..]| state == "Z" || state == "X")
}

pub fn wait_until_gone(pid: i32) {
    eventually(|| is_gone(pid).then_some(()));
}

pub fn kill(target: i32, signal: i32) {
    // SAFETY: takes numbers only.
    assert_eq!(unsafe { libc::kill(target, signal) }, 0);
}

pub fn keeper_of(pid: i32) -> i32 {
    stat(pid).unwrap()[1].parse().unwrap()
}

/// Returns a process's open files, but for `/dev/null`, and its sockets; nothing if one was closed
/// while this looked.
pub fn open_files(pid: i32) -> Option<(Vec<PathBuf>, Vec<PathBuf>)> {
    let mut open = Vec::new();
    for entry in fs::read_dir(format!("/proc/{pid}/fd")).ok()? {
        open.push(fs::read_link(entry.ok()?.path()).ok()?);
    }
    open.retain(|target| target != Path::new("/dev/null"));
    Some(open.into_iter().partition(|path| path.is_absolute()))
}
