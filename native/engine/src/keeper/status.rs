//! Parsers of what `/proc` shows of threads and processes.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The length of a status file, in bytes; most are shorter.
pub const EXPECTED_STATUS: usize = 4096;
/// The length of a file of a few lines, in bytes; most are shorter.
pub const EXPECTED_LINES: usize = 512;

/// Reads all of a file, in one call if it is no longer than expected. Empty if it can't be read.
pub fn read(file: &File, expected: usize) -> Vec<u8> {
    let mut bytes = vec![0; expected];
    let mut length = 0;
    while let Some(room) = bytes.get_mut(length..) {
        match file.read_at(room, length as u64) {
            Ok(read) if read == room.len() => {
                length += read;
                bytes.resize(length * 2, 0);
            }
            Ok(read) => {
                length += read;
                break;
            }
            Err(_) => break,
        }
    }
    bytes.truncate(length);
    bytes
}

/// Returns the state of a process as one letter; `Z` is a zombie. None: there is no such process, or its
/// state can't be read.
pub fn read_state(pid: i32) -> Option<u8> {
    let status = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The process name may contain brackets too; the last one is followed by the state, as in `) S`.
    let end = memchr::memrchr(b')', &status)?;
    status.get(end + 2).copied()
}

/// Returns the number in the line with this name, such as `CapBnd:`.
pub fn number_in(status: &[u8], name: &str, radix: u32) -> Option<u64> {
    let value = memchr::memmem::find_iter(status, name)
        .filter(|place| *place == 0 || status.get(place - 1) == Some(&b'\n'))
        .find_map(|place| status.get(place + name.len()..)?.split(|byte| *byte == b'\n').next())?;
    u64::from_str_radix(std::str::from_utf8(value).ok()?.trim(), radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_either_base() {
        let status = b"Name:\tx\nCapBnd:\t000001ffffffffff\nSeccomp_filters:\t12\n";
        assert_eq!(number_in(status, "CapBnd:", 16), Some(0x1ff_ffff_ffff));
        assert_eq!(number_in(status, "Seccomp_filters:", 10), Some(12));
        assert_eq!(number_in(status, "CapAmb:", 16), None);
    }

    #[test]
    fn the_state_of_a_process_is_a_letter() {
        let own = read_state(std::process::id() as i32);
        assert!(matches!(own, Some(b'R' | b'S')));
        assert_eq!(read_state(0), None);
    }

    #[test]
    fn a_file_that_is_longer_than_expected_is_read_whole() {
        let status = read(&File::open("/proc/thread-self/status").unwrap(), 16);
        assert_eq!(number_in(&status, "CapBnd:", 16), Some(forkline_launch::bounding_set()));
    }
}
