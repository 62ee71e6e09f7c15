//! What someone has changed after a command's end is left as it is, and the rest is put back.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod support;

use std::fs;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use forkline_journal::{
    CallRefused, Changes, FileChange, JournalError, NodeKind, WhenFull, changes, revert,
};
use support::Scene;
use support::driver::Driver;
use support::operation::{Entry, Operation};
use support::picture::{differing, picture};

/// Longer than the clock of files takes.
const TICK: Duration = Duration::from_millis(30);

fn entry(path: &str) -> Entry {
    Entry::named(path)
}

/// Runs operations as a command, with its end.
fn command(scene: &Scene, id: &str, operations: &[Operation]) {
    let mut journal = scene.begin(id);
    let mut driver = Driver { root: &scene.root, journal: Some(&mut journal), is_killed: false };
    for operation in operations {
        driver.act(operation).unwrap();
    }
    journal.finish();
    sleep(TICK);
}

fn paths_of(changes: &Changes) -> Vec<PathBuf> {
    changes.list.iter().map(|change| change.path().clone()).collect()
}

fn scene() -> Scene {
    let scene = Scene::new();
    fs::create_dir(scene.path("d")).unwrap();
    for name in ["a", "b", "c", "d/a"] {
        fs::write(scene.path(name), name).unwrap();
    }
    sleep(TICK);
    scene
}

fn written(path: &str) -> Operation {
    Operation::Write(entry(path), 0, b"by the command".to_vec())
}

#[test]
fn an_edit_is_a_conflict() {
    let scene = scene();
    command(&scene, "1", &[written("a"), written("b"), Operation::Create(entry("d/b"), vec![])]);
    fs::write(scene.path("a"), "mine").unwrap();
    fs::write(scene.path("d/b"), "mine").unwrap();
    let reverted = revert(scene.store.as_fd(), &["1"], None).unwrap();
    let conflicts: Vec<_> = reverted.conflicts.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(conflicts, [scene.path("a"), scene.path("d/b")]);
    assert_eq!(reverted.reverted, [scene.path("b")]);
    assert_eq!(fs::read(scene.path("a")).unwrap(), b"mine");
    assert_eq!(fs::read(scene.path("d/b")).unwrap(), b"mine");
    assert_eq!(fs::read(scene.path("b")).unwrap(), b"b");
}

#[test]
fn what_was_removed_or_made_since_is_a_conflict() {
    let scene = scene();
    let operations =
        [written("a"), Operation::Unlink(entry("b")), Operation::Rename(entry("c"), entry("d/c"))];
    command(&scene, "1", &operations);
    fs::remove_file(scene.path("d/c")).unwrap();
    fs::write(scene.path("b"), "mine").unwrap();
    let reverted = revert(scene.store.as_fd(), &["1"], None).unwrap();
    let conflicts: Vec<_> = reverted.conflicts.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(conflicts, [scene.path("b"), scene.path("c")]);
    assert_eq!(fs::read(scene.path("a")).unwrap(), b"a");
    assert_eq!(fs::read(scene.path("b")).unwrap(), b"mine");
}

#[test]
fn a_new_directory_with_something_of_mine_stays() {
    for edit in ["make", "edit", "remove"] {
        let scene = scene();
        let operations = [
            Operation::Mkdir(entry("new")),
            Operation::Create(entry("new/a"), vec![1]),
            Operation::Create(entry("new/b"), vec![1]),
            Operation::Rename(entry("c"), entry("new/c")),
            written("a"),
        ];
        command(&scene, "1", &operations);
        match edit {
            "make" => fs::write(scene.path("new/mine"), "mine").unwrap(),
            "edit" => fs::write(scene.path("new/a"), "mine").unwrap(),
            _ => fs::remove_file(scene.path("new/a")).unwrap(),
        }
        let reverted = revert(scene.store.as_fd(), &["1"], None).unwrap();
        assert_eq!(reverted.conflicts.len(), 1, "{edit}: {reverted:?}");
        assert_eq!(reverted.conflicts.first().unwrap().0, scene.path("new"));
        assert_eq!(fs::read(scene.path("a")).unwrap(), b"a");
        assert_eq!(fs::read(scene.path("c")).unwrap(), b"c");
        assert!(scene.path("new/b").exists());
    }
}

#[test]
fn paths_choose_what_is_put_back_and_the_rest_can_follow() {
    let scene = scene();
    let before = picture(&scene.root);
    let operations = [
        written("a"),
        written("d/a"),
        Operation::Rename(entry("b"), entry("d/b")),
        Operation::Unlink(entry("c")),
        Operation::Mkdir(entry("new")),
        Operation::Create(entry("new/a"), vec![]),
    ];
    command(&scene, "1", &operations);
    let reverted = revert(scene.store.as_fd(), &["1"], Some(&[scene.path("d")])).unwrap();
    assert_eq!(reverted.conflicts, []);
    assert_eq!(fs::read(scene.path("b")).unwrap(), b"b");
    assert_eq!(fs::read(scene.path("d/a")).unwrap(), b"d/a");
    let left = changes(scene.store.as_fd(), &["1"]).unwrap();
    assert_eq!(paths_of(&left), [scene.path("a"), scene.path("c"), scene.path("new")]);
    assert!(!left.is_reverted);
    assert_eq!((left.created, left.changed, left.deleted, left.renamed), (1, 1, 1, 0));
    let reverted = revert(scene.store.as_fd(), &["1"], None).unwrap();
    assert_eq!(reverted.conflicts, []);
    assert_eq!(differing(&before, &picture(&scene.root)), Vec::<String>::new());
}

