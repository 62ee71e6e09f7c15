//! Decisions on programs that commands execute: the kernel asks the warden about each call.
//!
//! What a call would execute is judged by the file itself, not by its name, and where something may be denied the
//! process is held until it is certain that this is what it has executed: see `hold`.

mod ancestry;
mod attempt;
mod file;
mod hold;
mod known;
mod loader;
mod program;
mod questions;
mod rules;
mod running;
mod word;

use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use forkline_protocol::{ExecAnswer, ExecAsk, LONGEST_ASK};

use crate::sandbox::calls::Executing;
use crate::sandbox::exec::plan::{ExecDecision, ExecPlan, ToldPrograms};
use crate::sandbox::notices::{Listener, Notice};
use crate::sandbox::warden::caller::{Caller, link_of};
use crate::sandbox::warden::gate::Teller;
use crate::sandbox::warden::lines::Telling;
use ancestry::{Ancestry, leader};
use attempt::Attempt;
use file::{FileStamp, ProgramFile};
use hold::{CallEnd, HeldCaller};
use loader::Loaders;
use program::{Chain, Program};
pub use questions::Questions;
use rules::{ExecRules, Executor, Verdict};
use word::{ExecReason, ToldProgram};

/// Decides on programs.
pub struct Executions {
    rules: ExecRules,
    loaders: Loaders,
    tells_all: bool,
    /// Whether a program may be denied, so that processes are held.
    holds: bool,
    patience: Duration,
    /// forkline's own program, which starts commands.
    launcher: Option<FileStamp>,
    questions: Arc<Questions>,
}

/// The process that executes a program.
struct ExecCaller {
    pid: i32,
    parent: i32,
    /// The cradle of its command. None: it is of none.
    cradle: Option<i32>,
    by: Executor,
    ancestry: Ancestry,
}

impl Executions {
    /// None: the plan has no decisions, or its expressions are not valid. The working directory must be `/proc`.
    pub fn of(plan: &ExecPlan, questions: Arc<Questions>) -> Option<Executions> {
        let told = plan.told?;
        Some(Executions {
            rules: ExecRules::new(plan)?,
            loaders: Loaders::find(),
            tells_all: told == ToldPrograms::All,
            holds: plan.can_refuse(),
            patience: plan.patience,
            launcher: ProgramFile::at(Path::new("self/exe")).map(|file| file.stamp),
            questions,
        })
    }

    /// Answers a call. `while_asking` is called around the wait for an answer of the host.
    pub fn answer(
        &self,
        listener: &Listener,
        notice: Notice,
        how: Executing,
        telling: &Telling,
        while_asking: impl Fn(bool),
    ) {
        let thread = notice.pid as i32;
        let chain = Caller::of(thread).and_then(|caller| {
            let attempt = Attempt::read(&caller, &notice, how)?;
            Chain::of(&caller, attempt, &self.loaders)
        });
        let chain = match chain {
            Ok(chain) => chain,
            Err(errno) => return listener.answer(&notice, Err(errno)),
        };
        let caller = self.caller(thread, telling);
        if !listener.stands(&notice) {
            return;
        }
        let verdict = self.rules.judge(&chain, caller.by);
        let decided = Decided { telling, caller: &caller, chain: &chain, verdict: &verdict };
        let reason = if verdict.is_by_rule { ExecReason::Rule } else { ExecReason::Otherwise };
        match verdict.decision {
            ExecDecision::Allow => self.go_on(listener, &notice, &decided, reason),
            ExecDecision::Deny => decided.deny(listener, &notice, reason),
            ExecDecision::Ask => {
                while_asking(true);
                self.ask(listener, notice, &decided);
                while_asking(false);
            }
        }
    }

    fn caller(&self, thread: i32, telling: &Telling) -> ExecCaller {
        let pid = leader(thread);
        let cradle = telling.cradle_of(pid);
        let parent = ancestry::parent(pid).unwrap_or(0);
        let own = ProgramFile::at(Path::new(&format!("{pid}/exe")));
        let is_launcher =
            own.zip(self.launcher).is_some_and(|(own, of)| own.stamp.is_same_file(&of));
        let is_start = is_launcher && (Some(parent) == cradle || cradle.is_none());
        let by = if is_start { Executor::Launcher } else { Executor::Command };
        ExecCaller { pid, parent, cradle, by, ancestry: Ancestry::of(pid, cradle) }
    }

