//! Reverts that are killed at any moment. One test: a child that is being started has the locks of others.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod support;

use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::time::Duration;

use forkline_journal::revert;
use proptest::prelude::*;
use support::Scene;
use support::operation::{any_operation, making};
use support::picture::{differing, picture};

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// A revert is killed, and done again.
    #[test]
    fn a_revert_goes_on_where_it_was_killed(
        tree in prop::collection::vec(making(), 5..25),
        command in prop::collection::vec(any_operation(), 10..30),
        delays in prop::collection::vec(0..6000_u64, 1..4),
    ) {
        let scene = Scene::new();
        scene.act(None, &tree);
        let before = picture(&scene.root);
        let mut journal = scene.begin("1");
        scene.act(Some(&mut journal), &command);
        journal.finish();
        drop(journal);
        for delay in delays {
            // This program again, which reverts in `revert_in_child` only.
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["revert_in_child", "--exact", "--include-ignored"])
                .env("JOURNAL_STORE", &scene.store_path)
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_micros(1500 + delay));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let reverted = revert(scene.store.as_fd(), &["1"], None).unwrap();
        prop_assert_eq!(&reverted.conflicts, &vec![]);
        let differing = differing(&before, &picture(&scene.root));
        prop_assert!(differing.is_empty(), "{}", differing.join("\n"));
    }
}

#[test]
#[ignore = "the child of another test"]
fn revert_in_child() {
    let Ok(store) = std::env::var("JOURNAL_STORE") else { return };
    let store = std::fs::File::open(store).unwrap();
    revert(store.as_fd(), &["1"], None).unwrap();
}
