//! Whatever a command does to whatever tree is put back, bit for bit.

mod support;

use std::os::fd::AsFd;

use forkline_journal::{changes, revert};
use proptest::prelude::*;
use support::Scene;
use support::operation::{any_operation, making};
use support::picture::{differing, picture};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn is_put_back(
        tree in prop::collection::vec(making(), 0..25),
        command in prop::collection::vec(any_operation(), 1..30),
        is_finished: bool,
    ) {
        let scene = Scene::new();
        scene.act(None, &tree);
        let before = picture(&scene.root);
        let mut journal = scene.begin("1");
        scene.act(Some(&mut journal), &command);
        if is_finished {
            journal.finish();
        }
        drop(journal);
        let reverted = revert(scene.store.as_fd(), &["1"], None).unwrap();
        prop_assert_eq!(&reverted.conflicts, &vec![]);
        // An ordinary user may not read all that it may remove.
        if !rustix::process::geteuid().is_root() && !reverted.lost.is_empty() {
            return Ok(());
        }
        prop_assert_eq!(&reverted.lost, &vec![]);
        let now = picture(&scene.root);
        let differing = differing(&before, &now);
        prop_assert!(differing.is_empty(), "{}", differing.join("\n"));
        let left = changes(scene.store.as_fd(), &["1"]).unwrap();
        prop_assert_eq!(left.list, vec![]);
        prop_assert!(left.is_complete && left.is_reverted);
    }
}
