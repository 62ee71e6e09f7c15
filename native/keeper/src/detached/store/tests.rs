#![allow(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::fs;

use proptest::prelude::*;

use super::*;

/// Returns the bytes that a reader finds, each with its position.
fn readable(output: &Path) -> Vec<(u64, u8)> {
    let names = fs::read_dir(output.parent().unwrap()).unwrap();
    let names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let position = |name: &String, what: &str| {
        name.strip_prefix(&format!("output.{what}-")).map(|digits| digits.parse::<u64>().unwrap())
    };
    let mut bytes = fs::read(output).unwrap();
    if let Some(first) = names.iter().find_map(|name| position(name, "first")) {
        bytes.truncate(first as usize);
    }
    let mut found: Vec<(u64, u8)> = (0..).zip(bytes).collect();
    let mut pieces: Vec<u64> = names.iter().filter_map(|name| position(name, "last")).collect();
    pieces.sort_unstable();
    for start in pieces {
        let bytes = fs::read(beside(output, "last", start)).unwrap();
        let next = found.last().map_or(0, |(at, _)| at + 1);
        found.extend((start..).zip(bytes).filter(|(at, _)| *at >= next));
    }
    found
}

fn taken(output: &Path) -> u64 {
    readable(output).len() as u64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn the_first_and_the_last_bytes_are_kept_within_the_limit(
        limit in 0_u64..400,
        writes in proptest::collection::vec(0_usize..150, 0..40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("output");
        let mut store = Store::create(&path, limit, true).unwrap();
        let mut sent = Vec::new();
        for (index, length) in writes.iter().enumerate() {
            let bytes: Vec<u8> = (0..*length).map(|at| (index * 7 + at) as u8).collect();
            store.put(&bytes);
            sent.extend(bytes);
            prop_assert!(taken(&path) <= limit);
        }
        let found = readable(&path);
        let total = sent.len() as u64;
        prop_assert_eq!(store.kept(), found.len() as u64);
        prop_assert_eq!(store.cut(), total - store.kept());
        for (at, byte) in &found {
            prop_assert_eq!(*byte, sent[*at as usize]);
        }
        let whole = total <= limit;
        prop_assert_eq!(whole, store.cut() == 0);
        if total > limit && limit >= 10 {
            let Shares { first, piece, .. } = Shares::of(limit);
            let has = |at: u64| found.iter().any(|(found, _)| *found == at);
            prop_assert!((0..first).all(has));
            prop_assert!((total - 4 * piece..total).all(has));
        }
        let line = store.line();
        prop_assert_eq!(line.is_none(), total <= limit - limit / 10);
    }
}

#[test]
fn the_line_names_the_files_as_a_shell_takes_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a 'b'").join("output");
    fs::create_dir(path.parent().unwrap()).unwrap();
    let mut store = Store::create(&path, 100, true).unwrap();
    store.put(&[b'x'; 70]);
    store.put(&[b'y'; 70]);
    let line = store.line().unwrap();
    let (_, command) = line.strip_suffix(']').unwrap().split_once("bytes: ").unwrap();
    let shown = std::process::Command::new("sh").args(["-c", command]).output().unwrap();
    assert_eq!(shown.stdout, [b'y'; 50]);
}

#[test]
fn text_for_people_is_a_part_of_an_output_that_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("output");
    let mut store = Store::create(&path, 20, true).unwrap();
    store.put(b"0123456789");
    store.append("\nline\n").unwrap();
    store.put(b"abcdefgh");
    assert_eq!((store.kept(), store.cut(), store.line()), (24, 0, None));
    store.put(b"ijklmnopqrstuvwxyz");
    assert!(store.kept() <= 26);
    assert_eq!(store.kept() + store.cut(), 42);
}
