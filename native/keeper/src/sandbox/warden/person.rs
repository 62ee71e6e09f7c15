//! Runs code with the rights of a process in the sandbox, and restores the thread's own rights.

use std::io;

use crate::sandbox::privileges;

/// User, group and supplementary groups, as used for access to files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub user: u32,
    pub group: u32,
    pub groups: Vec<u32>,
}

impl Person {
    /// Returns those of this process.
    pub fn own() -> &'static Person {
        static OWN: std::sync::OnceLock<Person> = std::sync::OnceLock::new();
        OWN.get_or_init(|| {
            let mut groups = vec![0; 65536];
            // SAFETY: fills at most as many numbers as it is told; the other calls take nothing.
            unsafe {
                let count = libc::getgroups(groups.len() as i32, groups.as_mut_ptr());
                groups.truncate(usize::try_from(count).unwrap_or(0));
                Person { user: libc::geteuid(), group: libc::getegid(), groups }
            }
        })
    }

    /// Gives the calling thread these ids. Makes the system calls directly: the C library's functions
    /// change all threads.
    fn become_him(&self) -> io::Result<()> {
        let Person { user, group, groups } = self;
        const SAME: u32 = u32::MAX;
        // SAFETY: take numbers, and an array of the given length.
        unsafe {
            done(libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()))?;
            done(libc::syscall(libc::SYS_setresgid, SAME, *group, SAME))?;
            done(libc::syscall(libc::SYS_setresuid, SAME, *user, SAME))
        }
    }
}

/// Runs `act` as `other`, or as this process's user, with the capabilities that processes in the sandbox
/// have. An error means that this was not possible.
pub fn act_as<T>(other: Option<&Person>, act: impl FnOnce() -> T) -> io::Result<T> {
    let user = other.unwrap_or(Person::own()).user;
    let result = other.map_or(Ok(()), Person::become_him);
    let result = result.and_then(|()| privileges::lower(user)).map(|()| act());
    if other.is_some() {
        // SAFETY: takes numbers. Becomes root first, since only root may take any ids.
        unsafe { libc::syscall(libc::SYS_setresuid, u32::MAX, 0, u32::MAX) };
    }
    let restored =
        privileges::raise().and_then(|()| other.map_or(Ok(()), |_| Person::own().become_him()));
    if restored.is_err() {
        // The next caller must not get another caller's rights.
        std::process::abort();
    }
    result
}

fn done(result: i64) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
