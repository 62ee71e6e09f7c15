//! The descriptors of processes. Only links are read: a look at a file itself may wait for a disk that hangs.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;

/// The most descriptors of one process that are looked at.
const MOST: usize = 1024;

/// Returns what a descriptor of a process is: `pipe:[4711]`, `/dev/pts/3`. None: not open, or not shown.
pub fn target(pid: i32, descriptor: i32) -> Option<Vec<u8>> {
    let link = fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).ok()?;
    Some(link.into_os_string().into_vec())
}

/// Returns the number of the pipe that a descriptor of a process is an end of. None: it is no pipe.
pub fn pipe(pid: i32, descriptor: i32) -> Option<u64> {
    numbered(&target(pid, descriptor)?, "pipe:[")
}

/// Returns the number in a link such as `pipe:[4711]`.
pub fn numbered(target: &[u8], kind: &str) -> Option<u64> {
    std::str::from_utf8(target).ok()?.strip_prefix(kind)?.strip_suffix(']')?.parse().ok()
}

/// Returns the open descriptors of a process and what they are, at most some. An error: not shown.
pub fn all(pid: i32) -> io::Result<Vec<(i32, Vec<u8>)>> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd"))?.flatten().take(MOST);
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(numbers.filter_map(|number| Some((number, target(pid, number)?))).collect())
}

/// Returns whether a process can write to a pipe, by any descriptor.
pub fn writes_to(pid: i32, pipe: u64) -> bool {
    let is_end = |(number, target): &(i32, Vec<u8>)| {
        numbered(target, "pipe:[") == Some(pipe) && is_for_writing(pid, *number)
    };
    all(pid).is_ok_and(|all| all.iter().any(is_end))
}

/// Returns whether a descriptor is open for writing, as far as that is shown.
fn is_for_writing(pid: i32, descriptor: i32) -> bool {
    let Ok(told) = fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")) else {
        return true;
    };
    let flags = told.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok());
    flags.is_none_or(|flags| flags & libc::O_ACCMODE != libc::O_RDONLY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_pipe_is_known_by_its_number_on_both_ends() {
        let own = std::process::id() as i32;
        let (reader, writer) = io::pipe().unwrap();
        let number = pipe(own, reader.as_raw_fd()).unwrap();
        assert_eq!(pipe(own, writer.as_raw_fd()), Some(number));
        assert!(writes_to(own, number));
        drop(writer);
        assert!(!writes_to(own, number));
        assert_eq!(numbered(b"/dev/null", "pipe:["), None);
    }
}