    fn ask(&self, listener: &Listener, notice: Notice, decided: &Decided) {
        let ask = decided.question();
        let Some(cradle) = decided.caller.cradle else {
            return decided.deny(listener, &notice, ExecReason::Unasked);
        };
        if size_of_ask(&ask) > LONGEST_ASK {
            return decided.deny(listener, &notice, ExecReason::Long);
        }
        // A thread waits for the answer to this very call already.
        let Some(notice) = self.questions.resume(notice, &ask) else { return };
        let lifeline = decided.telling.lifeline.as_fd();
        let asked = (cradle, &ask, self.patience);
        let answered = self.questions.ask(listener, lifeline, notice, asked);
        let notice = &answered.notice;
        match answered.answer {
            None => {}
            Some(ExecAnswer::Allow) => self.go_on(listener, notice, decided, ExecReason::Asked),
            Some(ExecAnswer::Deny) => decided.deny(listener, notice, ExecReason::Asked),
            Some(ExecAnswer::Unasked) => decided.deny(listener, notice, ExecReason::Unasked),
            Some(ExecAnswer::Unanswered) => decided.deny(listener, notice, ExecReason::Unanswered),
        }
    }

    /// Has the call continue, and sees to it that nothing else is executed.
    fn go_on(&self, listener: &Listener, notice: &Notice, decided: &Decided, reason: ExecReason) {
        let tells = self.tells_all || reason == ExecReason::Asked;
        if !self.holds {
            if tells {
                decided.tell(true, reason, false);
            }
            return listener.go_on(notice);
        }
        let Ok(held) = HeldCaller::seize(notice.pid as i32) else {
            return decided.deny(listener, notice, ExecReason::Traced);
        };
        // From here on the number is that of the caller, as it was if it still waits.
        if listener.stands(notice) {
            listener.go_on(notice);
        }
        let CallEnd::Executed(pid) = held.wait() else { return };
        if self.is_executed(pid, decided) {
            if tells {
                decided.tell(true, reason, decided.chain.is_certain);
            }
            return hold::release(pid, 0);
        }
        decided.tell(false, ExecReason::Raced, true);
        hold::kill(pid);
    }

    /// Returns whether a stopped process executes what was judged, or what may be executed anyway.
    fn is_executed(&self, pid: i32, decided: &Decided) -> bool {
        let Some(program) = running::program(pid) else { return false };
        let Chain { last: expected, others, .. } = decided.chain;
        let is_expected =
            program.file.stamp == expected.file.stamp && program.argv == expected.argv;
        // The bytes of a file may be others than those judged, at the same times.
        if is_expected && program.file.is_kept() {
            return true;
        }
        let Ok(caller) = Caller::of(pid) else { return false };
        let chain = Chain::of_running(&caller, program, &self.loaders);
        if !is_expected {
            return self.rules.judge(&chain, Executor::Command).decision == ExecDecision::Allow;
        }
        // What runs a script is held to rules only.
        let by = if others.is_empty() { decided.caller.by } else { Executor::Launcher };
        self.rules.judge(&chain, by).decision <= decided.verdict.decision
    }
}

/// A decision, and what is told of it.
struct Decided<'call> {
    telling: &'call Telling,
    caller: &'call ExecCaller,
    chain: &'call Chain,
    verdict: &'call Verdict,
}

impl Decided<'_> {
    fn deny(&self, listener: &Listener, notice: &Notice, reason: ExecReason) {
        self.tell(false, reason, true);
        listener.answer(notice, Err(libc::EACCES));
    }

    fn tell(&self, is_allowed: bool, reason: ExecReason, is_exact: bool) {
        let Some(cradle) = self.caller.cradle else { return };
        let Program { file, argv, .. } = &self.chain.main;
        let by = match self.caller.by {
            Executor::Launcher => b"",
            Executor::Command => self.caller.ancestry.worker(),
        };
        let told = ToldProgram {
            is_allowed,
            reason,
            is_exact,
            pid: self.caller.pid,
            parent: self.caller.parent,
            program: file.path.as_os_str().as_bytes(),
            by,
            say: if is_allowed { "" } else { &self.verdict.say },
            argv,
        };
        self.telling.tell(cradle, told.word());
    }

    fn question(&self) -> ExecAsk {
        let Program { file, argv, .. } = &self.chain.main;
        let ExecCaller { pid, parent, ancestry, .. } = self.caller;
        let directory = link_of(&format!("{pid}/cwd")).unwrap_or_default();
        ExecAsk {
            pid: *pid,
            parent: *parent,
            program: file.path.as_os_str().as_bytes().to_owned(),
            directory: directory.into_os_string().into_vec(),
            say: self.verdict.say.clone().into_bytes(),
            parents: ancestry.0.clone(),
            argv: argv.clone(),
        }
    }
}

fn size_of_ask(ask: &ExecAsk) -> usize {
    const NUMBER: usize = size_of::<u64>();
    let parents: usize = ask.parents.iter().map(|(_, program)| 2 * NUMBER + program.len()).sum();
    let argv: usize = ask.argv.iter().map(|argument| NUMBER + argument.len()).sum();
    8 * NUMBER + ask.program.len() + ask.directory.len() + ask.say.len() + parents + argv
}
