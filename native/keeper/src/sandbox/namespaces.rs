//! A process in namespaces of its own, and its parent outside.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use forkline_launch::bounding_set;
use forkline_protocol::{pair, receive, send};

use crate::sandbox::plan::Plan;

/// The two processes after the split.
pub enum Side {
    /// The process in the namespaces, which has to wait for its user and group ids.
    Inside(Inside),
    /// The process outside, which is the parent of the other.
    Outside(Outside),
}

pub struct Inside {
    /// None: it has been waited for.
    mapped: Option<PipeReader>,
    outside: OwnedFd,
    /// Whether the process has a user namespace of its own.
    pub has_user_namespace: bool,
}

pub struct Outside {
    /// The process id of the process inside, as seen outside.
    pub pid: i32,
    pub has_user_namespace: bool,
    inside: OwnedFd,
}

/// What the sandbox hands to the warden.
pub struct WardenInput {
    /// The kernel's questions.
    pub listener: OwnedFd,
    /// The socket on which cradles introduce the keepers of commands that the host may leave behind.
    pub lines: OwnedFd,
    /// The sockets at which commands call the user's agents.
    pub agents: Vec<OwnedFd>,
    /// Git's directories: the path at which each is seen, and a tree that can be written to.
    pub git: Vec<(PathBuf, OwnedFd)>,
    /// The same directories, as they are seen without their covers.
    pub beneath: Vec<(PathBuf, OwnedFd)>,
}

/// The most bytes handed over, paths included.
const LONGEST_HANDED: usize = 128 * 1024;

impl Inside {
    /// Waits until user and group ids are mapped. Returns whether that succeeded.
    pub fn is_mapped(&mut self) -> bool {
        let mapped = self.mapped.take();
        mapped.is_none_or(|mut mapped| matches!(mapped.read(&mut [0]), Ok(1)))
    }

    /// Makes it in another image of the process, which has a user namespace of its own.
    pub fn resumed(outside: OwnedFd) -> Inside {
        Inside { mapped: None, outside, has_user_namespace: true }
    }

    /// Returns the socket to the process outside.
    pub fn descriptor(&self) -> i32 {
        self.outside.as_raw_fd()
    }

    /// Hands the process outside git's directories as they are seen without their covers, before all else: a
    /// message has room for few descriptors.
    pub fn hand_beneath(&self, beneath: &[(PathBuf, OwnedFd)]) -> io::Result<()> {
        let mut all = beneath.iter();
        all.try_for_each(|(path, seen)| {
            send(self.outside.as_fd(), [path.as_os_str().as_bytes(), b""], &[seen.as_fd()])
        })
    }

    /// Hands the process outside what the warden needs. Returns whether changes to settings can be settled.
    pub fn hand_out(
        &self,
        listener: &OwnedFd,
        lines: &OwnedFd,
        agents: &[OwnedFd],
        git: &[(PathBuf, OwnedFd)],
    ) -> io::Result<bool> {
        let trees = git.iter().map(|(_, tree)| tree.as_fd());
        let agents: Vec<_> = agents.iter().map(AsFd::as_fd).collect();
        let (count, all) = (agents.len() as u8, [listener.as_fd(), lines.as_fd()]);
        let all: Vec<_> = all.into_iter().chain(agents).chain(trees).collect();
        // No path contains a NUL.
        let paths = git.iter().map(|(path, _)| path.as_os_str().as_bytes());
        let paths = paths.collect::<Vec<_>>().join(&0);
        send(self.outside.as_fd(), [&[count], &paths], &all)?;
        let mut answer = [0];
        let received = receive(self.outside.as_fd(), &mut answer)?;
        Ok(received.length == 1 && answer == *b"1")
    }

    /// Tells the process outside that the sandbox is complete.
    pub fn tell_made(self) {
        let _ = send(self.outside.as_fd(), [b"1", b""], &[]);
    }
}

impl Outside {
    /// Waits until the sandbox is complete, and passes on what is handed over meanwhile; `take` returns whether
    /// changes to settings can be settled. Returns false if it failed; then the process inside has ended.
    pub fn wait_until_made(&self, mut take: impl FnMut(WardenInput) -> bool) -> bool {
        let mut text = vec![0; LONGEST_HANDED];
        let mut beneath = Vec::new();
        while let Ok(received) = receive(self.inside.as_fd(), &mut text) {
            let mut given = received.descriptors.into_iter();
            match (given.next(), given.next(), received.length) {
                (Some(listener), Some(lines), length @ 1..) => {
                    let count = text.first().copied().unwrap_or_default();
                    let agents = given.by_ref().take(count.into()).collect();
                    let paths = text.get(1..length).unwrap_or_default().split(|byte| *byte == 0);
                    let paths = paths.map(|path| PathBuf::from(OsStr::from_bytes(path)));
                    let git = paths.zip(given).collect();
                    let beneath = std::mem::take(&mut beneath);
                    let settles = take(WardenInput { listener, lines, agents, git, beneath });
                    let _ = send(self.inside.as_fd(), [&[b'0' + u8::from(settles)], b""], &[]);
                }
                (Some(seen), None, length @ 1..) => {
                    let path = text.get(..length).unwrap_or_default();
                    beneath.push((PathBuf::from(OsStr::from_bytes(path)), seen));
                }
                (None, None, 1..) => return true,
                _ => break,
            }
        }
        self.wait();
        false
    }

