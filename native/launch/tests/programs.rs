//! Programs that are started, and print what they have of their own and of their caller.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::process::Command;
use std::sync::OnceLock;

use forkline_launch::{
    Attributes, Failure, Image, Launch, Limit, Signals, Stack, Step, bounding_set, launch,
    launch_and_tell, limits,
};

/// Returns a shell that runs this script.
fn shell(script: &str) -> Image {
    let argv = ["sh", "-c", script].map(|word| CString::new(word).unwrap());
    Image { path: c"/bin/sh".to_owned(), argv: argv.into() }
}

fn null() -> BorrowedFd<'static> {
    static NULL: OnceLock<File> = OnceLock::new();
    NULL.get_or_init(|| File::options().read(true).write(true).open("/dev/null").unwrap()).as_fd()
}

/// Returns a launch of the first of these programs that exists.
fn request(images: &[Image]) -> Launch<'_> {
    Launch::plain(images, [null(); 3])
}

/// Waits for the end of a child. Returns whether there was one.
fn reap(pid: i32) -> bool {
    // SAFETY: takes numbers; the status is not asked for.
    unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::__WALL) > 0 }
}

/// Returns the output of a program.
fn printed(request: Launch) -> Result<String, Failure> {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let request = Launch { stdio: [null(), writer.as_fd(), writer.as_fd()], ..request };
    let pid = launch(&request, &mut Stack::new().unwrap())?;
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert!(reap(pid));
    Ok(text)
}

/// Returns the output of a script that runs with these attributes.
fn printed_with(script: &str, attributes: &Attributes) -> String {
    printed(Launch { attributes: Some(attributes), ..request(&[shell(script)]) }).unwrap()
}

/// Returns a field of `/proc/self/status` that is a hexadecimal number.
fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    u64::from_str_radix(line.trim_start_matches(':').trim(), 16).unwrap()
}

fn ignore(signal: i32) {
    // SAFETY: there is no handler.
    assert_ne!(unsafe { libc::signal(signal, libc::SIG_IGN) }, libc::SIG_ERR);
}

fn is_root() -> bool {
    // SAFETY: takes nothing.
    unsafe { libc::geteuid() == 0 }
}

// Signals that the caller ignores have their default dispositions in a program, the real-time ones too
// (Q14).
#[test]
fn a_program_does_not_ignore_the_signals_that_its_caller_ignores() {
    for signal in [libc::SIGPIPE, libc::SIGRTMIN(), 50, libc::SIGRTMAX()] {
        ignore(signal);
    }
    let status = printed(request(&[shell("exec cat /proc/self/status")])).unwrap();
    assert_eq!(field(&status, "SigIgn"), 0);
    assert_eq!(field(&status, "SigBlk"), 0);
}

#[test]
fn only_the_named_signals_are_reset() {
    ignore(libc::SIGUSR2);
    ignore(libc::SIGWINCH);
    let reset = Signals::of([libc::SIGUSR2]);
    let images = [shell("exec cat /proc/self/status")];
    let status = printed(Launch { reset, ..request(&images) }).unwrap();
    let ignored = field(&status, "SigIgn");
    assert_eq!(ignored >> (libc::SIGUSR2 - 1) & 1, 0, "{ignored:x}");
    assert_eq!(ignored >> (libc::SIGWINCH - 1) & 1, 1, "{ignored:x}");
}

// A program gets no capability outside its bounding set, and does not run if it would (Q14).
#[test]
fn a_program_gets_the_narrowed_bounding_set() {
    let all = bounding_set();
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    assert_eq!(all, field(&own, "CapBnd"));
    // CAP_CHOWN, and one in the middle.
    let bounding = Some(all & !(1 | 1 << 10));
    let attributes = Attributes { bounding, ..Default::default() };
    let images = [shell("exec cat /proc/self/status")];
    let told = printed(Launch { attributes: Some(&attributes), ..request(&images) });
    if is_root() {
        assert_eq!(field(&told.unwrap(), "CapBnd"), all & !(1 | 1 << 10));
    } else {
        assert!(matches!(told, Err(Failure { step: Step::Clone, .. })));
    }
}

#[test]
fn soft_and_hard_limit_are_not_mixed_up() {
    assert_eq!(limits().len(), 16);
    let limit = Limit { resource: libc::RLIMIT_NOFILE as i32, soft: 50, hard: 60 };
    let attributes = Attributes { limits: vec![limit], ..Default::default() };
    assert_eq!(printed_with("ulimit -Sn; ulimit -Hn", &attributes), "50\n60\n");
}

#[test]
fn a_umask_of_zero_is_applied() {
    let attributes = Attributes { mask: Some(0), ..Default::default() };
    assert_eq!(printed_with("umask", &attributes), "0000\n");
}

#[test]
fn a_score_has_all_its_digits() {
    for score in [1000, 907, 10] {
        let attributes = Attributes { oom_score: Some(score), ..Default::default() };
        let told = printed_with("cat /proc/self/oom_score_adj", &attributes);
        assert_eq!(told, format!("{score}\n"));
    }
}

