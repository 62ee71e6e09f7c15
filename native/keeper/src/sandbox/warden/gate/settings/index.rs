//! Git's index, by which git writes files: it takes the paths in it as they are.

use std::ops::Range;

/// The header, the count of entries included.
const HEADER: usize = 12;
/// What an entry has before the name of its object.
const STATUS: usize = 40;
/// The flag of an entry that has two bytes more, and the bits with the length of its path.
const EXTENDED: usize = 0x4000;
const LENGTH: usize = 0x0fff;

/// The length that git takes for that of each hash in an extension.
const SHORT_HASH: usize = 20;

/// An entry: where it begins, and whether its path is written in full.
type Begin = (usize, bool);

/// Returns whether all paths in an index, or in a part of a split one, are in the working tree and none is in
/// a repository. `hash`: the length of the names of objects, in bytes. False too if git might read it in
/// another way than this.
pub fn has_plain_paths(content: &[u8], hash: usize) -> bool {
    content.is_empty() || read(content, hash).is_some()
}

fn read(content: &[u8], hash: usize) -> Option<()> {
    let end = content.len().checked_sub(hash)?;
    let version = number(content, 4)?;
    if content.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let count = number(content, 8)?;
    let mut at = HEADER;
    let mut begins: Vec<Begin> = Vec::new();
    let mut path: Vec<u8> = Vec::new();
    for _ in 0..count {
        let flags_at = at + STATUS + hash;
        let flags = pair(content, flags_at)?;
        let mut name = flags_at + if flags & EXTENDED == 0 { 2 } else { 4 };
        let mut kept = 0;
        if version == 4 {
            let (cut, after) = varint(content, name)?;
            (kept, name) = (path.len().checked_sub(cut)?, after);
        }
        let text = content.get(name..end)?;
        let text = text.get(..text.iter().position(|byte| *byte == 0)?)?;
        path.truncate(kept);
        path.extend(text);
        if flags & LENGTH != path.len().min(LENGTH) || !is_plain(&path) {
            return None;
        }
        begins.push((at, kept == 0));
        let length = name - at + text.len();
        at += if version == 4 { length + 1 } else { (length + 8) & !7 };
    }
    (at <= end && has_its_blocks(content, at..end, hash, &begins)).then_some(())
}

/// Returns whether what git goes by to read the entries in several threads leads to the same ones.
fn has_its_blocks(content: &[u8], place: Range<usize>, hash: usize, begins: &[Begin]) -> bool {
    let mut at = place.start;
    while at + 8 <= place.end {
        let (Some(name), Some(size)) = (content.get(at..at + 4), number(content, at + 4)) else {
            return false;
        };
        let Some(data) = content.get(at + 8..place.end).and_then(|rest| rest.get(..size)) else {
            return false;
        };
        if name == b"IEOT" && !is_table(data, begins) {
            return false;
        }
        at += 8 + size;
    }
    // Git looks for the end of entries here, before anything else.
    let is_end = |hash: usize| {
        let told = place.end.checked_sub(8 + 4 + hash);
        let told = told.filter(|at| content.get(*at..at + 4) == Some(b"EOIE"));
        told.is_none_or(|at| number(content, at + 8) == Some(place.start))
    };
    at == place.end && is_end(SHORT_HASH) && is_end(hash)
}

fn is_table(data: &[u8], begins: &[Begin]) -> bool {
    let mut next = 0;
    let blocks = data.get(4..).unwrap_or_default().chunks_exact(8);
    let are_blocks = blocks.clone().all(|block| {
        let (Some(offset), Some(count)) = (number(block, 0), number(block, 4)) else {
            return false;
        };
        let is_next = begins.get(next) == Some(&(offset, true));
        next += count;
        is_next
    });
    are_blocks && blocks.remainder().is_empty() && next == begins.len()
}

/// Returns whether a path is none that git would refuse. An empty one stands for that of a shared index.
fn is_plain(path: &[u8]) -> bool {
    // A directory of a sparse index ends with a slash.
    let path = path.strip_suffix(b"/").unwrap_or(path);
    path.is_empty() || path.split(|byte| *byte == b'/').all(is_plain_name)
}

fn is_plain_name(name: &[u8]) -> bool {
    // As file systems of other systems take it, which may be mounted.
    let stem = name.split(|byte| *byte == b':').next().unwrap_or_default();
    let end = stem.iter().rposition(|byte| !matches!(byte, b'.' | b' ')).map_or(0, |at| at + 1);
    let stem = stem.get(..end).unwrap_or_default();
    let is_gits = [&b".git"[..], b"git~1"].iter().any(|git| stem.eq_ignore_ascii_case(git));
    !is_gits && !matches!(name, b"" | b"." | b"..")
}

