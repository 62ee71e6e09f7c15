//! Commands whose warden is killed at any moment, and journals with other bytes.

#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod support;

use std::fs::OpenOptions;
use std::os::fd::AsFd;

use forkline_journal::{changes, revert};
use proptest::prelude::*;
use support::Scene;
use support::driver::Driver;
use support::operation::{any_operation, making};
use support::picture::{differing, picture};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The last call was announced and not done, and its record is there in part.
    #[test]
    fn a_call_that_was_only_announced_is_none(
        tree in prop::collection::vec(making(), 0..25),
        command in prop::collection::vec(any_operation(), 1..20),
        last in any_operation(),
        cut in 0..200_u64,
    ) {
        let scene = Scene::new();
        scene.act(None, &tree);
        let before = picture(&scene.root);
        let mut journal = scene.begin("1");
        scene.act(Some(&mut journal), &command);
        let log = scene.store_path.join("1/log");
        let whole = log.metadata().unwrap().len();
        Driver { root: &scene.root, journal: Some(&mut journal), is_killed: true }.act(&last);
        drop(journal);
        let length = log.metadata().unwrap().len();
        let file = OpenOptions::new().write(true).open(&log).unwrap();
        file.set_len(length.saturating_sub(cut).max(whole)).unwrap();
        let reverted = revert(scene.store.as_fd(), &["1"], None).unwrap();
        prop_assert_eq!(&reverted.conflicts, &vec![]);
        prop_assert_eq!(&reverted.lost, &vec![]);
        let differing = differing(&before, &picture(&scene.root));
        prop_assert!(differing.is_empty(), "{}", differing.join("\n"));
    }

    /// Whatever is in the files of a journal, it is read or refused.
    #[test]
    fn any_bytes_can_be_read(
        command in prop::collection::vec(any_operation(), 1..20),
        changed in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        length in any::<prop::sample::Index>(),
    ) {
        let scene = Scene::new();
        let mut journal = scene.begin("1");
        scene.act(Some(&mut journal), &command);
        journal.finish();
        drop(journal);
        let log = scene.store_path.join("1/log");
        let mut bytes = std::fs::read(&log).unwrap();
        for (index, byte) in changed {
            *index.get_mut(&mut bytes) = byte;
        }
        bytes.truncate(length.index(bytes.len() + 1));
        std::fs::write(&log, bytes).unwrap();
        let _ = changes(scene.store.as_fd(), &["1"]);
        let _ = revert(scene.store.as_fd(), &["1"], None);
    }
}
