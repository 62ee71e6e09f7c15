//! Git's objects, read by git itself and verified: a command can write files of any content to git's
//! directory, but can't choose the name that a content has.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use sha2::Digest;

/// The longest object that is read. Longer ones are taken to be missing.
const LONGEST: usize = 64 * 1024 * 1024;

/// A verified object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    pub kind: ObjectKind,
    pub data: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    Commit,
    Tree,
    Tag,
    Blob,
}

/// An object's name, in hexadecimal digits.
pub type Id = String;

/// Reads objects of a repository by a process of git's.
pub struct Objects {
    process: Child,
    asked: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Objects {
    /// Starts git. `program`: its absolute path. It reads no configuration but the repository's, runs no
    /// program and fetches nothing.
    pub fn open(program: &Path, repository: &Path) -> io::Result<Objects> {
        let mut git = Command::new(program);
        git.arg("--git-dir").arg(repository);
        git.args(["--no-replace-objects", "-c", "core.fsmonitor=false", "cat-file", "--batch"]);
        git.env_clear().envs([
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_GRAFT_FILE", "/dev/null"),
            ("GIT_NO_LAZY_FETCH", "1"),
            // Before git 2.45, a repository with promised objects would fetch them.
            ("GIT_ALLOW_PROTOCOL", ""),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("LC_ALL", "C"),
        ]);
        git.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // SAFETY: makes one system call, which takes numbers only, between fork and exec.
        unsafe {
            git.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        let mut process = git.spawn()?;
        let (asked, answers) = (process.stdin.take(), process.stdout.take());
        match (asked, answers) {
            (Some(asked), Some(answers)) => {
                Ok(Objects { process, asked, answers: BufReader::with_capacity(1 << 16, answers) })
            }
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Reads objects. None, in the place of one: it is missing, or its content is not what its name says.
    pub fn read(&mut self, ids: &[Id]) -> io::Result<Vec<Option<Object>>> {
        let mut all = Vec::with_capacity(ids.len());
        // What is asked at once has to fit into a pipe, since nobody reads answers meanwhile.
        for some in ids.chunks(512) {
            let lines: String = some.iter().flat_map(|id| [id, "\n"]).collect();
            self.asked.write_all(lines.as_bytes())?;
            for id in some {
                all.push(self.next(id)?);
            }
        }
        Ok(all)
    }

    fn next(&mut self, id: &str) -> io::Result<Option<Object>> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut words = line.trim_end().split(' ');
        let (Some(name), Some(kind), Some(size)) = (words.next(), words.next(), words.next())
        else {
            // `ID missing`
            return Ok(None);
        };
        let size: usize = size.parse().map_err(|_| io::ErrorKind::InvalidData)?;
        if size > LONGEST {
            io::copy(&mut (&mut self.answers).take(size as u64 + 1), &mut io::sink())?;
            return Ok(None);
        }
        let mut data = vec![0; size];
        self.answers.read_exact(&mut data)?;
        self.answers.read_exact(&mut [0])?;
        let kind = match kind {
            "commit" => ObjectKind::Commit,
            "tree" => ObjectKind::Tree,
            "tag" => ObjectKind::Tag,
            _ => ObjectKind::Blob,
        };
        let is_it = name == id && id_of(kind, &data, id.len()).as_deref() == Some(id);
        Ok(is_it.then_some(Object { kind, data }))
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the name of an object. `length`: how many digits names have in this repository. None: such
/// names are not known, or the content was made to have another's name.
pub fn id_of(kind: ObjectKind, data: &[u8], length: usize) -> Option<Id> {
    let kind = match kind {
        ObjectKind::Commit => "commit",
        ObjectKind::Tree => "tree",
        ObjectKind::Tag => "tag",
        ObjectKind::Blob => "blob",
    };
    let header = format!("{kind} {}\0", data.len());
    match length {
        40 => {
            let mut sum = sha1_checked::Sha1::new();
            sha1_checked::Digest::update(&mut sum, header.as_bytes());
            sha1_checked::Digest::update(&mut sum, data);
            let sum = sum.try_finalize();
            (!sum.has_collision()).then(|| hex(sum.hash()))
        }
        64 => {
            let mut sum = sha2::Sha256::new();
            sum.update(header.as_bytes());
            sum.update(data);
            Some(hex(&sum.finalize()))
        }
        _ => None,
    }
}

pub fn hex(bytes: &[u8]) -> Id {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS.get(usize::from(half)).copied().unwrap_or(b'0'));
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Returns the names on lines of an object's header that begin so.
pub fn line_of(data: &[u8], begin: &str) -> impl Iterator<Item = Id> {
    let lines = data.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty());
    let found = lines.filter_map(move |line| line.strip_prefix(begin.as_bytes()));
    found.map(|id| String::from_utf8_lossy(id).into_owned())
}

/// Returns the content with line ends of Unix. None: it has no others.
pub fn unix_lines(content: &[u8]) -> Option<Vec<u8>> {
    let is_other = |pair: &[u8]| pair == b"\r\n";
    content.windows(2).any(is_other).then(|| {
        let ends = content
            .iter()
            .enumerate()
            .filter(|(at, byte)| **byte != b'\r' || content.get(at + 1) != Some(&b'\n'));
        ends.map(|(_, byte)| *byte).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_git_gives() {
        let blob = |length| id_of(ObjectKind::Blob, b"hello\n", length);
        assert_eq!(blob(40).unwrap(), "ce013625030ba8dba906f756967f9e9ca394464a");
        let long = "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4";
        assert_eq!(blob(64).unwrap(), long);
        assert_eq!(blob(32), None);
    }
}