#[test]
fn after_a_path_through_a_file_the_next_program_is_tried() {
    let through = Image { path: c"/etc/passwd/sh".to_owned(), ..shell("") };
    assert_eq!(printed(request(&[through, shell("echo next")])).unwrap(), "next\n");
}

#[test]
fn a_control_group_that_can_not_be_entered_is_a_failure_of_limits() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let images = [shell("echo never")];
    let groups = [Some(full.as_fd()), None];
    let Failure { step, error } = printed(Launch { groups, ..request(&images) }).unwrap_err();
    assert_eq!((step, error.raw_os_error()), (Step::Limits, Some(libc::ENOSPC)));
}

#[test]
fn entries_of_an_environment_are_passed_on() {
    let images = [shell("echo $A-$B")];
    let environment = b"A=1\0\0B=two words\0";
    let told = printed(Launch { environment, ..request(&images) });
    assert_eq!(told.unwrap(), "1-two words\n");
}

#[test]
fn a_program_has_a_process_id_in_another_proc() {
    let proc = File::open("/proc").unwrap();
    let images = [shell("exit")];
    let request = Launch { outer_proc: Some(proc.as_fd()), ..request(&images) };
    let launched = launch_and_tell(&request, &mut Stack::new().unwrap()).unwrap();
    assert!(reap(launched.pid));
    assert_eq!((launched.outer_pid, launched.share), (launched.pid, 0));
}

/// Runs one of this file's tests in a process of its own, without other tests' descriptors and children.
fn alone(name: &str, out: &File, err: &File) {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--include-ignored", "--nocapture", "--test-threads=1"])
        .env("FORKLINE_ALONE", "1")
        .stdout(out.try_clone().unwrap())
        .stderr(err.try_clone().unwrap())
        .status();
    assert!(status.unwrap().success());
}

fn is_alone() -> bool {
    std::env::var_os("FORKLINE_ALONE").is_some()
}

/// Returns a file without a name.
fn scratch(name: &CStr) -> File {
    // SAFETY: takes a name that ends with NUL.
    let file = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    assert!(file >= 0);
    // SAFETY: the descriptor was just made; nothing else owns it.
    File::from(unsafe { OwnedFd::from_raw_fd(file) })
}

fn contents(file: &File) -> String {
    std::fs::read_to_string(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap()
}

fn standard(number: i32) -> BorrowedFd<'static> {
    // SAFETY: no test closes these.
    unsafe { BorrowedFd::borrow_raw(number) }
}

#[test]
fn descriptors_in_each_others_place_are_exchanged() {
    let (out, err) = (scratch(c"out"), scratch(c"err"));
    alone("exchanging", &out, &err);
    assert!(contents(&out).contains("to stderr") && !contents(&out).contains("to stdout"));
    assert!(contents(&err).contains("to stdout") && !contents(&err).contains("to stderr"));
}

#[test]
#[ignore = "run by the test above"]
fn exchanging() {
    if !is_alone() {
        return;
    }
    let images = [shell("echo to stdout; echo to stderr >&2")];
    let request = Launch::plain(&images, [null(), standard(2), standard(1)]);
    // A free number must not be taken for keeping one of the descriptors in.
    // SAFETY: no test reads it.
    assert_eq!(unsafe { libc::close(0) }, 0);
    assert!(reap(launch(&request, &mut Stack::new().unwrap()).unwrap()));
}

#[test]
fn a_descriptor_in_its_place_already_is_not_closed_by_the_exec() {
    let (out, err) = (scratch(c"out"), scratch(c"err"));
    alone("staying", &out, &err);
    assert!(contents(&out).contains("it is there"), "{}", contents(&out));
}

#[test]
#[ignore = "run by the test above"]
fn staying() {
    if !is_alone() {
        return;
    }
    // SAFETY: takes numbers only.
    assert_eq!(unsafe { libc::fcntl(1, libc::F_SETFD, libc::FD_CLOEXEC) }, 0);
    let images = [shell("echo it is there")];
    let request = Launch::plain(&images, [null(), standard(1), standard(2)]);
    assert!(reap(launch(&request, &mut Stack::new().unwrap()).unwrap()));
}

#[test]
fn a_failed_launch_leaves_no_child() {
    let (out, err) = (scratch(c"out"), scratch(c"err"));
    alone("failing", &out, &err);
}

#[test]
#[ignore = "run by the test above"]
fn failing() {
    if !is_alone() {
        return;
    }
    let images = [Image { path: c"/no/such".to_owned(), ..shell("") }];
    let Failure { step, error } =
        launch(&request(&images), &mut Stack::new().unwrap()).unwrap_err();
    assert_eq!((step, error.raw_os_error()), (Step::Exec, Some(libc::ENOENT)));
    assert!(!reap(-1), "a child is left");
}
