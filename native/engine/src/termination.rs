//! Ending a command: SIGTERM, grace, SIGKILL, until nobody of its family lives.
//!
//! This is the plan alone; the reactor keeps its time and the sweeper does the work.

use std::time::{Duration, Instant};

use crate::family::Family;

/// A family that is being ended.
#[derive(Debug)]
pub struct Termination {
    /// With the sweeper while a sweep is under way.
    family: Option<Family>,
    stage: Stage,
    interval: Duration,
    /// What the next sweep is to do, when one is under way.
    queued: Option<Sweep>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// `late`: those who left the group between the first look and its signal may not know yet.
    Asked { late: bool },
    /// `killed`: when all were last looked for, to be killed.
    Forced { since: Instant, killed: Instant },
}

/// What the sweeper is to do with a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sweep {
    /// Find all, and ask all to end.
    Ask,
    /// Find all and kill all.
    Kill,
    /// Find all, and send SIGTERM to those who have left the group and were not sent it before.
    AskLeavers,
    /// See whether any lives.
    Look,
    /// See whether any of those lives who have been seen before; when none does, find all and
    /// kill all.
    Finish,
}

/// What is to be done next.
#[derive(Debug)]
pub enum Next {
    /// Hand this to the sweeper.
    Sweep(Family, Sweep),
    /// Look again after this time.
    Wait(Duration),
    /// All are gone, or the rest can't be killed.
    Over(Verdict),
    /// A sweep is under way already.
    Nothing,
}

/// What a family came to.
#[derive(Debug, Clone, Copy)]
pub struct Verdict {
    /// Whether SIGKILL was needed.
    pub forced: bool,
    /// Whether it is certain that nobody lives.
    pub cleared: bool,
}

impl Verdict {
    /// On a family that nobody has looked at.
    pub const UNSEEN: Verdict = Verdict { forced: false, cleared: false };
}

const FIRST_LOOK: Duration = Duration::from_millis(1);
const LAST_LOOK: Duration = Duration::from_millis(50);
/// A process that survives SIGKILL this long sleeps uninterruptibly or is another user's.
const UNKILLABLE: Duration = Duration::from_secs(10);
/// Who has been killed dies within this time. Until then it is no use to look through all
/// processes; after it, somebody who forks faster than we look must not be let alone.
const DYING: Duration = Duration::from_millis(20);

impl Termination {
    /// Begins: returns the first sweep. Without a grace there is nobody to ask.
    pub fn begin(family: Family, grace: Duration, now: Instant) -> (Self, Next) {
        let (stage, sweep) = if grace.is_zero() {
            (Stage::Forced { since: now, killed: now }, Sweep::Kill)
        } else {
            (Stage::Asked { late: true }, Sweep::Ask)
        };
        let plan = Termination { family: None, stage, interval: FIRST_LOOK, queued: None };
        (plan, Next::Sweep(family, sweep))
    }

    /// The grace is over.
    pub fn force(&mut self, now: Instant) -> Next {
        if let Stage::Forced { .. } = self.stage {
            return Next::Nothing;
        }
        self.stage = Stage::Forced { since: now, killed: now };
        self.interval = FIRST_LOOK;
        self.sweep(Sweep::Kill)
    }

    /// Time to look again, or a reason to (the leader has ended).
    pub fn look(&mut self, now: Instant) -> Next {
        let dying = self.is_dying(now);
        let sweep = match &mut self.stage {
            Stage::Asked { late } if *late => {
                *late = false;
                Sweep::AskLeavers
            }
            Stage::Asked { .. } => Sweep::Look,
            Stage::Forced { .. } if dying => Sweep::Finish,
            // Whoever appears now was forked behind our back: kill at sight.
            Stage::Forced { killed, .. } => {
                *killed = now;
                Sweep::Kill
            }
        };
        self.sweep(sweep)
    }

    /// The sweeper has come back, having found so many alive.
    pub fn swept(&mut self, family: Family, living: usize, now: Instant) -> Next {
        if let Some(sweep) = self.queued.take() {
            return Next::Sweep(family, sweep);
        }
        self.family = Some(family);
        let forced = matches!(self.stage, Stage::Forced { .. });
        let given_up = match self.stage {
            Stage::Asked { .. } => false,
            Stage::Forced { since, .. } => now.duration_since(since) >= UNKILLABLE,
        };
        if living == 0 || given_up {
            return Next::Over(Verdict { forced, cleared: living == 0 });
        }
        if self.is_dying(now) {
            return Next::Wait(FIRST_LOOK);
        }
        let wait = self.interval;
        self.interval = (self.interval * 2).min(LAST_LOOK);
        Next::Wait(wait)
    }

    /// Whether all have been killed just now.
    fn is_dying(&self, now: Instant) -> bool {
        match self.stage {
            Stage::Asked { .. } => false,
            Stage::Forced { killed, .. } => now.duration_since(killed) < DYING,
        }
    }

    fn sweep(&mut self, sweep: Sweep) -> Next {
        match self.family.take() {
            Some(family) => Next::Sweep(family, sweep),
            None => {
                self.queued = Some(sweep);
                Next::Nothing
            }
        }
    }
}
