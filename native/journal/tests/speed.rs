//! How long calls wait for a journal, and how long lists take: figures, and limits that only what hangs exceeds.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod support;

use std::ffi::CString;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use forkline_journal::{Fate, NameAt, changes, revert};
use support::Scene;

#[test]
fn a_thousand_changes_are_noted_listed_and_put_back_at_once() {
    let scene = Scene::new();
    let name = |index: usize| CString::new(format!("file-{index}")).unwrap();
    for index in 0..1000 {
        let path = scene.root.join(format!("file-{index}"));
        std::fs::write(path, format!("content {index}").repeat(100)).unwrap();
    }
    let directory = std::fs::File::open(&scene.root).unwrap();
    let mut journal = scene.begin("1");
    let (mut first, mut again) = (Duration::ZERO, Duration::ZERO);
    for index in 0..1000 {
        let name = name(index);
        let at = NameAt { directory: directory.as_fd(), name: &name, above: &scene.root };
        let start = Instant::now();
        journal.before_name(&at, Fate::Gone).unwrap();
        first += start.elapsed();
        let start = Instant::now();
        journal.before_name(&at, Fate::Gone).unwrap();
        again += start.elapsed();
        std::fs::remove_file(scene.root.join(format!("file-{index}"))).unwrap();
    }
    let start = Instant::now();
    journal.finish();
    let finished = start.elapsed();
    drop(journal);
    let start = Instant::now();
    let found = changes(scene.store.as_fd(), &["1"]).unwrap();
    let listed = start.elapsed();
    assert_eq!(found.deleted, 1000);
    let start = Instant::now();
    assert_eq!(revert(scene.store.as_fd(), &["1"], None).unwrap().reverted.len(), 1000);
    let reverted = start.elapsed();
    println!("first {:?}, again {:?} for each", first / 1000, again / 1000);
    println!("finish {finished:?}, list {listed:?}, revert {reverted:?}");
    assert!(listed < Duration::from_secs(5) && reverted < Duration::from_secs(30));
}
