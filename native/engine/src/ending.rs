//! Ending commands and what is left of an owner: keeps the time of each [`Termination`].

use std::time::Instant;

use crate::outcome::Cause;
use crate::process::Phase;
use crate::reactor::Reactor;
use crate::sweeper::{Answer, Job};
use crate::termination::{Next, Termination};
use crate::timers::Alarm;

impl Reactor {
    /// Begins to end a command that runs.
    pub(crate) fn terminate(&mut self, id: u64, cause: Cause) {
        let Some(process) = self.processes.get_mut(&id) else { return };
        let now = Instant::now();
        let (plan, next) = Termination::begin(process.family(), process.grace, now);
        process.phase = Phase::Ending(cause, plan);
        self.timers.cancel(id, Alarm::Deadline);
        self.timers.set(id, Alarm::Grace, now + process.grace);
        self.proceed(id, next);
    }

    pub(crate) fn grace_over(&mut self, id: u64, now: Instant) {
        if let Some(next) = self.plan(id).map(|plan| plan.force(now)) {
            self.proceed(id, next);
        }
    }

    pub(crate) fn look_again(&mut self, id: u64) {
        if let Some(next) = self.plan(id).map(|plan| plan.look(Instant::now())) {
            self.proceed(id, next);
        }
    }

    pub(crate) fn swept(&mut self, id: u64, answer: Answer) {
        match answer {
            Answer::Living(family, living) => {
                let now = Instant::now();
                if let Some(next) = self.plan(id).map(|plan| plan.swept(family, living, now)) {
                    self.proceed(id, next);
                }
            }
            Answer::Described(family, background) => self.described(id, family.known, background),
        }
    }

    fn plan(&mut self, id: u64) -> Option<&mut Termination> {
        match self.processes.get_mut(&id).map(|process| &mut process.phase) {
            Some(Phase::Ending(_, plan)) => Some(plan),
            Some(_) => None,
            None => self.disposals.plan(id),
        }
    }

    pub(crate) fn proceed(&mut self, id: u64, next: Next) {
        match next {
            Next::Sweep(family, sweep) => {
                let _ = self.sweeper.send(Job::Sweep(id, family, sweep));
            }
            Next::Wait(time) => self.timers.set(id, Alarm::Recheck, Instant::now() + time),
            Next::Over(verdict) => match self.processes.get(&id).map(|process| &process.phase) {
                Some(Phase::Ending(cause, _)) => self.over(id, *cause, verdict),
                _ => self.disposed(id),
            },
            Next::Nothing => {}
        }
    }
}
