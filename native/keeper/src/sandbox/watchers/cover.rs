//! Names in writable directories whose files are protected or hidden by mounts. When a process outside
//! replaces such a file while commands run, the kernel removes the mount. A process beside the sandbox
//! notices that, and mounts over the new file, some microseconds later.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::{self, PipeWriter, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::exit;

use crate::sandbox::mounts::{Tree, mount_new};
use crate::sandbox::place;
use crate::sandbox::plan::{Access, Plan, Repository};
use crate::sandbox::warden::GuardedSandbox;
use crate::sandbox::watchers::settler::Settler;
use crate::sandbox::watchers::{enter, listen};
use crate::signals;

/// The process.
pub struct CoverProcess {
    pub pid: i32,
    /// The settings that it changes when it is asked to.
    pub settled: Vec<PathBuf>,
}

/// What is handed to it for changes to settings.
pub struct SettlerInput {
    /// Where the warden asks for them.
    pub requests: OwnedFd,
    /// Git's directories, as they are seen without their covers.
    pub beneath: Vec<(PathBuf, OwnedFd)>,
}

/// A name, and how it is covered.
struct Covered {
    path: PathBuf,
    is_hidden: bool,
}

/// Starts the process as a child of this one, with which it ends, and waits until it watches. None: there
/// is no such name.
///
/// `requests`: where the warden asks for changes to settings, and git's directories without their covers.
pub fn start(
    guarded: &GuardedSandbox,
    requests: Option<SettlerInput>,
) -> io::Result<Option<CoverProcess>> {
    let names = names(&guarded.plan.resolved());
    if names.is_empty() && requests.is_none() {
        return Ok(None);
    }
    let repositories = &guarded.plan.repositories;
    let (mut watching, told) = io::pipe()?;
    // SAFETY: takes nothing.
    let parent = unsafe { libc::getpid() };
    // SAFETY: there is one thread, so the child has everything that its parent had.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let _ =
                enter(guarded, parent).and_then(|()| watch(&names, repositories, told, requests));
            exit(1)
        }
        pid => {
            drop(told);
            // Empty if the process has ended: then a replaced file is covered for the next command only.
            let mut settled = Vec::new();
            let _ = watching.read_to_end(&mut settled);
            let settled = settled.split(|byte| *byte == 0).filter(|path| !path.is_empty());
            let settled = settled.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect();
            Ok(Some(CoverProcess { pid, settled }))
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
    let settings = plan.repositories.iter().flat_map(|repository| &repository.settings);
    let absent = settings.filter(|path| plan.rules.iter().all(|rule| rule.path != **path));
    let absent = absent.map(|path| Covered { path: path.clone(), is_hidden: false });
    covered.chain(absent).collect()
}

/// Closes all descriptors of the parent but these.
fn close_all_but(kept: &[BorrowedFd]) {
    let mut kept: Vec<u32> = kept.iter().map(|file| file.as_raw_fd() as u32).collect();
    kept.sort_unstable();
    let mut first = 0;
    for number in kept.into_iter().chain([u32::MAX]) {
        if first < number {
            close_range(first, number - 1);
        }
        first = number.saturating_add(1);
    }
}

fn close_range(first: u32, last: u32) {
    // SAFETY: take numbers only; nothing uses the closed descriptors.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, last, 0) != 0 {
            for number in first..=last.min(1024) {
                libc::close(number as i32);
            }
        }
    }
}

/// Covers uncovered names, whenever an entry appears in one of the directories, and changes settings.
fn watch(
    names: &[Covered],
    repositories: &[Repository],
    mut told: PipeWriter,
    requests: Option<SettlerInput>,
) -> io::Result<()> {
    const COMES: u32 = libc::IN_MOVED_TO | libc::IN_CREATE | libc::IN_ONLYDIR;
    let directories: HashSet<&Path> = names.iter().filter_map(|name| name.path.parent()).collect();
    let mut events = listen(directories.into_iter(), COMES)?;
    let settling = requests.and_then(|SettlerInput { requests, beneath }| {
        let (settler, settled) = Settler::new(repositories, &beneath).ok()?;
        Some((settler, settled, requests))
    });
    let settled = settling.iter().flat_map(|(_, settled, _)| settled);
    let settled: Vec<_> = settled.map(|path| path.as_os_str().as_bytes()).collect();
    told.write_all(&settled.join(&0))?;
    drop(told);
    let mut open = vec![events.as_fd()];
    if let Some((settler, _, requests)) = &settling {
        open.extend(settler.descriptors().chain([requests.as_fd()]));
    }
    close_all_but(&open);
    let mut buffer = [0; 4096];
    let cover = || {
        for name in names {
            // A file that is gone again, or a link, is not covered.
            let _ = name.cover();
        }
    };
    cover();
    loop {
        let requests = settling.as_ref().map(|(.., requests)| (requests.as_fd(), libc::POLLIN));
        let [has_events, has_request] =
            signals::wait([Some((events.as_fd(), libc::POLLIN)), requests], None);
        if has_events != 0 {
            if events.read(&mut buffer)? == 0 {
                return Ok(());
            }
            cover();
        }
        if let Some((settler, _, requests)) = settling.as_ref().filter(|_| has_request != 0)
            && !settler.serve(requests)
        {
            return Ok(());
        }
    }
}

impl Covered {
    fn cover(&self) -> io::Result<()> {
        let there = place::open(&self.path)?;
        let above = place::open(self.path.parent().unwrap_or(Path::new("/")))?;
        if place::mount_of(&there)? != place::mount_of(&above)? {
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
