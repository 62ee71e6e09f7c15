//! The state of a keeper's sandbox, as the keeper has reported it.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use forkline_protocol::{ExecWords, PortNews};
use parking_lot::Mutex;

use crate::command::errors::{LaunchError, Step};

/// The sandbox that a keeper sets up.
pub struct Sandbox {
    /// The plan, in the format that the keeper reads.
    pub plan: Arc<[u8]>,
    enforced: OnceLock<String>,
    /// The directory of the sandbox's own pseudo-terminals, if it has one.
    pub terminals: OnceLock<OwnedFd>,
    /// Whether a sandbox with this plan has ever been set up.
    stood: Arc<AtomicBool>,
    /// Whether this sandbox replaces an earlier one, and no command has been told so yet.
    is_renewed: AtomicBool,
    refused: OnceLock<LaunchError>,
    /// The hidden paths, with device and inode at the time of the set-up.
    hidden: Vec<(PathBuf, Option<(u64, u64)>)>,
    /// Denied accesses, each with the process id of the cradle whose command made it.
    denied: Mutex<Vec<(i32, String)>>,
    /// The programs that were executed or denied, by the process id of the cradle whose command did it.
    executed: Mutex<HashMap<i32, ExecWords>>,
    /// The published ports, each with the process id of the cradle whose command listens.
    ports: Mutex<Vec<(i32, String)>>,
}

/// The most denied accesses that are kept, and the most ports of each command.
const MOST_DENIED: usize = 256;
/// The most changes that were held back, of which the ids are kept: there are no more.
const MOST_HELD: usize = 1000;

impl Sandbox {
    /// Makes the state of a sandbox that is not set up yet. `stood`: whether one with this plan has been.
    pub fn new(plan: Arc<[u8]>, stood: Arc<AtomicBool>) -> Sandbox {
        let hidden = hidden_in(&plan).map(|path| (path.to_owned(), identity(path))).collect();
        Sandbox {
            hidden,
            plan,
            enforced: OnceLock::new(),
            terminals: OnceLock::new(),
            is_renewed: AtomicBool::new(stood.load(Ordering::SeqCst)),
            stood,
            refused: OnceLock::new(),
            denied: Mutex::default(),
            executed: Mutex::default(),
            ports: Mutex::default(),
        }
    }

    /// Notes that the sandbox is set up: each of its rules, and the means that enforce it.
    pub fn set_enforced(&self, enforced: String) {
        let _ = self.enforced.set(enforced);
        self.stood.store(true, Ordering::SeqCst);
    }

    /// Returns whether a file that is hidden by its inode, and not by its name, has been replaced since.
    pub fn has_stale_hidden(&self) -> bool {
        let is_by_mount = self.enforced.get().is_some_and(|lines| lines.contains("read=mount"));
        is_by_mount && self.hidden.iter().any(|(path, known)| identity(path) != *known)
    }

    /// Returns whether the sandbox should have a proxy and was set up without one. It can't get one later.
    pub fn is_unserved(&self) -> bool {
        let is_without = |lines: &String| lines.contains("network=namespace");
        self.is_to_be_served() && self.enforced.get().is_some_and(is_without)
    }

    /// Returns whether the sandbox should have a proxy and is not set up yet.
    pub fn may_be_unserved(&self) -> bool {
        self.is_to_be_served() && self.enforced.get().is_none()
    }

    fn is_to_be_served(&self) -> bool {
        self.plan.split(|byte| *byte == 0).step_by(2).any(|word| word == b"proxy")
    }

    /// Returns how long a program may wait for the host's answer; zero: the host is not asked.
    pub fn longest_ask(&self) -> Duration {
        let mut fields = self.plan.split(|byte| *byte == 0);
        let value = fields.find(|word| *word == b"exec-ask-ms").and_then(|_| fields.next());
        let number = value.and_then(|digits| str::from_utf8(digits).ok()?.parse().ok());
        Duration::from_millis(number.unwrap_or(0))
    }

    /// Notes that the command of this cradle was denied an access, that a port of it was opened or closed, that it
    /// has executed a program, or that an agent of the user has signed for it: no number of denials hides that.
    pub fn add_denied(&self, cradle: i32, what: String) {
        if ExecWords::is_one(&what) {
            self.executed.lock().entry(cradle).or_default().add(what);
            return;
        }
        if let Some(news) = PortNews::of(&what) {
            return self.note_port(cradle, news);
        }
        let mut denied = self.denied.lock();
        if is_held(&what) {
            let count = denied.iter().filter(|(_, known)| is_held(known)).count();
            // Of very many the first have been displaced.
            let first = denied.iter().position(|(_, known)| is_held(known));
            if let Some(first) = first.filter(|_| count >= MOST_HELD) {
                denied.remove(first);
            }
            return denied.push((cradle, what));
        }
        let count = denied.iter().filter(|(_, known)| !is_held(known)).count();
        let is_kept = count < MOST_DENIED || what.starts_with("signed=");
        let one = (cradle, what);
        if is_kept && !denied.contains(&one) {
            denied.push(one);
        }
    }

    fn note_port(&self, cradle: i32, news: PortNews) {
        let mut ports = self.ports.lock();
        let (PortNews::Open(word) | PortNews::Closed(word)) = news;
        ports.retain(|(number, known)| *number != cradle || known != word);
        // A command is not the less told for what others listen on.
        let count = ports.iter().filter(|(number, _)| *number == cradle).count();
        if matches!(news, PortNews::Open(_)) && count < MOST_DENIED {
            ports.push((cradle, word.to_owned()));
        }
    }

    /// Notes that no process of the command of this cradle is left, so that none listens.
    pub fn forget_ports(&self, cradle: i32) {
        self.ports.lock().retain(|(number, _)| *number != cradle);
    }

