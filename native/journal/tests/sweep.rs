//! Old journals go, and none that is in use.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod support;

use std::fs::{self, File};
use std::os::fd::AsFd;
use std::time::{Duration, SystemTime};

use forkline_journal::{StoreBounds, sweep};
use support::Scene;

const WIDE: StoreBounds =
    StoreBounds { count: 100, bytes: 1 << 30, age: Duration::from_secs(3600) };

/// Makes journals that have ended, the first is the oldest.
fn scene_with(ids: &[&str]) -> Scene {
    let scene = Scene::new();
    for (index, id) in ids.iter().enumerate() {
        drop(scene.begin(id));
        let at = SystemTime::now() - Duration::from_secs(60 * (ids.len() - index) as u64);
        for file in ["log", "pack", "about"] {
            File::open(scene.store_path.join(id).join(file)).unwrap().set_modified(at).unwrap();
        }
    }
    scene
}

fn left(scene: &Scene) -> Vec<String> {
    let entries = fs::read_dir(&scene.store_path).unwrap();
    let mut left: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    left
}

const IDS: [&str; 3] = ["0000000000000001", "0000000000000002", "0000000000000003"];

#[test]
fn within_the_bounds_all_stay() {
    let scene = scene_with(&IDS);
    assert_eq!(sweep(scene.store.as_fd(), &WIDE).unwrap(), 0);
    assert_eq!(left(&scene), IDS);
}

#[test]
fn the_oldest_go_that_are_too_many_or_too_old() {
    let scene = scene_with(&IDS);
    assert_eq!(sweep(scene.store.as_fd(), &StoreBounds { count: 2, ..WIDE }).unwrap(), 1);
    assert_eq!(left(&scene), IDS[1..]);
    let young = StoreBounds { age: Duration::from_secs(90), ..WIDE };
    assert_eq!(sweep(scene.store.as_fd(), &young).unwrap(), 1);
    assert_eq!(left(&scene), IDS[2..]);
}

#[test]
fn large_ones_go_before_smaller_ones_that_are_newer() {
    let scene = scene_with(&IDS);
    fs::write(scene.store_path.join(IDS[1]).join("content-0"), vec![1; 1 << 20]).unwrap();
    let small = StoreBounds { bytes: 1 << 19, ..WIDE };
    let newest = File::open(scene.store_path.join(IDS[2]).join("log")).unwrap();
    newest.set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    assert_eq!(sweep(scene.store.as_fd(), &small).unwrap(), 1);
    assert_eq!(left(&scene), [IDS[0], IDS[2]]);
}

#[test]
fn none_goes_that_is_written_and_nothing_else() {
    let scene = scene_with(&IDS[..2]);
    let journal = scene.begin(IDS[2]);
    fs::write(scene.store_path.join("0123"), "").unwrap();
    fs::create_dir(scene.store_path.join("else")).unwrap();
    assert_eq!(sweep(scene.store.as_fd(), &StoreBounds { count: 0, ..WIDE }).unwrap(), 2);
    assert_eq!(left(&scene), [IDS[2], "0123", "else"]);
    drop(journal);
    assert_eq!(sweep(scene.store.as_fd(), &StoreBounds { count: 0, ..WIDE }).unwrap(), 1);
    assert_eq!(left(&scene), ["0123", "else"]);
}

#[test]
fn none_goes_that_is_just_being_begun() {
    let scene = scene_with(&IDS[..1]);
    fs::create_dir(scene.store_path.join(IDS[1])).unwrap();
    let young = StoreBounds { age: Duration::from_secs(3600), ..WIDE };
    sweep(scene.store.as_fd(), &young).unwrap();
    assert!(left(&scene).contains(&IDS[1].to_owned()));
}
