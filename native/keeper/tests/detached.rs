//! Detached commands through a real engine and the real keeper.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod scenes;

use std::ffi::CString;
use std::fs;
use std::io::{Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use forkline_engine::{Engine, Hearing, Step};
use forkline_launch::Image;
use forkline_protocol::{Detached, Request, VERSION, role};
use scenes::{
    eventually, is_gone, keeper_of, kill, open_files, scene, start_with, stat, wait_until_gone,
};

#[test]
fn stdout_stderr_and_the_line_go_to_a_private_file() {
    let scene = scene("echo out; echo err >&2; printf noeol");
    scene.start();
    assert_eq!(scene.ending(), "out\nerr\nnoeol\n\n[background process completed]\n");
    let mode = fs::metadata(scene.folder.path().join("output")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn the_line_tells_an_exit_status_or_a_signal() {
    let failing = scene("exit 3");
    failing.start();
    assert_eq!(failing.ending(), "\n\n[background process failed: exit status: 3]\n");
    let killed = scene("kill -9 $$");
    killed.start();
    assert_eq!(killed.ending(), "\n\n[background process failed: signal: 9 (SIGKILL)]\n");
}

#[test]
fn a_group_that_is_killed_from_outside_gets_its_line() {
    let scene = scene("sleep 300 & sleep 300");
    let pid = scene.start();
    kill(-pid, libc::SIGKILL);
    assert_eq!(scene.ending(), "\n\n[background process failed: signal: 9 (SIGKILL)]\n");
}

#[test]
fn signals_to_all_processes_do_not_end_the_keeper() {
    let mut scene = scene(
        "trap 'sleep 0.3; grep -E Sig...: /proc/self/status; exit 3' TERM; echo >on; sleep 300 & wait",
    );
    scene.command.timeout = Duration::from_secs(30);
    let pid = scene.start();
    scene.told("on");
    let keeper = keeper_of(pid);
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
        kill(keeper, signal);
    }
    kill(pid, libc::SIGTERM);
    let ending = scene.ending();
    assert!(ending.ends_with("\n\n[background process failed: exit status: 3]\n"), "{ending}");
    // Signals that the keeper blocks are delivered to the command's own programs.
    assert!(ending.contains("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000"), "{ending}");
    kill(-pid, libc::SIGKILL);
    wait_until_gone(keeper);
}

#[test]
fn a_command_that_moves_its_output_file_gets_its_line() {
    let scene = scene("echo first; python3 -c 'import fcntl; fcntl.fcntl(1, 4, 0)'; mv output log");
    scene.start();
    let ending = "first\n\n\n[background process completed]\n";
    eventually(|| (scene.told("log") + "\n" == ending).then_some(()));
}

#[test]
fn the_time_limit_ends_members_outside_the_group_too() {
    // A daemon that can be recognized only as a descendant, which a double fork would hide.
    let daemon = "(env -i setsid setsid sh -c 'echo $$ >daemon; exec sleep 300' >/dev/null 2>&1 &)";
    let mut scene =
        scene(&format!("{daemon}; setsid sleep 300 & echo $! >left; echo on; sleep 300"));
    scene.command.timeout = Duration::from_millis(1500);
    let pid = scene.start();
    let [daemon, left] = ["daemon", "left"].map(|name| scene.told(name).parse().unwrap());
    assert_eq!(scene.ending(), "on\n\n\n[background process timed out after 1.5s]\n");
    assert!([pid, daemon, left].into_iter().all(is_gone));
}

#[test]
fn a_detached_command_that_ignores_sigterm_is_killed() {
    let mut scene = scene("trap '' TERM; echo on; while :; do sleep 300; done");
    (scene.command.timeout, scene.command.grace) =
        (Duration::from_millis(500), Duration::from_millis(500));
    let pid = scene.start();
    assert_eq!(scene.ending(), "on\n\n\n[background process timed out after 0.5s]\n");
    assert!(is_gone(pid));
}

#[test]
fn orphans_that_end_all_the_time_do_not_delay_the_limit() {
    let mut scene = scene("while :; do (sleep 0 &); done");
    scene.command.timeout = Duration::from_millis(700);
    let pid = scene.start();
    assert_eq!(scene.ending(), "\n\n[background process timed out after 0.7s]\n");
    assert!(is_gone(pid));
}

#[test]
fn the_keeper_inherits_nothing_from_the_host() {
    let scene = scene("sleep 300; true");
    let pid = scene.start();
    let keeper = keeper_of(pid);
    let [_, parent, group, session] = stat(keeper).unwrap();
    let own = std::process::id().to_string();
    assert_ne!(parent, own);
    assert_eq!(group, session);
    let own_session = stat(std::process::id() as i32).unwrap()[3].clone();
    assert!(session != own_session && session != pid.to_string() && session != keeper.to_string());
    assert_eq!(fs::read_link(format!("/proc/{keeper}/cwd")).unwrap(), Path::new("/"));
    assert_eq!(fs::read(format!("/proc/{keeper}/environ")).unwrap(), b"");
    let folder = scene.folder.path().canonicalize().unwrap();
    // And the reserved space for the line and the record, and the directory, which is locked.
    let names = ["output", "output.room (deleted)", "output.state.3", "output.state.2"];
    let names: Vec<_> = names.map(|name| folder.join(name)).into_iter().chain([folder]).collect();
    // The request's memory file is closed just after the report of the start.
    eventually(|| {
        let (files, pipes_and_sockets) = open_files(keeper)?;
        (files == names && pipes_and_sockets.len() == 2).then_some(())
    });
    kill(-pid, libc::SIGKILL);
    wait_until_gone(keeper);
}

#[test]
fn the_text_is_in_no_arguments_and_the_mark_names_no_host() {
    let scene = scene("echo 'some secret text' >/dev/null; sleep 300; true");
    let pid = scene.start();
    for process in [pid, keeper_of(pid)] {
        let arguments = fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap();
        assert!(!arguments.contains("secret"), "{arguments}");
    }
    // The launch is over an instant before the kernel shows the new program's environment.
    eventually(|| {
        let environment = fs::read_to_string(format!("/proc/{pid}/environ")).unwrap();
        environment.contains("\0FORKLINE_MARK=detached-").then_some(())
    });
    kill(-pid, libc::SIGKILL);
    scene.ending();
}

#[test]
fn a_detached_command_is_a_session_leader_without_input() {
    let scene = scene("cat; cat </dev/tty; echo $$ $(cut -d' ' -f5,6 /proc/$$/stat)");
    let pid = scene.start();
    let ending = scene.ending();
    assert!(ending.contains("/dev/tty: No such device or address"), "{ending}");
    assert!(ending.contains(&format!("\n{pid} {pid} {pid}\n")), "{ending}");
}

#[test]
fn a_long_text_runs_too() {
    let scene = scene(&format!("x={}; echo ${{#x}}", "a".repeat(200_000)));
    scene.start();
    assert_eq!(scene.ending(), "200000\n\n\n[background process completed]\n");
}

#[test]
fn a_failed_start_names_its_step() {
    let mut nowhere = scene("true");
    nowhere.command.directory = Some(c"/no/such/place".into());
    let error = nowhere.failure();
    assert_eq!((error.step, error.errno), (Step::Directory, libc::ENOENT));
    assert_eq!(
        error.to_string(),
        "cannot enter directory '/no/such/place': No such file or directory"
    );

    let mut shells = scene("true");
    shells.command.shells = vec![c"/no/bash".into(), c"/no/sh".into()];
    let error = shells.failure();
    assert_eq!((error.step, error.errno), (Step::Exec, libc::ENOENT));
    assert_eq!(error.subject, "'/no/bash' or '/no/sh'");

    let taken = scene("true");
    fs::write(taken.folder.path().join("output"), "mine").unwrap();
    let error = taken.failure();
    assert_eq!((error.step, error.errno), (Step::Descriptors, libc::EEXIST));
    assert_eq!(error.to_string(), "cannot make the output file: File exists");
    assert_eq!(taken.output(), "mine");
}

#[test]
fn without_a_keeper_there_is_no_detached_command() {
    let lonely = Engine::start(None, Box::new(|| {}), Box::new(|_, _, _| {})).unwrap();
    let error = start_with(&lonely, scene("true").command).unwrap_err();
    assert_eq!((error.step, error.errno), (Step::Keeper, libc::ENOENT));
    assert_eq!(error.to_string(), "cannot start forkline-keeper: No such file or directory");

    // A program that prints nothing, and may have started other processes.
    let mute =
        Engine::start(Some("/bin/true".into()), Box::new(|| {}), Box::new(|_, _, _| {})).unwrap();
    let error = start_with(&mute, scene("true").command).unwrap_err();
    assert_eq!((error.step, error.errno), (Step::Lost, libc::ECONNABORTED));
}

#[test]
fn a_keeper_that_never_reports_is_ended() {
    let folder = std::env::temp_dir().join(format!("forkline-mute-{}", std::process::id()));
    std::fs::write(&folder, "#!/bin/sh\nexec sleep 567\n").unwrap();
    std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let hangs =
        Engine::start(Some(folder.clone()), Box::new(|| {}), Box::new(|_, _, _| {})).unwrap();
    let (sender, answers) = std::sync::mpsc::channel();
    let answer = Box::new(move |answer| sender.send(answer).unwrap());
    hangs.start_detached(scene("true").command, Box::new(|_| Hearing::Unheard), answer);
    let error = answers.recv_timeout(std::time::Duration::from_secs(90)).unwrap().unwrap_err();
    assert_eq!((error.step, error.errno), (Step::Lost, libc::ETIMEDOUT));
    std::fs::remove_file(&folder).unwrap();
}

/// The host dies between the launch of the keeper and its report.
#[test]
fn a_command_without_a_host_to_report_to_is_ended() {
    let scene = scene("sleep 300; true");
    let command = &scene.command;
    let argv = ["bash", "-c", "sleep 300; true"].map(|argument| CString::new(argument).unwrap());
    let request = Request {
        images: vec![Image { path: c"/bin/bash".into(), argv: argv.into() }],
        environment: [&command.environment[..], b"\0"].concat(),
        directory: command.directory.clone(),
        ..Request::default()
    };
    let detached = Detached {
        request,
        script: None,
        output: command.output.clone(),
        seated: false,
        input: command.input,
        line: command.line,
        quota: 1 << 30,
        timeout: command.timeout,
        grace: command.grace,
    };
    let mut order = tempfile::tempfile().unwrap();
    order.write_all(&detached.encode()).unwrap();
    order.rewind().unwrap();
    // A number other than 3, so that dup2 makes a descriptor that stays open at the exec: dup2 to the
    // same number changes nothing.
    // SAFETY: numbers only.
    let elsewhere = unsafe { libc::fcntl(order.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 10) };
    assert!(elsewhere >= 10);
    // SAFETY: the descriptor was just made; nothing else owns it.
    let order = unsafe { OwnedFd::from_raw_fd(elsewhere) };
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut keeper = Command::new(env!("CARGO_BIN_EXE_forkline-keeper"));
    keeper.args([role::DETACH, &VERSION.to_string()]).stdin(Stdio::null()).stdout(writer);
    let place = move || {
        // SAFETY: takes numbers only.
        if unsafe { libc::dup2(order.as_raw_fd(), 3) } < 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(())
    };
    // SAFETY: a plain system call, allowed between fork and exec.
    unsafe { keeper.pre_exec(place) };
    let mut launched = keeper.process_group(0).spawn().unwrap();
    assert!(launched.wait().unwrap().success());
    let group = launched.id().to_string();
    let processes = || {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
    };
    let keeps = |pid: i32| stat(pid).is_some_and(|[_, _, of, _]| of == group);
    eventually(|| (!processes().any(keeps)).then_some(()));
    assert!(fs::exists(scene.folder.path().join("output")).unwrap(), "it got as far as that");
    let folder = scene.folder.path().canonicalize().unwrap();
    let is_there = |pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder);
    assert!(!processes().any(is_there));
    assert_eq!(scene.output(), "");
}

#[test]
fn the_host_has_no_child_left_to_reap() {
    let scene = scene("true");
    scene.start();
    scene.ending();
    let own = std::process::id();
    let children = fs::read_dir(format!("/proc/{own}/task")).unwrap().flat_map(|task| {
        let list = fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default();
        list.split_ascii_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<i32>>()
    });
    let zombies: Vec<i32> =
        children.filter(|pid| stat(*pid).is_some_and(|[state, ..]| state == "Z")).collect();
    assert_eq!(zombies, [] as [i32; 0]);
}
