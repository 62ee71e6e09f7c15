//! The process that executes a program. What is read of it is read when it is needed.

use std::cell::OnceCell;

use crate::cradle::roster;
use crate::sandbox::warden::exec::ancestry::{self, Ancestry};
use crate::sandbox::warden::exec::program::file::FileStamp;
use crate::sandbox::warden::gate::Teller;
use crate::sandbox::warden::lines::Telling;

/// Who executes a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executor {
    /// A process of a command.
    Command,
    /// forkline itself, which starts a command: only rules hold.
    Launcher,
    /// forkline itself, which tries its sandbox before there is a command: nothing is denied.
    Trial,
}

pub struct ExecCaller<'call> {
    thread: i32,
    pub telling: &'call Telling,
    leader: OnceCell<i32>,
    cradle: OnceCell<Option<i32>>,
    worker: OnceCell<Vec<u8>>,
}

impl ExecCaller<'_> {
    pub fn new(thread: i32, telling: &Telling) -> ExecCaller<'_> {
        let (leader, cradle, worker) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        ExecCaller { thread, telling, leader, cradle, worker }
    }

    /// `launcher`: forkline's own program, which a cradle's child has not left yet.
    pub fn executor(&self, launcher: Option<FileStamp>) -> Executor {
        let own = FileStamp::at(&format!("{}/exe", self.thread));
        let is_own = own.zip(launcher).is_some_and(|(own, launcher)| own.is_same_file(&launcher));
        match self.cradle() {
            None if is_own && roster::is_unused() => Executor::Trial,
            Some(cradle) if is_own && cradle == self.parent() => Executor::Launcher,
            _ => Executor::Command,
        }
    }

    /// Returns the process that the thread belongs to.
    pub fn pid(&self) -> i32 {
        *self.leader.get_or_init(|| ancestry::leader(self.thread))
    }

    pub fn parent(&self) -> i32 {
        ancestry::parent(self.pid()).unwrap_or(0)
    }

    /// Returns the cradle of its command. None: it is of none.
    pub fn cradle(&self) -> Option<i32> {
        *self.cradle.get_or_init(|| self.telling.cradle_of(self.pid()))
    }

    pub fn ancestry(&self) -> Ancestry {
        Ancestry::of(self.pid(), self.cradle())
    }

    /// Returns the name of the program that is at work: first called while the process has not executed another one.
    pub fn worker(&self) -> &[u8] {
        self.worker.get_or_init(|| self.ancestry().worker().to_owned())
    }

    /// Does so where it has executed another one.
    pub fn worker_above(&self) -> &[u8] {
        let above = || Ancestry::of(self.parent(), self.cradle()).worker().to_owned();
        self.worker.get_or_init(above)
    }
}
