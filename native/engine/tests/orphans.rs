//! A host to which orphans fall, in a process of its own: that can't be undone.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod support;

use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use support::run;

/// A child as Node starts them, with an exit code that somebody is going to ask for.
fn own_child(detached: bool) -> Child {
    let mut child = Command::new("/bin/sh");
    child.args(["-c", "exit 7"]);
    if detached {
        let leave = || rustix::process::setsid().map(drop).map_err(Into::into);
        // SAFETY: a plain system call, allowed between fork and exec.
        unsafe { child.pre_exec(leave) };
    }
    child.spawn().unwrap()
}

fn zombies() -> Vec<i32> {
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_zombie = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
        fields.next() == Some("Z") && fields.next() == Some(&own)
    };
    pids.filter(is_zombie).collect()
}

/// As in a container: there the host's session and group, which are its starter's, have no number.
#[test]
fn so_it_is_where_the_hosts_session_is_outside_of_its_pid_namespace() {
    let mut host = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        host.arg("-Ur");
    }
    host.args(["--pid", "--fork", "--mount-proc", "--kill-child"]);
    host.arg(std::env::current_exe().unwrap());
    host.args(["--exact", "orphans_are_reaped_and_the_hosts_own_children_are_not"]);
    let output = host.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn orphans_are_reaped_and_the_hosts_own_children_are_not() {
    // SAFETY: takes numbers only.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) }, 0);
    let mut own = [own_child(false), own_child(true)];
    for _ in 0..20 {
        run("(sleep 0.01 &)");
    }
    // Without a pipe; in a session of its own; an orphan that leaves one itself.
    run("(sleep 0.2 & setsid sleep 0.3 & (sleep 0.4 & sleep 0.5) &) >/dev/null 2>&1");

    let ours: Vec<i32> = own.iter().map(|child| child.id() as i32).collect();
    let until = Instant::now() + Duration::from_secs(10);
    std::thread::sleep(Duration::from_millis(700));
    while zombies().iter().any(|pid| !ours.contains(pid)) {
        assert!(Instant::now() < until, "{:?} are left, {ours:?} are ours", zombies());
        std::thread::sleep(Duration::from_millis(20));
    }
    for child in &mut own {
        assert_eq!(child.wait().unwrap().code(), Some(7));
    }
}
