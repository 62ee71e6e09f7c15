//! The host's directory, held when a command is asked for. This is one test, since all threads share the
//! directory.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

mod support;

use std::env::set_current_dir;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use forkline_engine::{Command, Directory, HostDirectory};
use support::{command, output, start};

fn held(directory: Option<Directory>) -> Arc<OwnedFd> {
    match directory {
        Some(Directory::Held(descriptor)) => descriptor,
        other => panic!("expected a descriptor, got {other:?}"),
    }
}

fn pwd_in(directory: Option<Directory>) -> String {
    output(&start(Command { directory, ..command("pwd -P") }).outcome())
}

#[test]
fn h2_a_command_starts_where_the_host_was_when_it_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let [a, b] = [path.join("a"), path.join("b")];
    std::fs::create_dir(&a).unwrap();
    std::fs::create_dir(&b).unwrap();
    let mut host = HostDirectory::default();
    set_current_dir(&a).unwrap();
    let first = host.hold().unwrap();
    let second = host.hold().unwrap();
    set_current_dir(&b).unwrap();
    let third = host.hold().unwrap();
    std::fs::rename(&a, path.join("c")).unwrap();
    assert_eq!(pwd_in(first.clone()), format!("{}\n", path.join("c").display()));
    assert_eq!(pwd_in(third.clone()), format!("{}\n", b.display()));
    // Several commands asked for in one directory share one descriptor.
    assert!(Arc::ptr_eq(&held(first), &held(second)));
    let third = held(third);
    assert!(Arc::ptr_eq(&third, &held(host.hold().unwrap())));
    drop(third);
    // A removed directory can be held as well.
    std::fs::remove_dir(&b).unwrap();
    let there = command("stat -c %h . 2>/dev/null");
    let live = start(Command { directory: host.hold().unwrap(), ..there });
    assert!(output(&live.outcome()).ends_with("0\n"));
    set_current_dir("/").unwrap();
}