#[test]
fn several_journals_are_as_one() {
    let scene = scene();
    let before = picture(&scene.root);
    let first = [
        written("a"),
        Operation::Mkdir(entry("d/d")),
        Operation::Create(entry("d/d/a"), vec![1]),
        Operation::Create(entry("d/b"), vec![1]),
        Operation::Rename(entry("d"), entry("d2")),
    ];
    command(&scene, "1", &first);
    let second = [
        written("a"),
        written("d2/b"),
        written("d2/d/a"),
        Operation::Create(entry("d2/d/b"), vec![2]),
        Operation::Unlink(entry("b")),
        Operation::Rename(entry("c"), entry("d2/d/c")),
        Operation::Rename(entry("d2"), entry("b")),
    ];
    command(&scene, "2", &second);
    let both = changes(scene.store.as_fd(), &["1", "2"]).unwrap();
    let renamed = |from: &str, to: &str, kind| FileChange::Renamed {
        path: scene.path(to),
        from: scene.path(from),
        kind,
        is_changed: false,
    };
    assert!(both.list.contains(&renamed("d", "b", NodeKind::Directory)), "{both:?}");
    assert!(both.list.contains(&renamed("c", "b/d/c", NodeKind::File)), "{both:?}");
    let reverted = revert(scene.store.as_fd(), &["1", "2"], None).unwrap();
    assert_eq!(reverted.conflicts, []);
    assert_eq!(differing(&before, &picture(&scene.root)), Vec::<String>::new());
}

#[test]
fn what_is_too_much_is_told_as_lost_or_refused() {
    let scene = scene();
    fs::write(scene.path("b"), vec![7; 50_000]).unwrap();
    let mut journal = scene.begin_with("1", 20_000, WhenFull::GoOn);
    let mut driver = Driver { root: &scene.root, journal: Some(&mut journal), is_killed: false };
    driver.act(&written("a")).unwrap();
    driver.act(&Operation::Unlink(entry("b"))).unwrap();
    journal.finish();
    drop(journal);
    let found = changes(scene.store.as_fd(), &["1"]).unwrap();
    assert_eq!(found.unrevertable.first().unwrap().0, scene.path("b"));
    assert_eq!(paths_of(&found), [scene.path("a"), scene.path("b")]);
    let reverted = revert(scene.store.as_fd(), &["1"], None).unwrap();
    assert_eq!(reverted.lost.first().unwrap().0, scene.path("b"));
    assert_eq!(fs::read(scene.path("a")).unwrap(), b"a");

    fs::write(scene.path("b"), vec![7; 50_000]).unwrap();
    let mut journal = scene.begin_with("2", 20_000, WhenFull::Refuse);
    let file = fs::File::open(scene.path("b")).unwrap();
    assert_eq!(journal.before_content(file.as_fd(), &scene.path("b")), Err(CallRefused));
    assert_eq!(journal.before_content(file.as_fd(), &scene.path("b")), Err(CallRefused));
}

#[test]
fn a_journal_in_use_is_not_reverted() {
    let scene = scene();
    let mut journal = scene.begin("1");
    let refused = revert(scene.store.as_fd(), &["1"], None);
    assert!(matches!(refused, Err(JournalError::Busy(_))));
    let absent = changes(scene.store.as_fd(), &["2"]);
    assert!(matches!(absent, Err(JournalError::Absent(_))));
    journal.incomplete("a 32-bit program ran");
    journal.finish();
    let found = changes(scene.store.as_fd(), &["1"]).unwrap();
    assert_eq!(found.unseen, ["a 32-bit program ran"]);
    assert!(!found.is_complete && found.list.is_empty());
    assert_eq!(found.about, [("command".to_owned(), b"test".to_vec())]);
}

#[test]
fn what_is_as_before_is_no_change() {
    let scene = scene();
    let mut journal = scene.begin("1");
    let mut driver = Driver { root: &scene.root, journal: Some(&mut journal), is_killed: false };
    driver.act(&Operation::Write(entry("a"), 0, b"".to_vec())).unwrap();
    driver.act(&Operation::Create(entry("e"), vec![])).unwrap();
    driver.act(&Operation::Unlink(entry("e"))).unwrap();
    driver.act(&Operation::Rename(entry("b"), entry("e"))).unwrap();
    driver.act(&Operation::Rename(entry("e"), entry("b"))).unwrap();
    journal.finish();
    assert_eq!(changes(scene.store.as_fd(), &["1"]).unwrap().list, []);
}
