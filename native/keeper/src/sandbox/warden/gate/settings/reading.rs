//! Configurations as git itself reads them.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::sandbox::privileges;
use crate::sandbox::warden::held::in_memory;
use crate::signals;

/// The longest time that git may take to read a configuration.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most bytes of a configuration, and of what git prints of it.
pub const LONGEST: usize = 1 << 20;

/// A setting: its key, with section and name in lower case, and its value; None: it has none, which means
/// true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    pub key: Vec<u8>,
    pub value: Option<Vec<u8>>,
}

/// Returns the settings of a configuration, without those of files that it includes. An error: git does
/// not accept it, or could not be asked.
pub fn settings(program: &Path, content: &[u8]) -> io::Result<Vec<Setting>> {
    if content.is_empty() {
        return Ok(Vec::new());
    }
    let mut child = start(program, in_memory(content)?)?;
    let printed = read(&mut child);
    if printed.is_err() {
        let _ = child.kill();
    }
    let status = child.wait()?;
    let printed = printed?;
    if !status.success() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(parse(&printed))
}

/// Starts git, which sees the content and nothing else: no repository and no other configuration.
fn start(program: &Path, content: OwnedFd) -> io::Result<Child> {
    let mut command = Command::new(program);
    command
        .args(["config", "--list", "-z", "--no-includes", "--file", "-"])
        .env_clear()
        .env("GIT_DIR", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("LC_ALL", "C")
        .stdin(File::from(content))
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    // SAFETY: the calls are signal-safe: they take numbers, and allocate nothing.
    unsafe {
        command.pre_exec(|| {
            privileges::give_up_all()?;
            Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
        });
    }
    command.spawn()
}

fn read(child: &mut Child) -> io::Result<Vec<u8>> {
    let mut output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let until = Instant::now() + PATIENCE;
    let (mut all, mut part) = (Vec::new(), vec![0; 16 << 10]);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let [ready] = signals::wait([Some((output.as_fd(), libc::POLLIN))], Some(left));
        if ready == 0 {
            continue;
        }
        match output.read(&mut part)? {
            0 => return Ok(all),
            count => all.extend(part.get(..count).unwrap_or_default()),
        }
        // Each setting repeats the name of its section.
        if all.len() > 8 * LONGEST {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
}

fn parse(printed: &[u8]) -> Vec<Setting> {
    let all = printed.split(|byte| *byte == 0).filter(|setting| !setting.is_empty());
    let parsed = all.map(|setting| match setting.iter().position(|byte| *byte == b'\n') {
        Some(at) => {
            let (key, value) = setting.split_at(at);
            Setting { key: key.to_vec(), value: value.get(1..).map(<[u8]>::to_vec) }
        }
        None => Setting { key: setting.to_vec(), value: None },
    });
    parsed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_prints_is_parsed() {
        let all = parse(b"a.b\nc\0remote.x y.url\0r.z\nk\nl\0");
        let of = |key: &str, value: Option<&str>| Setting {
            key: key.into(),
            value: value.map(|value| value.as_bytes().to_vec()),
        };
        assert_eq!(
            all,
            [of("a.b", Some("c")), of("remote.x y.url", None), of("r.z", Some("k\nl"))]
        );
    }
}
