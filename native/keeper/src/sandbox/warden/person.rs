//! A thread that does something with the rights of somebody in the sandbox, and has its own back then.

use std::io;

use crate::sandbox::privileges;

/// Whoever opens files: his user and group, and his further groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub user: u32,
    pub group: u32,
    pub groups: Vec<u32>,
}

impl Person {
    /// Who this process is.
    pub fn own() -> &'static Person {
        static OWN: std::sync::OnceLock<Person> = std::sync::OnceLock::new();
        OWN.get_or_init(|| {
            let mut groups = vec![0; 65536];
            // SAFETY: fills the array, of which the length is told; the others take nothing.
            unsafe {
                let count = libc::getgroups(groups.len() as i32, groups.as_mut_ptr());
                groups.truncate(usize::try_from(count).unwrap_or(0));
                Person { user: libc::geteuid(), group: libc::getegid(), groups }
            }
        })
    }

    /// The calling thread is him. By the calls themselves: the library's are for all threads.
    fn become_him(&self) -> io::Result<()> {
        let Person { user, group, groups } = self;
        const SAME: u32 = u32::MAX;
        // SAFETY: take numbers, and an array of which the length is told.
        unsafe {
            done(libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()))?;
            done(libc::syscall(libc::SYS_setresgid, SAME, *group, SAME))?;
            done(libc::syscall(libc::SYS_setresuid, SAME, *user, SAME))
        }
    }
}

/// Does it as `other`, or as who we are, with the rights that those in the sandbox have. An error: that
/// could not be.
pub fn act_as<T>(other: Option<&Person>, act: impl FnOnce() -> T) -> io::Result<T> {
    let user = other.unwrap_or(Person::own()).user;
    let result = other.map_or(Ok(()), Person::become_him);
    let result = result.and_then(|()| privileges::lower(user)).map(|()| act());
    if other.is_some() {
        // SAFETY: takes numbers. Root again first, who may be anybody.
        unsafe { libc::syscall(libc::SYS_setresuid, u32::MAX, 0, u32::MAX) };
    }
    let restored =
        privileges::raise().and_then(|()| other.map_or(Ok(()), |_| Person::own().become_him()));
    if restored.is_err() {
        // Somebody else's rights are not to be those of the next one.
        std::process::abort();
    }
    result
}

fn done(result: i64) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
