use super::*;

fn change<'a>(path: &'a str, content: &'a [u8], keys: &'a [String]) -> HeldChange<'a> {
    let kind = HeldKind::File;
    HeldChange { path: Path::new(path), kind, keys, mode: 0o100644, content, before: None }
}

#[test]
fn the_same_change_is_held_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = HeldStore::open(folder.path(), Path::new("/w")).unwrap();
    let keys = ["core.fsmonitor".to_owned()];
    let first = store.hold(&change("/w/.git/config", b"a", &keys)).unwrap();
    let second = store.hold(&change("/w/.git/config", b"a", &keys)).unwrap();
    let third = store.hold(&change("/w/.git/config", b"b", &keys)).unwrap();
    let exists = |id: &str| folder.path().join(id).exists();
    assert!(!exists(&first) && exists(&second) && exists(&third));
    let record = std::fs::read(folder.path().join(&second).join("record")).unwrap();
    let text = String::from_utf8(record).unwrap();
    assert!(text.contains("path\0/w/.git/config\0what\0file\0reason\0setting\0"));
    assert!(text.contains("key\0core.fsmonitor\0mode\x00644\0before\0none\0workspace\0/w\0"));
    let content = std::fs::read(folder.path().join(&second).join("content")).unwrap();
    assert_eq!(content, b"a");
}

#[test]
fn the_oldest_ones_go_when_there_are_too_many() {
    let folder = tempfile::tempdir().unwrap();
    let store = HeldStore::open(folder.path(), Path::new("/w")).unwrap();
    let content = vec![0; (MOST_BYTES / 3) as usize + 1];
    for path in ["/1", "/2", "/3"] {
        store.hold(&change(path, &content, &[])).unwrap();
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn no_workspace_displaces_what_is_held_of_others() {
    let entry = |at: i64, workspace: &str, size| HeldEntry {
        name: format!("{workspace}{at}"),
        changed: (0, at),
        size,
        workspace: workspace.into(),
    };
    let displaced = |own: &str, new, most, entries: Vec<HeldEntry>| {
        let mut room = HeldRoom::new(Path::new(own), new);
        entries.into_iter().for_each(|entry| room.add(entry));
        room.displaced(most, 100)
    };
    let all = || vec![entry(1, "/a", 1), entry(3, "/b", 1), entry(2, "/b", 1)];
    assert!(displaced("/a", 1, 4, all()).is_empty());
    assert_eq!(displaced("/b", 1, 3, all()), ["/b2"]);
    // Of equal ones, that of the new change.
    assert_eq!(displaced("/a", 1, 3, all()), ["/a1"]);
    assert_eq!(displaced("/c", 1, 3, all()), ["/b2"]);
    let all = || vec![entry(1, "/a", 40), entry(2, "/b", 20), entry(3, "/b", 30)];
    assert_eq!(displaced("/c", 11, 9, all()), ["/b2"]);
    assert_eq!(displaced("/a", 20, 9, all()), ["/a1"]);
    assert_eq!(displaced("/c", 200, 9, all()), ["/b2", "/a1", "/b3"]);
}

#[test]
fn the_directory_of_a_change_is_written_down() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let held = folder.path().join("held");
    let top = folder.path().canonicalize().unwrap().join("work");
    std::fs::create_dir_all(&held).unwrap();
    std::fs::create_dir_all(&top).unwrap();
    let store = HeldStore::open(&held, &top).unwrap();
    let status = std::fs::metadata(&top).unwrap();
    for name in ["config", "deep/er/config"] {
        let path = top.join(name);
        let id = store.hold(&change(path.to_str().unwrap(), b"a", &[])).unwrap();
        let record = std::fs::read_to_string(held.join(id).join("record")).unwrap();
        let (_, end) = record.split_once("\0base\0").unwrap();
        let (base, identity) = end.split_once("\0directory\0").unwrap();
        assert_eq!(Path::new(base), top);
        assert!(identity.starts_with(&format!("{}:{}", status.dev(), status.ino())));
    }
}
