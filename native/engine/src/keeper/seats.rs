//! The host's keepers: the one for commands without a sandbox, and one for each sandbox.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::command::errors::LaunchError;
use crate::keeper::seat::Seat;
use crate::keeper::{Keeper, Turn};
use crate::os::beneath::Reach;
use crate::os::watch::Watch;

/// Told of every keeper that is started.
pub type OnStart = Arc<dyn Fn(Arc<Keeper>) + Send + Sync>;

/// All seats.
pub struct Seats {
    open: Seat,
    program: Option<PathBuf>,
    watch: Watch,
    on_start: OnStart,
    /// The one that was asked for last comes last.
    sandboxes: Mutex<Vec<Sandboxed>>,
}

/// A plan, and who has the seat of that sandbox.
type Sandboxed = (Arc<[u8]>, Arc<Seat>);

/// So many sandboxes stand at once; who is in one that goes stays until it ends.
const MOST: usize = 8;

impl Seats {
    /// Without anybody yet: see [`Seat::new`].
    pub fn new(program: Option<PathBuf>, watch: Watch, on_start: OnStart) -> Self {
        let open = Seat::new(program.clone(), watch.clone(), on_start.clone(), None);
        Seats { open, program, watch, on_start, sandboxes: Mutex::default() }
    }

    /// The keeper's program.
    pub fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    /// The keeper for what the calling thread is now: see [`Seat::keeper`].
    pub fn keeper(&self, sandbox: Option<&Arc<[u8]>>, stays: bool) -> Result<Turn, LaunchError> {
        match sandbox {
            None => self.open.keeper(stays),
            Some(plan) => self.of_sandbox(plan).keeper(false),
        }
    }

    /// The keeper for a request that nobody of this one has taken.
    pub fn keeper_in_place_of(&self, gone: &Keeper) -> Result<Turn, LaunchError> {
        let Some(sandbox) = &gone.sandbox else { return self.open.keeper_in_place_of(gone) };
        match sandbox.refusal() {
            Some(refusal) => Err(refusal),
            None => self.of_sandbox(&sandbox.plan).keeper_in_place_of(gone),
        }
    }

    fn of_sandbox(&self, plan: &Arc<[u8]>) -> Arc<Seat> {
        let mut sandboxes = self.sandboxes.lock();
        let entry = match sandboxes.iter().position(|(known, _)| known == plan) {
            Some(place) => sandboxes.remove(place),
            None => {
                Reach::note_plan(plan);
                let (program, watch) = (self.program.clone(), self.watch.clone());
                let plan = plan.clone();
                let seat = Seat::new(program, watch, self.on_start.clone(), Some(plan.clone()));
                (plan, Arc::new(seat))
            }
        };
        let seat = entry.1.clone();
        sandboxes.push(entry);
        let left = (sandboxes.len() > MOST).then(|| sandboxes.remove(0));
        drop(sandboxes);
        if let Some((_, seat)) = left {
            seat.leave();
        }
        seat
    }
}
