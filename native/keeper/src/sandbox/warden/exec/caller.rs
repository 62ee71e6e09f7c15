//! The process that executes a program. What is read of it is read when it is needed.

use std::cell::OnceCell;

use crate::cradle::roster;
use crate::sandbox::warden::caller::Caller;
use crate::sandbox::warden::exec::ancestry::Ancestry;
use crate::sandbox::warden::exec::program::chain::Chain;
use crate::sandbox::warden::exec::program::file::FileStamp;
use crate::sandbox::warden::lines::Telling;

/// The arguments, in any order, with which a command's shell executes itself again for forkline: to read its script from
/// a pipe (src/persistent-shell/script.ts), or an rc file (src/snapshot/capture-script.ts). Another one of the same
/// shell can do nothing that the first can't.
const AGAIN: [&[u8]; 2] = [b"--norc", b"--noprofile"];

/// Who executes a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executor {
    /// A process of a command.
    Command,
    /// forkline itself, which starts a command, or the shell of one that starts anew: only rules hold.
    Launcher,
    /// forkline itself, which tries its sandbox before there is a command: nothing is denied.
    Trial,
}

pub struct ExecCaller<'call> {
    pub process: Caller,
    pub telling: &'call Telling,
    ancestry: OnceCell<Ancestry>,
    worker: OnceCell<Vec<u8>>,
}

impl ExecCaller<'_> {
    pub fn new(process: Caller, telling: &Telling) -> ExecCaller<'_> {
        ExecCaller { process, telling, ancestry: OnceCell::new(), worker: OnceCell::new() }
    }

    /// `launcher`: forkline's own program, which a cradle's child has not left yet.
    pub fn executor(&self, launcher: Option<FileStamp>, chain: &Chain) -> Executor {
        let own = FileStamp::at(&format!("{}/exe", self.process.pid));
        let is_in = |file| own.zip(file).is_some_and(|(own, file)| own.is_same_file(&file));
        if starts_anew(chain) && is_in(Some(chain.main.file.stamp)) && self.is_leader() {
            return Executor::Launcher;
        }
        if !is_in(launcher) {
            return Executor::Command;
        }
        match self.cradle() {
            None if roster::is_unused() => Executor::Trial,
            Some(_) if self.is_leader() => Executor::Launcher,
            _ => Executor::Command,
        }
    }

    /// Returns whether a cradle is its parent.
    fn is_leader(&self) -> bool {
        self.cradle().is_some_and(|cradle| self.ancestry().parent() == Some(cradle))
    }

    /// Returns the id of the process, and not that of the calling thread.
    pub fn pid(&self) -> i32 {
        self.process.leader().unwrap_or(self.process.pid)
    }

    pub fn parent(&self) -> i32 {
        self.ancestry().parent().unwrap_or(self.telling.keeper)
    }

    /// Returns the cradle of its command. None: it is of none.
    pub fn cradle(&self) -> Option<i32> {
        self.ancestry().cradle
    }

    pub fn ancestry(&self) -> &Ancestry {
        self.ancestry.get_or_init(|| Ancestry::of(self.pid(), self.telling.keeper))
    }

    /// Returns the name of the program that is at work: first called while the process has not executed another one.
    pub fn worker(&self) -> &[u8] {
        self.worker.get_or_init(|| self.ancestry().worker(0))
    }

    /// Does so where it has executed another one.
    pub fn worker_above(&self) -> &[u8] {
        self.worker.get_or_init(|| self.ancestry().worker(1))
    }
}

fn starts_anew(chain: &Chain) -> bool {
    let first = chain.main.argv.get(1..3).unwrap_or_default();
    chain.others.is_empty() && AGAIN.iter().all(|argument| first.iter().any(|it| it == argument))
}
