//! Decisions on programs that commands execute: the kernel asks the warden about each call.
//!
//! What a call would execute is judged by the file itself, not by its name, and where something may be denied the
//! process is held until it is certain that this is what it has executed: see `hold`.

mod ancestry;
mod caller;
mod decided;
mod hold;
mod program;
mod questions;
mod recent;
mod rules;
mod word;

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use forkline_protocol::{ExecAnswer, ExecAsk, LONGEST_ASK};

use crate::sandbox::exec::plan::{ExecDecision, ExecPlan, ToldPrograms};
use crate::sandbox::filter::calls::Executing;
use crate::sandbox::notices::{Listener, Notice};
use crate::sandbox::warden::caller::Caller;
use crate::sandbox::warden::lines::Telling;
use caller::{ExecCaller, Executor};
use decided::Decided;
use hold::{CallEnd, HeldCaller};
use program::attempt::Attempt;
use program::catalogue::Catalogue;
use program::chain::Chain;
use program::file::FileStamp;
use program::running;
pub use questions::ExecQuestions;
use recent::RecentDenials;
use rules::ExecRules;
use word::ExecReason;

/// Decides on programs.
pub struct Executions {
    rules: ExecRules,
    catalogue: Catalogue,
    tells_all: bool,
    /// Whether a program may be denied, so that processes are held.
    holds: bool,
    patience: Duration,
    /// forkline's own program, which starts commands.
    launcher: Option<FileStamp>,
    questions: Arc<ExecQuestions>,
    recent: RecentDenials,
}

impl Executions {
    /// None: the plan has no decisions, or its expressions are not valid. The working directory must be `/proc`.
    pub fn of(plan: &ExecPlan, questions: Arc<ExecQuestions>) -> Option<Executions> {
        let told = plan.told?;
        Some(Executions {
            rules: ExecRules::new(plan)?,
            catalogue: Catalogue::new(plan),
            tells_all: told == ToldPrograms::All,
            holds: plan.can_refuse(),
            patience: plan.patience,
            launcher: FileStamp::at("self/exe"),
            questions,
            recent: RecentDenials::default(),
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
        let process = match Caller::of(notice.pid as i32) {
            Ok(process) => process,
            Err(errno) => return listener.answer(&notice, Err(errno)),
        };
        let attempt = Attempt::read(&process, &notice, how);
        let chain = attempt.and_then(|attempt| Chain::of(&process, attempt, &self.catalogue));
        let chain = match chain {
            Ok(chain) => chain,
            Err(errno) if self.holds => return listener.answer(&notice, Err(errno)),
            // Nothing may be denied, so the kernel decides: the memory of some callers can't be read.
            Err(_) => return listener.go_on(&notice),
        };
        let caller = &ExecCaller::new(process, telling);
        let by = caller.executor(self.launcher, &chain);
        if !listener.stands(&notice) {
            return;
        }
        let verdict = self.rules.judge(&chain, by);
        let decided = Decided { caller, by, chain: &chain, verdict: &verdict };
        let reason = if verdict.is_by_rule { ExecReason::Rule } else { ExecReason::Otherwise };
        match verdict.decision {
            ExecDecision::Allow => self.go_on(listener, &notice, &decided, reason),
            // Told already.
            _ if self.recent.has(notice.pid, &chain.main) => {
                listener.answer(&notice, Err(libc::EACCES));
            }
            ExecDecision::Deny => self.deny(listener, &notice, &decided, reason),
            ExecDecision::Ask => {
                while_asking(true);
                self.ask(listener, notice, &decided);
                while_asking(false);
            }
        }
    }

    fn ask(&self, listener: &Listener, notice: Notice, decided: &Decided) {
        let ask = decided.question();
        let Some(cradle) = decided.caller.cradle() else {
            return self.deny(listener, &notice, decided, ExecReason::Unasked);
        };
        if size_of_ask(&ask) > LONGEST_ASK {
            return self.deny(listener, &notice, decided, ExecReason::Long);
        }
        // A thread waits for the answer to this very call already.
        let Some(notice) = self.questions.resume(notice, &ask) else { return };
        let lifeline = decided.caller.telling.lifeline.as_fd();
        let asked = (cradle, &ask, self.patience);
        let answered = self.questions.ask(listener, lifeline, notice, asked);
        let notice = &answered.notice;
        match answered.answer {
            None => {}
            Some(ExecAnswer::Allow) => self.go_on(listener, notice, decided, ExecReason::Asked),
            Some(ExecAnswer::Deny) => self.deny(listener, notice, decided, ExecReason::Asked),
            Some(ExecAnswer::Unasked) => self.deny(listener, notice, decided, ExecReason::Unasked),
            Some(ExecAnswer::Unanswered) => {
                self.deny(listener, notice, decided, ExecReason::Unanswered)
            }
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
        if !decided.chain.last.file.is_readable() {
            return self.deny(listener, notice, decided, ExecReason::Unread);
        }
        if tells {
            decided.caller.worker();
        }
        let Ok(held) = HeldCaller::seize(notice.pid as i32) else {
            return self.answer_traced(listener, notice, decided);
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
        // The call was perhaps that of a thread whose number is gone.
        let caller = &ExecCaller::new(Caller::unknown(pid), decided.caller.telling);
        Decided { caller, ..*decided }.tell(false, ExecReason::Raced, true);
        hold::kill(pid);
    }

    /// Answers a call of a thread that can't be held.
    fn answer_traced(&self, listener: &Listener, notice: &Notice, decided: &Decided) {
        if !listener.stands(notice) {
            // It ends: another thread of its process executes a program.
            return;
        }
        if hold::is_held(notice.pid as i32) {
            // By a thread of the warden whose call was that of a thread with the same number, and is over.
            return listener.restart(notice);
        }
        self.deny(listener, notice, decided, ExecReason::Traced);
    }

    fn deny(&self, listener: &Listener, notice: &Notice, decided: &Decided, reason: ExecReason) {
        self.recent.note(notice.pid, &decided.chain.main);
        decided.deny(listener, notice, reason);
    }

    /// Returns whether a stopped process executes what was judged, or what may be executed anyway.
    fn is_executed(&self, pid: i32, decided: &Decided) -> bool {
        let Chain { last: expected, others, .. } = decided.chain;
        let is_expected = running::is(pid, expected);
        // Otherwise the bytes of the file may be others than those judged, at the same times.
        if is_expected && expected.file.is_kept() {
            return true;
        }
        let Some(program) = running::program(pid, &self.catalogue) else { return false };
        let Ok(caller) = Caller::of(pid) else { return false };
        let chain = Chain::of_running(&caller, program, &self.catalogue);
        if !is_expected {
            return self.rules.judge(&chain, Executor::Command).decision == ExecDecision::Allow;
        }
        // What runs a script is held to rules only.
        let by = if others.is_empty() { decided.by } else { Executor::Launcher };
        self.rules.judge(&chain, by).decision <= decided.verdict.decision
    }
}

fn size_of_ask(ask: &ExecAsk) -> usize {
    const NUMBER: usize = size_of::<u64>();
    let parents: usize = ask.parents.iter().map(|(_, program)| 2 * NUMBER + program.len()).sum();
    let argv: usize = ask.argv.iter().map(|argument| NUMBER + argument.len()).sum();
    8 * NUMBER + ask.program.len() + ask.directory.len() + ask.say.len() + parents + argv
}
