//! The namespaces of a thread.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, open, openat, readlinkat_raw};

/// The namespaces that a thread of many can change for itself or its children. (Its mount namespace shows in
/// its root.)
const NAMES: [&str; 6] = ["cgroup", "ipc", "net", "pid_for_children", "time_for_children", "uts"];

/// Inodes of namespaces; 0: not shown.
pub type Inodes = [u64; NAMES.len()];

/// The links that show a thread's namespaces, kept open: to look one up costs a third of reading it.
pub struct NamespaceLinks {
    directory: OwnedFd,
    /// None: it could not be opened, and is looked up.
    links: [Option<OwnedFd>; NAMES.len()],
}

impl NamespaceLinks {
    /// Opens those of the calling thread. None: they are not shown.
    pub fn of_this_thread() -> Option<NamespaceLinks> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let of_all = flags | OFlags::DIRECTORY;
        let directory = open(c"/proc/thread-self/ns", of_all, Mode::empty()).ok()?;
        let links = NAMES
            .map(|name| openat(&directory, name, flags | OFlags::NOFOLLOW, Mode::empty()).ok());
        Some(NamespaceLinks { directory, links })
    }

    /// Reads the inodes from the text of the links, which is cheaper than stat.
    pub fn inodes(&self) -> Inodes {
        let mut inodes = Inodes::default();
        for ((inode, name), link) in inodes.iter_mut().zip(NAMES).zip(&self.links) {
            let mut text = [0; 64];
            let length = match link {
                Some(link) => readlinkat_raw(link, c"", &mut text),
                None => readlinkat_raw(&self.directory, name, &mut text),
            };
            *inode = inode_in(text.get(..length.unwrap_or(0)).unwrap_or_default());
        }
        inodes
    }
}

/// Returns the number in the text of a link, such as `net:[4026531833]`; 0: there is none.
fn inode_in(link: &[u8]) -> u64 {
    let digits = link.iter().filter(|byte| byte.is_ascii_digit());
    digits.fold(0, |inode, digit| inode * 10 + u64::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_is_open_shows_what_a_look_up_finds() {
        let mut links = NamespaceLinks::of_this_thread().unwrap();
        let of_open = links.inodes();
        assert_ne!(of_open, Inodes::default());
        links.links = Default::default();
        assert_eq!(links.inodes(), of_open);
    }
}
