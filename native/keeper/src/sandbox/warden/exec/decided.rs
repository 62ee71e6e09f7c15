//! A decision on a call, and what is told of it.

use std::os::unix::ffi::{OsStrExt, OsStringExt};

use forkline_protocol::ExecAsk;

use crate::sandbox::notices::{Listener, Notice};
use crate::sandbox::warden::caller::link_of;
use crate::sandbox::warden::exec::caller::{ExecCaller, Executor};
use crate::sandbox::warden::exec::program::Program;
use crate::sandbox::warden::exec::program::chain::Chain;
use crate::sandbox::warden::exec::rules::ExecVerdict;
use crate::sandbox::warden::exec::word::{ExecReason, ToldProgram};
use crate::sandbox::warden::gate::Teller;

pub struct Decided<'call> {
    pub caller: &'call ExecCaller<'call>,
    pub by: Executor,
    pub chain: &'call Chain,
    pub verdict: &'call ExecVerdict,
}

impl Decided<'_> {
    /// Ends the call with EACCES.
    pub fn deny(&self, listener: &Listener, notice: &Notice, reason: ExecReason) {
        self.tell(false, reason, true);
        listener.answer(notice, Err(libc::EACCES));
    }

    pub fn tell(&self, is_allowed: bool, reason: ExecReason, is_exact: bool) {
        let Some(cradle) = self.caller.cradle() else { return };
        let Program { file, argv, .. } = &self.chain.main;
        let by = match (self.by, reason) {
            (Executor::Launcher | Executor::Trial, _) => b"",
            (Executor::Command, ExecReason::Raced) => self.caller.worker_above(),
            (Executor::Command, _) => self.caller.worker(),
        };
        let told = ToldProgram {
            is_allowed,
            reason,
            is_exact,
            pid: self.caller.pid(),
            parent: self.caller.parent(),
            program: file.path.as_os_str().as_bytes(),
            by,
            say: if is_allowed { "" } else { &self.verdict.say },
            argv,
        };
        self.caller.telling.tell(cradle, told.word());
    }

    pub fn question(&self) -> ExecAsk {
        let Program { file, argv, .. } = &self.chain.main;
        let pid = self.caller.pid();
        let directory = link_of(&format!("{pid}/cwd")).unwrap_or_default();
        ExecAsk {
            pid,
            parent: self.caller.parent(),
            program: file.path.as_os_str().as_bytes().to_owned(),
            directory: directory.into_os_string().into_vec(),
            say: self.verdict.say.clone().into_bytes(),
            parents: self.caller.ancestry().programs(),
            argv: argv.clone(),
        }
    }
}
