//! Every step of a launch that can fail, made to fail: the step, and the errno.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod support;

use std::ffi::CString;
use std::os::unix::fs::PermissionsExt;
use std::process::Command as StdCommand;

use forkline_engine::{Directory, Step};
use support::{command, failure, output, run, start};

fn in_directory(path: &str) -> (Step, i32, String) {
    let mut command = command("true");
    command.directory = Some(Directory::Path(CString::new(path).unwrap()));
    let error = failure(command);
    (error.step, error.errno, error.to_string())
}

#[test]
fn a_missing_directory_or_a_file_is_told_from_a_missing_shell() {
    let (step, errno, text) = in_directory("/no/such/place");
    assert_eq!((step, errno), (Step::Directory, libc::ENOENT));
    assert_eq!(text, "cannot enter directory '/no/such/place': No such file or directory");
    let (step, errno, _) = in_directory("/etc/passwd");
    assert_eq!((step, errno), (Step::Directory, libc::ENOTDIR));
}

#[test]
fn shells_are_tried_in_order_and_all_are_named_when_none_exists() {
    let mut missing = command("echo $BASH_VERSION");
    missing.shells = ["/no/bash", "/none/sh"].map(|path| CString::new(path).unwrap()).into();
    let error = failure(missing.clone());
    assert_eq!((error.step, error.errno), (Step::Exec, libc::ENOENT));
    assert_eq!(error.subject, "'/no/bash' or '/none/sh'");

    missing.shells.push(CString::new("/bin/bash").unwrap());
    assert_ne!(output(&start(missing).outcome()), "\n");
}

#[test]
fn after_a_shell_that_is_not_executable_no_other_is_tried() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::set_permissions(file.path(), PermissionsExt::from_mode(0o644)).unwrap();
    let path = CString::new(file.path().to_str().unwrap()).unwrap();
    let mut closed = command("true");
    closed.shells = vec![path, CString::new("/bin/bash").unwrap()];
    let error = failure(closed);
    assert_eq!((error.step, error.errno), (Step::Exec, libc::EACCES));
}

#[test]
fn a_file_that_is_no_program_is_not_run() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), [0u8; 16]).unwrap();
    std::fs::set_permissions(file.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let path = file.into_temp_path();
    let mut broken = command("true");
    broken.shells = vec![CString::new(path.to_str().unwrap()).unwrap()];
    let error = failure(broken);
    assert_eq!((error.step, error.errno), (Step::Exec, libc::ENOEXEC));
}

#[test]
fn a_variable_that_is_too_long_is_named() {
    let mut long = command("true");
    long.environment = format!("PATH=/bin\0BIG={}", "x".repeat(131_072)).into_bytes();
    let error = failure(long);
    assert_eq!((error.step, error.errno), (Step::Exec, libc::E2BIG));
    assert!(error.subject.contains("environment variable BIG"), "{}", error.subject);
}

#[test]
fn an_environment_that_is_too_long_in_all_is_told_by_its_size() {
    let mut long = command("true");
    let entries: Vec<_> = (0..80).map(|n| format!("V{n}={}", "x".repeat(100_000))).collect();
    long.environment = entries.join("\0").into_bytes();
    let error = failure(long);
    assert_eq!((error.step, error.errno), (Step::Exec, libc::E2BIG));
    assert!(error.subject.contains("an environment of 8000"), "{}", error.subject);
}

/// Runs test `name` of this program as another user, since limits do not bind root.
fn rerun_limited(name: &str, limit: &str) -> bool {
    // The program must be readable by that user, wherever the checkout is.
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let program = folder.path().join("tests");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let as_user: &[&str] = if is_root() { &user } else { &[] };
    StdCommand::new("env")
        .args(as_user)
        .args(["prlimit", limit])
        .arg(&program)
        .args(["--exact", name, "--nocapture"])
        .env("FORKLINE_LIMITED", name)
        .current_dir("/")
        .status()
        .unwrap()
        .success()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn is_limited(name: &str) -> bool {
    std::env::var("FORKLINE_LIMITED").is_ok_and(|limited| limited == name)
}

#[test]
fn without_processes_one_call_fails_and_the_next_works() {
    let name = "without_processes_one_call_fails_and_the_next_works";
    if !is_limited(name) {
        return assert!(rerun_limited(name, "--nproc=4096"));
    }
    run("true");
    let (was, ceiling) = limits(rustix::process::Resource::Nproc);
    set_limit(rustix::process::Resource::Nproc, 1, ceiling);
    let error = failure(command("true"));
    assert_eq!((error.step, error.errno), (Step::Clone, libc::EAGAIN));
    set_limit(rustix::process::Resource::Nproc, was, ceiling);
    assert_eq!(output(&run("echo again")), "again\n");
}

#[test]
fn without_descriptors_one_call_fails_and_the_next_works() {
    let name = "without_descriptors_one_call_fails_and_the_next_works";
    if !is_limited(name) {
        return assert!(rerun_limited(name, "--nofile=64"));
    }
    run("true");
    let mut hoard = Vec::new();
    while let Ok(file) = std::fs::File::open("/dev/null") {
        hoard.push(file);
    }
    let error = failure(command("true"));
    assert_eq!((error.step, error.errno), (Step::Descriptors, libc::EMFILE));
    // Enough for a pipe and the directory: the cradle exists already.
    hoard.truncate(hoard.len() - 3);
    assert_eq!(output(&run("echo enough")), "enough\n");
    drop(hoard);
    assert_eq!(output(&run("echo again")), "again\n");
}

fn limits(resource: rustix::process::Resource) -> (u64, u64) {
    let limit = rustix::process::getrlimit(resource);
    (limit.current.unwrap_or(u64::MAX), limit.maximum.unwrap_or(u64::MAX))
}

fn set_limit(resource: rustix::process::Resource, current: u64, maximum: u64) {
    let limit = rustix::process::Rlimit { current: Some(current), maximum: Some(maximum) };
    rustix::process::setrlimit(resource, limit).unwrap();
}
