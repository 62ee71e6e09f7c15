//! The standard error of a keeper while it starts, kept in a page of memory for the case that the keeper
//! ends.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use forkline_protocol::memory_file;

/// The size of the page; the keeper can't write more.
const ROOM: usize = 4096;

/// The most characters that are shown, from the end.
const TOLD: usize = 500;

/// A memory file for the standard error of a process.
#[derive(Debug)]
pub struct StartupStderr(File);

impl StartupStderr {
    /// Makes a file that can't grow. Fails where there are no memory files.
    pub fn new() -> io::Result<StartupStderr> {
        let file = memory_file(c"forkline-words", &[0; ROOM])?;
        let seals = libc::F_SEAL_GROW | libc::F_SEAL_SHRINK;
        // SAFETY: takes numbers; the descriptor is open.
        let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(StartupStderr(file.into()))
    }

    /// Returns the descriptor for the process to write to.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Returns the end of the text in one line.
    fn read(&self) -> String {
        let mut bytes = vec![0; ROOM];
        let length = self.0.read_at(&mut bytes, 0).unwrap_or(0);
        bytes.truncate(length);
        let text = String::from_utf8_lossy(&bytes);
        let words: Vec<&str> = text.trim_end_matches('\0').split_whitespace().collect();
        let line = words.join(" ");
        let skipped = line.chars().count().saturating_sub(TOLD);
        line.chars().skip(skipped).collect()
    }
}

/// Describes the unexpected end of a process and its standard error: `exit code 3: no such file`.
pub fn describe_end(end: Option<ProcessEnd>, stderr: Option<&StartupStderr>) -> String {
    let how = match end {
        Some(ProcessEnd::Exit(code)) => format!("exit code {code}"),
        Some(ProcessEnd::Signal(signal)) => format!("signal {signal}"),
        None => "how is not known".to_owned(),
    };
    let said = stderr.map(StartupStderr::read).unwrap_or_default();
    if said.is_empty() { how } else { format!("{how}: {said}") }
}

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessEnd {
    /// The process exited with this code.
    Exit(i32),
    /// The process was killed by this signal.
    Signal(i32),
}

/// Returns how a child process has ended, waiting a little for it. The child is not reaped.
pub fn end_of(child: i32) -> Option<ProcessEnd> {
    const SOON: Duration = Duration::from_millis(100);
    const AGAIN: Duration = Duration::from_millis(1);
    let until = Instant::now() + SOON;
    loop {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
        // SAFETY: fills the structure, which is valid as zeros too.
        let (result, info) = unsafe {
            let result = libc::waitid(libc::P_PID, child as libc::id_t, info.as_mut_ptr(), flags);
            (result, info.assume_init())
        };
        // SAFETY: for a child the kernel fills these fields; zeros when there is no state to report.
        let (pid, status) = unsafe { (info.si_pid(), info.si_status()) };
        match info.si_code {
            _ if result != 0 => return None,
            libc::CLD_EXITED if pid == child => return Some(ProcessEnd::Exit(status)),
            _ if pid == child => return Some(ProcessEnd::Signal(status)),
            _ if Instant::now() >= until => return None,
            _ => std::thread::sleep(AGAIN),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn standard_error_is_shown_as_one_line_of_limited_length() {
        let stderr = StartupStderr::new().unwrap();
        assert_eq!(describe_end(Some(ProcessEnd::Signal(11)), Some(&stderr)), "signal 11");
        let mut file = File::from(stderr.descriptor().try_clone_to_owned().unwrap());
        file.write_all(b"no such\n file\n").unwrap();
        assert_eq!(
            describe_end(Some(ProcessEnd::Exit(3)), Some(&stderr)),
            "exit code 3: no such file"
        );
        assert!(file.write_all(&[b'x'; 2 * ROOM]).is_err());
        assert_eq!(stderr.read().len(), TOLD);
    }
}
