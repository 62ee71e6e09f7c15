//! Names in writable directories whose files are protected or hidden by mounts. When a process outside
//! replaces such a file while commands run, the kernel removes the mount. A process beside the sandbox
//! notices that, and mounts over the new file, some microseconds later.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, PipeWriter, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::exit;

use crate::sandbox::mounts::{Tree, mount_new};
use crate::sandbox::place;
use crate::sandbox::plan::{Access, Plan};
use crate::sandbox::warden::GuardedSandbox;
use crate::sandbox::watchers::{done, enter, listen};

/// A name, and how it is covered.
struct Covered {
    path: PathBuf,
    is_hidden: bool,
}

/// Starts the process as a child of this one, with which it ends, and waits until it watches. None: there
/// is no such name.
pub fn start(guarded: &GuardedSandbox) -> io::Result<Option<i32>> {
    let names = names(&guarded.plan.resolved());
    if names.is_empty() {
        return Ok(None);
    }
    let (mut watching, told) = io::pipe()?;
    // SAFETY: takes nothing.
    let parent = unsafe { libc::getpid() };
    // SAFETY: there is one thread, so the child has everything that its parent had.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let _ = enter(guarded, parent).and_then(|()| watch(&names, told));
            exit(1)
        }
        pid => {
            drop(told);
            // Empty if the process has ended: then a replaced file is covered for the next command only.
            let _ = watching.read(&mut [0]);
            Ok(Some(pid))
        }
    }
}

/// Returns the names to be covered. Other files can't be replaced from the sandbox, or are hidden by
/// overlays.
fn names(plan: &Plan) -> Vec<Covered> {
    let writable: Vec<&Path> = plan.paths(Access::Write).collect();
    let kinds = [Access::Keep, Access::Hide, Access::Git];
    let rules = plan.rules.iter().filter(|rule| kinds.contains(&rule.access));
    let within = rules.filter(|rule| {
        writable.iter().any(|root| rule.path.starts_with(root) && rule.path != **root)
    });
    let covered = within
        .map(|rule| Covered { path: rule.path.clone(), is_hidden: rule.access == Access::Hide });
    covered.collect()
}

/// Closes all descriptors of the parent but one.
fn close_all_but(kept: &File) -> io::Result<()> {
    // SAFETY: take numbers only; nothing uses the closed descriptors, which can't be opened again. What
    // is kept is not used by its old number any more.
    unsafe {
        done(libc::dup2(kept.as_raw_fd(), 0))?;
        if libc::syscall(libc::SYS_close_range, 1, u32::MAX, 0) != 0 {
            for number in 1..1024 {
                libc::close(number);
            }
        }
    }
    Ok(())
}

/// Covers uncovered names, whenever an entry appears in one of the directories.
fn watch(names: &[Covered], mut told: PipeWriter) -> io::Result<()> {
    const COMES: u32 = libc::IN_MOVED_TO | libc::IN_CREATE | libc::IN_ONLYDIR;
    let directories: HashSet<&Path> = names.iter().filter_map(|name| name.path.parent()).collect();
    let events = listen(directories.into_iter(), COMES)?;
    told.write_all(b"1")?;
    close_all_but(&events)?;
    // The descriptor is number 0 now, and its old number is closed.
    std::mem::forget((events, told));
    // SAFETY: the descriptor was just made by the call above; nothing else owns it.
    let mut events = unsafe { File::from_raw_fd(0) };
    let mut buffer = [0; 4096];
    loop {
        for name in names {
            // A file that is gone again, or a link, is not covered.
            let _ = name.cover();
        }
        if events.read(&mut buffer)? == 0 {
            return Ok(());
        }
    }
}

impl Covered {
    fn cover(&self) -> io::Result<()> {
        let there = place::open(&self.path)?;
        let above = place::open(self.path.parent().unwrap_or(Path::new("/")))?;
        if mount_of(&there)? != mount_of(&above)? {
            return Ok(());
        }
        let is_directory = place::status(&there)?.st_mode & libc::S_IFMT == libc::S_IFDIR;
        match (self.is_hidden, is_directory) {
            (false, _) => Tree::copy_of(&there)?.read_only()?.attach_over(&there),
            (true, false) => {
                Tree::copy(Path::new("/dev/null"))?.without_devices()?.attach_over(&there)
            }
            // If another directory replaces it meanwhile, that one is covered.
            (true, true) => {
                let options = c"mode=111,size=4k";
                mount_new(c"tmpfs", &self.path, libc::MS_NODEV | libc::MS_RDONLY, options)
            }
        }
    }
}

/// Returns the id of the mount through which a file was opened.
fn mount_of(file: &OwnedFd) -> io::Result<u64> {
    let mut found = MaybeUninit::<libc::statx>::zeroed();
    let flags = libc::AT_EMPTY_PATH | libc::AT_SYMLINK_NOFOLLOW;
    let (number, name) = (file.as_raw_fd(), c"".as_ptr());
    // SAFETY: fills the structure, which is valid as zeros too.
    match unsafe { libc::statx(number, name, flags, libc::STATX_MNT_ID, found.as_mut_ptr()) } {
        // SAFETY: as above.
        0 => Ok(unsafe { found.assume_init() }.stx_mnt_id),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::plan::Rule;

    #[test]
    fn only_names_in_writable_directories_are_watched() {
        let rule = |access, path: &str| Rule { access, path: path.into(), identity: None };
        let rules = vec![
            rule(Access::Write, "/w"),
            rule(Access::Keep, "/w/.mcp.json"),
            rule(Access::Hide, "/w/.env"),
            rule(Access::Hide, "/home/.ssh"),
            rule(Access::Keep, "/w"),
        ];
        let found = names(&Plan { rules, ..Plan::default() });
        let found = found.iter().map(|name| (name.path.to_str().unwrap(), name.is_hidden));
        assert_eq!(found.collect::<Vec<_>>(), [("/w/.mcp.json", false), ("/w/.env", true)]);
    }
}
