use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::*;
use crate::sandbox::plan::Plan;

/// A plan with one cache of the user's and one of the workspace's own, with its layers in a folder.
fn plan_in(folder: &Path, most_bytes: u64) -> (Plan, PathBuf) {
    let directory = folder.join("caches/0123456789abcdef");
    fs::create_dir_all(&directory).unwrap();
    let mut plan = Plan::default();
    plan.caches.directory = Some(directory.clone());
    plan.caches.workspace = Some(folder.to_owned());
    plan.caches.most_bytes = most_bytes;
    plan.caches.layers = vec![("/c".into(), "c".into())];
    plan.caches.voids = vec![("v".into(), "/v".into())];
    (plan, directory)
}

#[test]
fn nothing_is_removed_under_a_sandbox_that_has_no_layers() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, directory) = plan_in(folder.path(), 0);
    let mut all: Vec<Layers> = (0..5).map(|_| prepare(&plan).unwrap()).collect();
    let fifth = all.pop().unwrap();
    assert_eq!(fifth.own(), None);
    let file = directory.join("voids/v/file");
    fs::write(&file, "x").unwrap();
    for one in all {
        sweep(&one, &plan);
    }
    assert!(file.exists());
    sweep(&fifth, &plan);
    assert!(!file.exists());
}

#[test]
fn layers_of_a_directory_go_when_another_one_is_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, _) = plan_in(folder.path(), u64::MAX);
    let workspace = folder.path().join("workspace");
    fs::create_dir(&workspace).unwrap();
    let (mut other, _) = plan_in(folder.path(), u64::MAX);
    let directory = folder.path().join("caches/fedcba9876543210");
    fs::create_dir(&directory).unwrap();
    other.caches.directory = Some(directory.clone());
    other.caches.workspace = Some(workspace.clone());
    drop(prepare(&other).unwrap());
    sweep(&prepare(&plan).unwrap(), &plan);
    assert!(directory.exists());
    fs::rename(&workspace, folder.path().join("before")).unwrap();
    fs::create_dir(&workspace).unwrap();
    sweep(&prepare(&plan).unwrap(), &plan);
    assert!(!directory.exists());
}

#[test]
fn what_was_written_last_is_above() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, directory) = plan_in(folder.path(), u64::MAX);
    let [first, second] = [(), ()].map(|()| prepare(&plan).unwrap());
    assert_eq!([first.own(), second.own()], [Some(0), Some(1)]);
    for slot in ["0", "1"] {
        fs::write(directory.join(slot).join("c/upper/file"), slot).unwrap();
        thread::sleep(Duration::from_millis(20));
    }
    // The end says nothing.
    for one in [second, first] {
        sweep(&one, &plan);
    }
    let third = prepare(&plan).unwrap();
    assert_eq!((third.own(), third.others().collect::<Vec<_>>()), (Some(1), vec![0, 2, 3]));
    // The older ones would cover what the third sandbox has.
    let fourth = prepare(&plan).unwrap();
    assert_eq!((fourth.own(), fourth.others().collect::<Vec<_>>()), (Some(2), vec![1, 0, 3]));
}
