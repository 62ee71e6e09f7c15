//! Ending all that an owner started: what runs, and what outlived its command.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::family::{Family, Name};
use crate::mark::Mark;
use crate::owner::Owner;
use crate::reactor::Reactor;
use crate::termination::Termination;
use crate::timers::Alarm;

/// Called once everything is gone.
pub type Done = Box<dyn FnOnce() + Send>;

/// Disposals under way, and whom they will have to end.
#[derive(Default)]
pub struct Disposals {
    pending: Vec<Disposal>,
    /// By owner: processes that outlived their command.
    survivors: HashMap<u64, HashSet<Name>>,
}

struct Disposal {
    id: u64,
    owner: Arc<Owner>,
    grace: Duration,
    /// None while commands of the owner still run.
    plan: Option<Termination>,
    done: Done,
}

/// More survivors than this of one owner, and the dead among them are forgotten.
const MANY: usize = 256;

impl Disposals {
    /// Remembers processes that outlived a command of this owner.
    pub fn remember(&mut self, owner: u64, members: HashSet<Name>) {
        if members.is_empty() {
            return;
        }
        let survivors = self.survivors.entry(owner).or_default();
        survivors.extend(members);
        if survivors.len() > MANY {
            survivors.retain(|(pid, started)| {
                // Not to be seen is no proof of death.
                crate::proc::stat(*pid)
                    .map_or(true, |stat| stat.is_some_and(|stat| stat.started == *started))
            });
        }
    }

    /// The plan of a disposal under way.
    pub fn plan(&mut self, id: u64) -> Option<&mut Termination> {
        self.pending.iter_mut().find(|disposal| disposal.id == id)?.plan.as_mut()
    }
}

impl Reactor {
    /// Ends the owner's commands, then all else that carries its mark.
    pub(crate) fn dispose(&mut self, id: u64, owner: Arc<Owner>, grace: Duration, done: Done) {
        let of_owner = self.processes.iter().filter(|(_, process)| process.owner.id == owner.id);
        let running: Vec<u64> = of_owner.map(|(id, _)| *id).collect();
        self.disposals.pending.push(Disposal { id, owner, grace, plan: None, done });
        for id in running {
            self.cancel(id, Some(grace));
        }
        self.advance_disposals();
    }

    pub(crate) fn launch_failed(&mut self, owner: &Owner) {
        owner.launch_ended();
        self.advance_disposals();
    }

    /// Begins the sweep of those disposals whose commands have all ended.
    pub(crate) fn advance_disposals(&mut self) {
        let mut begun = Vec::new();
        for disposal in self.disposals.pending.iter_mut().filter(|one| one.plan.is_none()) {
            let owner = &disposal.owner;
            let busy = owner.is_launching()
                || self.processes.values().any(|process| process.owner.id == owner.id);
            if busy {
                continue;
            }
            let family = Family {
                groups: Vec::new(),
                mark: Mark::of_owner(owner.id),
                known: self.disposals.survivors.remove(&owner.id).unwrap_or_default(),
                asked: Default::default(),
                outlets: Vec::new(),
                born_after: 0,
            };
            let now = Instant::now();
            let (plan, next) = Termination::begin(family, disposal.grace, now);
            disposal.plan = Some(plan);
            begun.push((disposal.id, now + disposal.grace, next));
        }
        for (id, over_at, next) in begun {
            self.timers.set(id, Alarm::Grace, over_at);
            self.proceed(id, next);
        }
    }

    /// The sweep of a disposal is over.
    pub(crate) fn disposed(&mut self, id: u64) {
        self.timers.cancel_all(id);
        let pending = &mut self.disposals.pending;
        if let Some(index) = pending.iter().position(|disposal| disposal.id == id) {
            (pending.swap_remove(index).done)();
        }
    }
}