    /// Ends the process inside, and all in its PID namespace.
    pub fn end(&self) {
        // SAFETY: takes numbers; it is our child, which has not been waited for.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
    }

    /// Waits for the end of the process inside, and returns its exit code. If it is stopped, it is
    /// continued, since it looks after commands.
    pub fn wait(&self) -> i32 {
        wait_for(self.pid)
    }
}

/// Splits this process in two. Only one thread may run.
pub fn split(plan: &Plan) -> io::Result<Side> {
    let mut flags = libc::CLONE_NEWNS | libc::CLONE_NEWIPC;
    if !plan.network {
        flags |= libc::CLONE_NEWNET;
    }
    if !plan.host_processes {
        flags |= libc::CLONE_NEWPID;
    }
    match split_with(flags | libc::CLONE_NEWUSER) {
        // Root can make the other namespaces without a user namespace, where none can be made.
        // SAFETY: takes nothing.
        Err(error) if unsafe { libc::geteuid() } == 0 && !can_make_more() => {
            split_with(flags).map_err(|_| error)
        }
        result => result,
    }
}

fn split_with(flags: libc::c_int) -> io::Result<Side> {
    let (mapped, mut settled) = io::pipe()?;
    let (inside, outside) = pair()?;
    let has_user_namespace = flags & libc::CLONE_NEWUSER != 0;
    let no_memory = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: like fork: there is one thread, so the child has everything that its parent had.
    let pid = unsafe {
        libc::syscall(
            libc::SYS_clone,
            flags | libc::SIGCHLD,
            no_memory,
            no_memory,
            no_memory,
            no_memory,
        )
    } as i32;
    match pid {
        0 => {
            // These ends are the other process's.
            drop((settled, inside));
            Ok(Side::Inside(Inside { mapped: Some(mapped), outside, has_user_namespace }))
        }
        -1 => Err(io::Error::last_os_error()),
        pid => {
            drop(outside);
            let mapped = if has_user_namespace { map(pid) } else { Ok(()) };
            let Err(error) = mapped.and_then(|()| settled.write_all(&[1])) else {
                return Ok(Side::Outside(Outside { pid, has_user_namespace, inside }));
            };
            drop(settled);
            // SAFETY: it is our child, which ends by itself now.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
            Err(error)
        }
    }
}

/// Maps users and groups to the same ids as outside; for an ordinary user, only the user's own ids can be
/// mapped.
fn map(pid: i32) -> io::Result<()> {
    let all = |name: &str| all_of(&fs::read_to_string(format!("/proc/self/{name}"))?);
    let is_mapped_whole = write(pid, "uid_map", &all("uid_map")?).is_ok();
    if is_mapped_whole {
        return write(pid, "gid_map", &all("gid_map")?);
    }
    // SAFETY: take nothing.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    write(pid, "setgroups", "deny")?;
    write(pid, "uid_map", &format!("{user} {user} 1"))?;
    write(pid, "gid_map", &format!("{group} {group} 1"))
}

/// Returns a map with the same ids inside as outside, for all ids that a map such as `0 100000 65536`
/// contains.
fn all_of(map: &str) -> io::Result<String> {
    let lines = map.lines().map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let (first, count) = (fields.next()?, fields.nth(1)?);
        Some(format!("{first} {first} {count}\n"))
    });
    lines.collect::<Option<String>>().ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Writes a file in one call, as the kernel requires.
fn write(pid: i32, name: &str, text: &str) -> io::Result<()> {
    fs::OpenOptions::new()
        .write(true)
        .open(format!("/proc/{pid}/{name}"))?
        .write_all(text.as_bytes())
}

/// Forbids further user namespaces, in which everything would be allowed again.
pub fn allow_no_more() -> io::Result<()> {
    fs::write("/proc/sys/user/max_user_namespaces", "0")
}

/// Returns whether a process that is started here could make one.
pub fn can_make_more() -> bool {
    let no_memory = std::ptr::null_mut::<libc::c_void>();
    let flags = libc::CLONE_NEWUSER | libc::SIGCHLD;
    // SAFETY: like fork: there is one thread.
    let pid = unsafe {
        libc::syscall(libc::SYS_clone, flags, no_memory, no_memory, no_memory, no_memory)
    } as i32;
    match pid {
        -1 => false,
        // SAFETY: ends the process, and does nothing else in it.
        0 => unsafe { libc::_exit(0) },
        pid => {
            // SAFETY: it is our child, which ends by itself.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
            true
        }
    }
}

/// Returns the bounding set before the split: a user namespace has all capabilities again.
pub fn rights_outside() -> u64 {
    bounding_set()
}

fn wait_for(pid: i32) -> i32 {
    loop {
        let mut status = 0;
        // SAFETY: fills the integer.
        let ended = unsafe { libc::waitpid(pid, &mut status, libc::WUNTRACED | libc::__WALL) };
        if ended < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
            continue;
        }
        if ended < 0 || !libc::WIFSTOPPED(status) {
            return if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 1 };
        }
        // SAFETY: takes numbers; it is our child, so the number is not reused.
        unsafe { libc::kill(pid, libc::SIGCONT) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_mapped_to_themselves() {
        let map = "         0     100000      65536\n     65536 1000 1\n";
        assert_eq!(all_of(map).unwrap(), "0 0 65536\n65536 65536 1\n");
        assert!(all_of("0 1").is_err());
    }
}