    /// Returns each rule and the means that enforce it, the accesses that the command of this cradle was
    /// denied and the programs that it has executed since the last call, the ports of it that are published, and, once,
    /// `renewed=yes` if the sandbox replaces another. None: it is not known to be set up.
    pub fn take_report(&self, cradle: i32) -> Option<String> {
        let mut report = self.enforced.get()?.clone();
        for what in self.take_denied(cradle) {
            report.push(' ');
            report.push_str(&what);
        }
        for (_, port) in self.ports.lock().iter().filter(|(number, _)| *number == cradle) {
            report.push(' ');
            report.push_str(port);
        }
        if self.is_renewed.swap(false, Ordering::SeqCst) {
            report.push_str(" renewed=yes");
        }
        Some(report)
    }

    /// Takes the accesses that the command of this cradle was denied, and the programs that it has executed, since
    /// the last call.
    pub fn take_denied(&self, cradle: i32) -> Vec<String> {
        let of_cradle = |(number, _): &mut (i32, String)| *number == cradle;
        let executed = self.executed.lock().remove(&cradle);
        let mut denied = self.denied.lock();
        let told = denied.extract_if(.., of_cradle).map(|(_, what)| what);
        told.chain(executed.into_iter().flat_map(ExecWords::finish)).collect()
    }

    /// Notes why the sandbox can't be set up.
    pub fn set_refused(&self, errno: i32, subject: String) {
        let _ = self.refused.set(LaunchError { step: Step::Sandbox, errno, subject, why: None });
    }

    /// Returns why the sandbox can't be set up.
    pub fn refusal(&self) -> Option<LaunchError> {
        self.refused.get().cloned()
    }
}

/// Returns whether the id of a change that was held back is told, and no denial.
fn is_held(what: &str) -> bool {
    what.starts_with("held=")
}

/// Returns the paths that a plan hides.
fn hidden_in(plan: &[u8]) -> impl Iterator<Item = &Path> {
    let mut fields = plan.split(|byte| *byte == 0);
    let mut entries = std::iter::from_fn(move || Some((fields.next()?, fields.next()?)));
    std::iter::from_fn(move || entries.find(|(word, _)| *word == b"hide"))
        .map(|(_, path)| Path::new(OsStr::from_bytes(path)))
}

/// Returns device and inode. None: there is no such file.
fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_changes_that_were_held_back_the_last_are_told() {
        let sandbox = Sandbox::new(Arc::new([]), Arc::default());
        for number in 0..MOST_HELD + 7 {
            sandbox.add_denied(1, format!("held={number}"));
        }
        for number in 0..MOST_DENIED + 7 {
            sandbox.add_denied(1, format!("socket={number}"));
        }
        let told = sandbox.take_denied(1);
        assert_eq!(told.len(), MOST_HELD + MOST_DENIED);
        assert_eq!((&*told[0], &*told[MOST_HELD - 1]), ("held=7", "held=1006"));
        assert_eq!(told.last().unwrap(), "socket=255");
    }

    #[test]
    fn each_command_is_told_of_its_own_ports() {
        let sandbox = Sandbox::new(Arc::default(), Arc::default());
        sandbox.set_enforced("network=namespace".to_owned());
        for number in 0..300 {
            sandbox.add_denied(1, format!("port=9222,dangerous,{number},node,{number}"));
        }
        sandbox.add_denied(2, "port=4777,4777,5,node,300".to_owned());
        let report = |cradle| sandbox.take_report(cradle).unwrap_or_default();
        assert_eq!(report(1).matches("port=").count(), MOST_DENIED);
        assert!(report(2).ends_with(" port=4777,4777,5,node,300"));
    }

    #[test]
    fn programs_are_kept_apart_for_each_command_and_taken_once() {
        let sandbox = Sandbox::new(Arc::default(), Arc::default());
        for number in [1, 2, 1] {
            sandbox.add_denied(number, format!("exec=allow,{number}"));
        }
        sandbox.add_denied(1, "socket=40".to_owned());
        assert_eq!(sandbox.take_denied(1), ["socket=40", "exec=allow,1", "exec=allow,1"]);
        assert_eq!((sandbox.take_denied(1).len(), sandbox.take_denied(2).len()), (0, 1));
        assert_eq!(sandbox.longest_ask(), Duration::ZERO);
        let plan = b"require\0all\0exec\0rules\0exec-ask-ms\x00500\0";
        let asking = Sandbox::new(Arc::from(&plan[..]), Arc::default());
        assert_eq!(asking.longest_ask(), Duration::from_millis(500));
    }

    #[test]
    fn s3_files_hidden_by_mounts_are_compared_by_inode() {
        let path = std::env::temp_dir().join(format!("forkline-hidden-{}", std::process::id()));
        std::fs::write(&path, "").unwrap();
        let plan = format!("require\0all\0write\0/w\0hide\0{}\0show\0/s\0", path.display());
        assert_eq!(hidden_in(plan.as_bytes()).collect::<Vec<_>>(), [&*path]);
        let plan: Arc<[u8]> = plan.as_bytes().into();
        let of = |enforced: &str| {
            let sandbox = Sandbox::new(plan.clone(), Arc::default());
            sandbox.set_enforced(enforced.to_owned());
            sandbox
        };
        let (held, mounted) = (of("read=namespace"), of("write=namespace read=mount"));
        assert_eq!((held.has_stale_hidden(), mounted.has_stale_hidden()), (false, false));
        let next = path.with_extension("next");
        std::fs::write(&next, "").unwrap();
        std::fs::rename(&next, &path).unwrap();
        assert_eq!((held.has_stale_hidden(), mounted.has_stale_hidden()), (false, true));
        std::fs::remove_file(&path).unwrap();
    }
}
