//! The files of detached commands: how much of the disk they take, and who leaves them alone.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on fails")]

mod scenes;

use std::fs;
use std::process::Command;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use scenes::{eventually, keeper_of, kill, scene, wait_until_gone};

/// As systemd-tmpfiles does before it looks through a directory.
#[test]
fn its_directory_is_locked_against_cleaners_while_it_runs() {
    let scene = scene("sleep 300; true");
    let pid = scene.start();
    let keeper = keeper_of(pid);
    let directory = fs::File::open(scene.folder.path()).unwrap();
    let clean = || flock(&directory, FlockOperation::NonBlockingLockExclusive);
    assert_eq!(clean(), Err(Errno::WOULDBLOCK));
    kill(-pid, libc::SIGKILL);
    wait_until_gone(keeper);
    assert_eq!(clean(), Ok(()));
}

#[test]
fn an_endless_output_takes_no_more_disk_than_its_quota() {
    let mut scene = scene("head -c 300000000 /dev/zero; echo the end");
    scene.command.quota = 1_000_000;
    scene.start();
    let taken = || {
        let entries = fs::read_dir(scene.folder.path()).unwrap().flatten();
        let sizes = entries.filter_map(|entry| {
            let is_output = entry.file_name().to_str()? == "output"
                || entry.file_name().to_str()?.starts_with("output.last-");
            is_output.then(|| entry.metadata().ok().map_or(0, |metadata| metadata.len()))
        });
        sizes.sum::<u64>()
    };
    let mut most = 0;
    eventually(|| {
        most = most.max(taken());
        scene.output().contains("[background process ").then_some(())
    });
    // With the texts for people. A file that was removed while this looked counts as none.
    assert!(most <= 1_000_500, "{most}");
    let ending = scene.output();
    let (_, text) = ending.rsplit_once('\0').unwrap();
    let [_, _, _, _, _, cut, end, _] = text.split('\n').collect::<Vec<_>>()[..] else {
        panic!("{text}")
    };
    assert_eq!(end, "[background process completed]");
    let (words, command) = cut.strip_suffix(']').unwrap().rsplit_once(": ").unwrap();
    let shown = Command::new("sh").args(["-c", command]).output().unwrap().stdout;
    assert!(shown.ends_with(b"\0the end\n") && (400_000..=500_000).contains(&shown.len()));
    let left_out = 300_000_008 - 500_000 - shown.len();
    assert_eq!(
        words,
        format!(
            "[output cut after 500000 bytes, {left_out} bytes are left out here; the last {} bytes",
            shown.len()
        )
    );
}
