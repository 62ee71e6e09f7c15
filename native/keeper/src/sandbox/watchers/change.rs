//! Changes to settings, as the warden asks the settler for them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The longest content of a setting.
pub const LONGEST: usize = 1024 * 1024;
/// The longest request: a path, a word and a target.
pub const LONGEST_REQUEST: usize = 3 * libc::PATH_MAX as usize;

/// A change to make, by the path of the setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Puts a file there; the content comes with the request. `is_new`: nothing may be there.
    Put {
        mode: u32,
        is_new: bool,
    },
    Link {
        target: Vec<u8>,
    },
    Directory {
        mode: u32,
    },
    Remove,
    RemoveDirectory,
}

/// Encodes a request.
pub fn encode(path: &Path, change: &Change) -> Vec<u8> {
    let (word, number, rest): (_, u32, &[u8]) = match change {
        Change::Put { mode, is_new: true } => (b'p', *mode, b""),
        Change::Put { mode, is_new: false } => (b'r', *mode, b""),
        Change::Link { target } => (b'l', 0, target),
        Change::Directory { mode } => (b'd', *mode, b""),
        Change::Remove => (b'u', 0, b""),
        Change::RemoveDirectory => (b'x', 0, b""),
    };
    [&[word][..], &number.to_le_bytes(), path.as_os_str().as_bytes(), b"\0", rest].concat()
}

/// Decodes a request. None: it is none.
pub fn decode(bytes: &[u8]) -> Option<(PathBuf, Change)> {
    let (head, rest) = bytes.split_at_checked(5)?;
    let (word, mode) = head.split_first()?;
    let mode = u32::from_le_bytes(mode.try_into().ok()?);
    let end = rest.iter().position(|byte| *byte == 0)?;
    let path = PathBuf::from(OsStr::from_bytes(rest.get(..end)?));
    let change = match word {
        b'p' => Change::Put { mode, is_new: true },
        b'r' => Change::Put { mode, is_new: false },
        b'l' => Change::Link { target: rest.get(end + 1..)?.to_vec() },
        b'd' => Change::Directory { mode },
        b'u' => Change::Remove,
        b'x' => Change::RemoveDirectory,
        _ => return None,
    };
    Some((path, change))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let link = Change::Link { target: b"a b".to_vec() };
        let all = [
            Change::Put { mode: 0o644, is_new: true },
            Change::Put { mode: 0o755, is_new: false },
            link,
            Change::Directory { mode: 0o755 },
            Change::Remove,
            Change::RemoveDirectory,
        ];
        let path = PathBuf::from("/w/.vscode/a");
        for change in all {
            assert_eq!(decode(&encode(&path, &change)), Some((path.clone(), change)));
        }
        assert_eq!(decode(b""), None);
        assert_eq!(decode(b"p\0\0\0\0/w"), None);
    }
}
