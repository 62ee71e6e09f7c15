//! Where a path leads, before and after things were moved. Paths are bytes here, absolute, without a last slash.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::record::MoveRecord;

/// Returns whether a path is another one, or below it.
pub(crate) fn is_within(path: &[u8], above: &[u8]) -> bool {
    rest_of(path, above).is_some()
}

/// Returns the path of a name in a directory.
pub(crate) fn join(above: &[u8], name: &[u8]) -> Vec<u8> {
    [above.strip_suffix(b"/").unwrap_or(above), b"/", name].concat()
}

/// Returns how many directories a path is below the root.
pub(crate) fn depth(path: &[u8]) -> usize {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).count()
}

/// Splits a path into that of the directory and the name.
pub(crate) fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let slash = path.iter().rposition(|byte| *byte == b'/')?;
    let name = path.get(slash + 1..).filter(|name| !name.is_empty())?;
    Some((path.get(..slash).filter(|above| !above.is_empty()).unwrap_or(b"/"), name))
}

/// Returns the path that something has after moves.
pub(crate) fn forward<'a>(path: &[u8], moves: impl Iterator<Item = &'a MoveRecord>) -> Vec<u8> {
    moves.fold(path.to_vec(), |path, moved| translated(path, &moved.from, &moved.to, moved))
}

/// Returns the path that something had before moves, which are given last first.
pub(crate) fn backward<'a>(path: &[u8], moves: impl Iterator<Item = &'a MoveRecord>) -> Vec<u8> {
    moves.fold(path.to_vec(), |path, moved| translated(path, &moved.to, &moved.from, moved))
}

fn translated(path: Vec<u8>, from: &[u8], to: &[u8], moved: &MoveRecord) -> Vec<u8> {
    match (rest_of(&path, from), rest_of(&path, to)) {
        (Some(rest), _) => [to, rest].concat(),
        (_, Some(rest)) if moved.is_exchange => [from, rest].concat(),
        _ => path,
    }
}

fn rest_of<'a>(path: &'a [u8], above: &[u8]) -> Option<&'a [u8]> {
    let above = above.strip_suffix(b"/").unwrap_or(above);
    path.strip_prefix(above).filter(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Returns bytes as a path.
pub(crate) fn path_buf(path: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(path))
}
