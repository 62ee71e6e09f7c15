//! Operations on trees, at random.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use proptest::prelude::*;

/// Names that are hit often, and odd ones.
const NAMES: [&[u8]; 7] = [b"a", b"b", b"c", b"d", b"line\nbreak", b"\xff\xfe", b" * $(x)"];

/// The path of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    Numbered(Vec<usize>, bool),
    Named(PathBuf),
}

impl Entry {
    pub fn named(path: &str) -> Entry {
        Entry::Named(path.into())
    }

    pub fn path(&self) -> PathBuf {
        let (numbers, is_beside) = match self {
            Entry::Named(path) => return path.clone(),
            Entry::Numbered(numbers, is_beside) => (numbers, *is_beside),
        };
        let name = |index: &usize| NAMES[index % NAMES.len()];
        let mut path: PathBuf =
            numbers.iter().map(|index| OsStr::from_bytes(name(index))).collect();
        if is_beside {
            path.as_mut_os_string().push(".tmp");
        }
        path
    }

    pub fn beside(&self) -> Entry {
        match self {
            Entry::Numbered(numbers, _) => Entry::Numbered(numbers.clone(), true),
            Entry::Named(path) => Entry::Named(path.with_extension("tmp")),
        }
    }
}

#[derive(Debug, Clone)]
pub enum Operation {
    Create(Entry, Vec<u8>),
    Write(Entry, u64, Vec<u8>),
    Truncate(Entry, u64),
    Unlink(Entry),
    Rmdir(Entry),
    Rename(Entry, Entry),
    Exchange(Entry, Entry),
    Replace(Entry, Vec<u8>),
    Link(Entry, Entry),
    Symlink(Entry, String),
    Mkdir(Entry),
    Mkfifo(Entry),
    Chmod(Entry, u32),
    Utimes(Entry, i64),
    Attribute(Entry, u8, Option<Vec<u8>>),
}

fn entry() -> impl Strategy<Value = Entry> {
    let index = prop_oneof![8 => 0..4_usize, 1 => 4..7_usize];
    let depth = prop_oneof![3 => 1..2_usize, 4 => 2..3_usize, 2 => 3..4_usize];
    depth
        .prop_flat_map(move |depth| prop::collection::vec(index.clone(), depth))
        .prop_map(|names| Entry::Numbered(names, false))
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let some = prop::collection::vec(any::<u8>(), 0..40);
    let many = (any::<u8>(), 4000..20_000_usize).prop_map(|(byte, count)| vec![byte; count]);
    prop_oneof![6 => some, 1 => many]
}

/// Operations that make things.
pub fn making() -> impl Strategy<Value = Operation> {
    let at = prop_oneof![4 => 0..100_u64, 1 => 100_000..300_000_u64];
    prop_oneof![
        6 => entry().prop_map(Operation::Mkdir),
        6 => (entry(), bytes()).prop_map(|(path, bytes)| Operation::Create(path, bytes)),
        2 => (entry(), at, bytes()).prop_map(|(path, at, bytes)| Operation::Write(path, at, bytes)),
        3 => (entry(), entry()).prop_map(|(from, to)| Operation::Link(from, to)),
        1 => (entry(), "[a-d]/?[a-d]").prop_map(|(path, target)| Operation::Symlink(path, target)),
        1 => entry().prop_map(Operation::Mkfifo),
        1 => (entry(), 0..2_000_000_000_i64).prop_map(|(path, time)| Operation::Utimes(path, time)),
        1 => (entry(), 0..3_u8, prop::option::of(bytes_of_attribute()))
            .prop_map(|(path, name, value)| Operation::Attribute(path, name, value)),
        1 => (entry(), mode()).prop_map(|(path, mode)| Operation::Chmod(path, mode)),
    ]
}

/// All operations.
pub fn any_operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        5 => making(),
        1 => (entry(), 0..200_000_u64).prop_map(|(path, length)| Operation::Truncate(path, length)),
        2 => entry().prop_map(Operation::Unlink),
        2 => entry().prop_map(Operation::Rmdir),
        4 => (entry(), entry()).prop_map(|(from, to)| Operation::Rename(from, to)),
        1 => (entry(), entry()).prop_map(|(from, to)| Operation::Exchange(from, to)),
        2 => (entry(), bytes()).prop_map(|(path, bytes)| Operation::Replace(path, bytes)),
    ]
}

fn bytes_of_attribute() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..20)
}

fn mode() -> impl Strategy<Value = u32> {
    prop::sample::select(vec![0o755, 0o644, 0o600, 0o700, 0o500, 0o000, 0o4755, 0o444, 0o1777])
}