fn number(content: &[u8], at: usize) -> Option<usize> {
    let bytes = content.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_be_bytes(*bytes) as usize)
}

fn pair(content: &[u8], at: usize) -> Option<usize> {
    let bytes = content.get(at..)?.first_chunk::<2>()?;
    Some(u16::from_be_bytes(*bytes).into())
}

/// Returns a number of git's own encoding, and where it ends.
fn varint(content: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    loop {
        let byte = *content.get(at)?;
        at += 1;
        value |= usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at));
        }
        value = value.checked_add(1)?.checked_mul(0x80)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: usize = 20;

    fn entry(path: &str) -> Vec<u8> {
        let mut bytes = vec![0; STATUS + HASH];
        bytes.extend((path.len().min(LENGTH) as u16).to_be_bytes());
        bytes.extend(path.as_bytes());
        let end = (bytes.len() + 8) & !7;
        bytes.resize(end, 0);
        bytes
    }

    fn index(entries: &[Vec<u8>], rest: &[u8]) -> Vec<u8> {
        let head = [b"DIRC", &2_u32.to_be_bytes()[..], &(entries.len() as u32).to_be_bytes()];
        [&head.concat(), &*entries.concat(), rest, &[0; HASH]].concat()
    }

    fn is(entries: &[Vec<u8>], rest: &[u8]) -> bool {
        has_plain_paths(&index(entries, rest), HASH)
    }

    fn extension(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
        [name, &(data.len() as u32).to_be_bytes()[..], data].concat()
    }

    #[test]
    fn paths_in_an_index() {
        let long = format!("{}x", "a/".repeat(3000));
        for path in ["a", "a/b.git", ".gitignore", ".github/x", "d/", "", "a..b", "git", &long] {
            assert!(is(&[entry("a"), entry(path)], b""), "{path}");
        }
        for path in [
            ".git/config",
            "sub/.git/config",
            ".GIT/x",
            ".git",
            ".git. /x",
            ".git::$INDEX_ALLOCATION/x",
            "git~1/x",
            "../x",
            "a/../x",
            "./x",
            "/x",
            "a//x",
        ] {
            assert!(!is(&[entry("a"), entry(path)], b""), "{path}");
        }
    }

    #[test]
    fn what_git_might_read_in_another_way_is_refused() {
        let mut other_length = entry("a/b");
        other_length[STATUS + HASH + 1] = 1;
        assert!(!is(&[other_length], b""));
        assert!(!is(&[entry("a")], b"TREE"));
        assert!(!is(&[entry("a")], &extension(b"TREE", b"..")[..9]));
        assert!(is(&[entry("a")], &extension(b"TREE", b"..")));
        let entries = [entry("a"), entry("b")];
        assert!(!has_plain_paths(&index(&entries, b"")[..40], HASH));
        assert!(!has_plain_paths(b"DIRC", HASH));
        let first = HEADER as u32;
        let second = first + entries[0].len() as u32;
        let table = |blocks: &[(u32, u32)]| {
            let bytes =
                blocks.iter().flat_map(|(at, count)| [at.to_be_bytes(), count.to_be_bytes()]);
            let bytes: Vec<u8> = [1_u32.to_be_bytes()].into_iter().chain(bytes).flatten().collect();
            is(&entries, &extension(b"IEOT", &bytes))
        };
        assert!(table(&[(first, 2)]) && table(&[(first, 1), (second, 1)]));
        assert!(!table(&[(first, 1)]) && !table(&[(first, 1), (second + 8, 1)]));
        let end = |at: u32| {
            is(&entries, &extension(b"EOIE", &[&at.to_be_bytes()[..], &[0; HASH]].concat()))
        };
        assert!(end(second + entries[1].len() as u32) && !end(second));
    }

    #[test]
    fn paths_that_go_on_from_the_one_before() {
        let of = |cut: u8, text: &str, length: u16| {
            let mut bytes = vec![0; STATUS + HASH];
            bytes.extend(length.to_be_bytes());
            bytes.push(cut);
            bytes.extend(text.as_bytes());
            bytes.push(0);
            bytes
        };
        let is = |entries: &[Vec<u8>]| {
            let mut bytes = index(entries, b"");
            bytes[7] = 4;
            has_plain_paths(&bytes, HASH)
        };
        assert!(is(&[of(0, "a/b", 3), of(1, "c", 3)]));
        assert!(!is(&[of(0, ".gi", 3), of(0, "t/x", 6)]));
        assert!(!is(&[of(0, "a", 1), of(2, "b", 1)]));
        assert_eq!(varint(&[0x80, 0x00], 0), Some((128, 2)));
        assert_eq!(varint(&[0xff, 0x7f], 0), Some((0x407f, 2)));
    }
}
