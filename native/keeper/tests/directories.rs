//! The directory of a command at its end, told by an engine that follows it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

mod support;

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forkline_engine::{Cause, Command, Directory, Outcome, Status, Step};
use support::{command, failure, output, start};

fn followed(text: &str, directory: &Path) -> Command {
    let directory = CString::new(directory.as_os_str().as_bytes()).unwrap();
    Command { follow: true, directory: Some(Directory::Path(directory)), ..command(text) }
}

fn follow(text: &str, directory: &Path) -> Outcome {
    start(followed(text, directory)).outcome()
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

#[test]
fn the_last_directory_is_told_however_the_shell_ends() {
    let (_folder, path) = folder();
    std::fs::create_dir(path.join("d")).unwrap();
    let texts = [
        ("cd d", Status::Exited(0)),
        ("cd d # go", Status::Exited(0)),
        ("cd d; exit 3", Status::Exited(3)),
        ("cd d; exec true", Status::Exited(0)),
        ("cd d; exec 0<&- 1>&- 2>&-", Status::Exited(0)),
        ("trap 'exit 4' EXIT; cd d", Status::Exited(4)),
        ("cd d; echo \"abc", Status::Exited(2)),
        ("cd d; set -e; false", Status::Exited(1)),
        ("cd d; kill -9 $$", Status::Signaled(9)),
        ("(sleep .2; cd /) & cd d", Status::Exited(0)),
    ];
    for (text, status) in texts {
        let outcome = follow(text, &path);
        // A syntax error keeps bash from running anything on that line.
        let expected = if text.contains("\"abc") { path.clone() } else { path.join("d") };
        assert_eq!(outcome.directory, Some(expected), "{text}");
        assert_eq!(outcome.status, status, "{text}");
    }
}

#[test]
fn a_directory_is_told_whatever_its_name_and_marked_when_it_is_gone() {
    let (_folder, path) = folder();
    let odd = path.join("-a\n'b\" \u{e9} ");
    std::fs::create_dir(&odd).unwrap();
    assert_eq!(follow("cd -- -*", &path).directory, Some(odd));
    let gone = follow("mkdir d; cd d; rmdir ../d", &path).directory;
    assert_eq!(gone, Some(path.join("d (deleted)")));
}

#[test]
fn a_command_that_is_ended_early_has_a_directory_too() {
    let (_folder, path) = folder();
    let mut timed = followed("cd /; sleep 300", &path);
    timed.timeout = Some(Duration::from_millis(300));
    let outcome = start(timed).outcome();
    assert_eq!(outcome.cause, Cause::TimedOut);
    assert_eq!(outcome.directory.as_deref(), Some(Path::new("/")));
}

#[test]
fn followed_commands_do_not_affect_each_other_or_the_host() {
    let (_folder, path) = folder();
    let here = std::env::current_dir().unwrap();
    let lives: Vec<_> = (0..20)
        .map(|number| {
            std::fs::create_dir(path.join(number.to_string())).unwrap();
            start(followed(&format!("cd {number}; umask 077; sleep .1"), &path))
        })
        .collect();
    for (number, live) in lives.into_iter().enumerate() {
        assert_eq!(live.outcome().directory, Some(path.join(number.to_string())));
    }
    assert_eq!(std::env::current_dir().unwrap(), here);
    let masks = follow("umask", &path);
    assert_ne!(output(&masks), "0077\n");
}

#[test]
fn a_followed_command_that_fails_to_launch_leaves_no_thread() {
    let (_folder, path) = folder();
    let error = failure(followed("true", &path.join("none")));
    assert_eq!(error.step, Step::Directory);
    let mut without_shell = followed("true", &path);
    without_shell.shells = vec![c"/no/such/shell".to_owned()];
    assert_eq!(failure(without_shell).step, Step::Exec);
    assert_eq!(follow("cd /", &path).directory, Some(PathBuf::from("/")));
    let holders = || {
        let threads = std::fs::read_dir("/proc/self/task").unwrap();
        let names = threads
            .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok());
        names.filter(|name| name == "forkline-hold\n").count()
    };
    // Other tests of this file hold their directories for as long as their commands run.
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while holders() > 0 {
        assert!(std::time::Instant::now() < deadline, "{} holders are left", holders());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn commands_that_are_not_followed_tell_no_directory() {
    assert_eq!(start(command("cd /")).outcome().directory, None);
}
